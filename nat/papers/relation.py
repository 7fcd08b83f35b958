"""A paper as one relation: a row for each number of its tables and figures.

Everything else is a query: the inputs of a report are the sources of its cells, a table is a pivot,
a figure the rows themselves, a claim two selections, and what is timed together a group.
"""

from dataclasses import replace
from functools import cache
from typing import Any

from nat.artifacts import Latency
from nat.configuration import Configuration
from nat.errors import UserError
from nat.options import hint
from nat.papers.cells import Cell
from nat.papers.coordinates import Resolver
from nat.papers.expansion import Expanded, ExpandedTable
from nat.papers.figure_expansion import ExpandedFigure
from nat.papers.sweeps import SweepFigure, sweep


@cache
def relation(configuration: Configuration, paper: str) -> dict[str, Expanded]:
    """Expand all tables and figures of a paper, by names such as `table 2`.

    All latencies of a report that are measured on one corpus, with models of one seed and in one
    setting, are one group, which one job measures, so that whatever disturbs the machine disturbs
    all of it. A report whose group is a part of another report's takes its latencies from there.

    Raises:
        UserError: for a name or published value that does not exist; tells the file and the key.
    """
    resolver = Resolver(configuration, paper)
    tables = {number: ExpandedTable(resolver, number) for number in resolver.paper.tables}
    for table in tables.values() if configuration.choice.points else ():
        sweep(table)
    figures = [
        SweepFigure(resolver, number, tables)
        if described.kind == "sweep"
        else ExpandedFigure(resolver, number, tables)
        for number, described in resolver.paper.figures.items()
    ]
    parts: list[Expanded] = [*tables.values(), *figures]
    groups: dict[Any, dict[str, set[str]]] = {}
    for cell in (cell for part in parts for cell in part.cells if isinstance(cell.source, Latency)):
        of_setting = groups.setdefault((cell.corpus, cell.seed, cell.setting), {})
        of_setting.setdefault(cell.report, set()).add(cell.part)

    def timed(cell: Cell) -> Cell:
        if not isinstance(cell.source, Latency):
            return cell
        among = groups[cell.corpus, cell.seed, cell.setting]
        containing = [each for each in among if among[cell.report] <= among[each]]
        name = max(containing, key=lambda each: len(among[each]))  # the first of equal ones
        group, names = f"{paper}_{name.replace(' ', '_')}", tuple(sorted(among[name]))
        return cell._replace(source=replace(cell.source, group=group, names=names))

    for part in parts:
        part.cells = [timed(cell) for cell in part.cells]
    return {part.name: part for part in parts}


def latency(
    configuration: Configuration, corpus: str, group: str, seed: int, setting: str
) -> Latency:
    """Find the latencies of a group by the names in their path; no other is a UserError."""
    known = _latencies(configuration)
    path = Latency(configuration.run, corpus, group, seed, setting, ()).path
    if path not in known:
        raise UserError(f"no table or figure shows latencies of {path}; {hint(path, known)}")
    return known[path]


@cache
def _latencies(configuration: Configuration) -> dict[str, Latency]:
    """All groups of latencies, by path."""
    parts = (
        part for name in configuration.papers for part in relation(configuration, name).values()
    )
    cells = (cell for part in parts for cell in part.cells)
    return {each.path: each.source for each in cells if isinstance(each.source, Latency)}

"""A paper as one relation: a row for each number of its tables and figures.

Everything else is a query: the inputs of a report are the sources of its cells, a table is a pivot,
a figure the rows themselves, a claim two selections, and what is timed together a group.
"""

from functools import cache
from typing import Any

from nat.artifacts import Latency
from nat.configuration import Configuration
from nat.errors import UserError
from nat.options import hint
from nat.papers.coordinates import Resolver
from nat.papers.expansion import Expanded, ExpandedFigure, ExpandedTable
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
    parts: dict[str, Expanded] = {part.name: part for part in (*tables.values(), *figures)}
    groups: dict[Any, dict[str, set[str]]] = {}
    for name, part in parts.items():
        for cell in part.cells:
            if isinstance(cell.source, Latency):
                of_setting = groups.setdefault((cell.corpus, cell.seed, cell.setting), {})
                of_setting.setdefault(name, set()).add(cell.part)
    for (corpus, seed, setting), by_report in groups.items():
        for name, names in by_report.items():
            widest = max(  # the first of equal ones
                (each for each in by_report if names <= by_report[each]),
                key=lambda each: len(by_report[each]),
            )
            group, timed = f"{paper}_{widest.replace(' ', '_')}", tuple(sorted(by_report[widest]))
            source = Latency(configuration.run, corpus, group, seed, setting, timed)
            parts[name].latencies[corpus, seed, setting] = source
    for part in parts.values():
        part.cells = [part.timed(cell) for cell in part.cells]
    return parts


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
    parts = [
        part for name in configuration.papers for part in relation(configuration, name).values()
    ]
    return {each.path: each for part in parts for each in part.latencies.values()}

"""A paper as one relation: a row for each number of its tables and figures.

Everything else is a query: the inputs of a report are its paths, a table is a pivot, a figure the
rows themselves, a claim two selections, and what is timed together a group.
"""

from collections.abc import Sequence
from functools import cache
from typing import Any

import pandas as pd

from nat.artifacts import Latency
from nat.configuration import Configuration
from nat.errors import UserError
from nat.options import hint
from nat.papers.cells import Cell, cells_of, frame
from nat.papers.coordinates import Chosen, Resolver
from nat.papers.figure_cells import along, figure_cells, series_of
from nat.papers.table_cells import is_run, lines, rows_of, table_cells, with_quoted


@cache
def relation(configuration: Configuration, paper: str) -> pd.DataFrame:
    """Resolve all tables and figures of a paper.

    Raises:
        UserError: for a table, system, decoding, measure, baseline or published value that does
            not exist; names the file and the key.
    """
    resolver = Resolver(configuration, paper)
    tables = {number: table_cells(resolver, number) for number in resolver.paper.tables}

    def table(number: str) -> list[Cell]:
        if number not in tables:
            raise resolver.unknown("quotes", "table", number, tables)
        return tables[number]

    found = [cell for cells in tables.values() for cell in cells]
    for number in resolver.paper.figures:
        found += figure_cells(resolver, number, table)
    return frame(_timed_together(paper, found))


def report(configuration: Configuration, paper: str, name: str) -> list[Cell]:
    """List the cells of a table or figure such as `table 2`, row by row."""
    found = relation(configuration, paper)
    return cells_of(found[found.report == name])


def named(resolver: Resolver, name: str) -> tuple[dict[str, Chosen], list[str]]:
    """List what claims can name in a table or figure.

    Returns:
        Coordinates of rows, series and points by label, and the labels of the points (of a table,
        those of the rows that are run), in order.
    """
    kind, _, number = name.partition(" ")
    if kind == "table":
        rows = with_quoted(rows_of(resolver, number), lines(resolver, number))
        chosen_ = {row.label: row.chosen if row.given else {} for row in rows}
        return chosen_, [row.label for row in rows if is_run(row)]
    found: dict[str, Chosen] = {}
    points: dict[str, Chosen] = {}
    figure = resolver.paper.figures[number]
    for series in series_of(resolver, number) if figure.kind in ("curves", "lines", "bars") else ():
        if figure.kind == "curves":
            found[series.label] = {**series.chosen, "system": series.given.chain[-1]}
            continue
        found[series.label] = series.chosen
        for chosen, axis in along(resolver, number, series):
            points.setdefault(axis.get("category") or f"{axis['x']:g}", chosen)
    return {**points, **found}, list(points)


# Latencies


def _timed_together(paper: str, cells: Sequence[Cell]) -> list[Cell]:
    """Complete the latencies of a paper: what is measured together in one job.

    All latencies of a report that are measured on one corpus, with models of one seed and in one
    setting, are one group, so that whatever disturbs the machine disturbs all of it. A report whose
    group is a part of another report's takes its latencies from there, so that nothing is measured
    twice.
    """
    groups: dict[tuple[Any, ...], dict[str, set[str]]] = {}
    for cell in cells:
        if isinstance(cell.source, Latency):
            of_setting = groups.setdefault((cell.corpus, cell.seed, cell.setting), {})
            of_setting.setdefault(cell.report, set()).add(cell.part)
    found = []
    for cell in cells:
        source = cell.source
        if isinstance(source, Latency):
            among = groups[cell.corpus, cell.seed, cell.setting]
            containing = [each for each in among if among[cell.report] <= among[each]]
            name = max(containing, key=lambda each: len(among[each]))  # the first of equal ones
            group = f"{paper}_{name.replace(' ', '_')}"
            names = source.run, source.corpus, group, source.seed, source.setting
            source = Latency(*names, tuple(sorted(among[name])))
            cell = cell._replace(source=source, path=source.path)
        found.append(cell)
    return found


def latency(
    configuration: Configuration, corpus: str, group: str, seed: int, setting: str
) -> Latency:
    """Find the latencies of a group, by the names in the path of their file.

    Raises:
        UserError: for a group, or a combination of these, that no report shows.
    """
    known = _latencies(configuration)
    key = corpus, group, seed, setting
    if key not in known:
        groups = {each for _, each, _, _ in known}
        settings = {each for _, of, _, each in known if of == group}
        near = hint(setting, sorted(settings)) if group in groups else hint(group, sorted(groups))
        raise UserError(
            f"no table or figure '{group}' shows a latency on {corpus} with seed {seed} and the "
            f"setting '{setting}'; {near}"
        )
    return known[key]


@cache
def _latencies(configuration: Configuration) -> dict[tuple[str, str, int, str], Latency]:
    """All groups of latencies, by corpus, report, seed and setting."""
    return {
        (source.corpus, source.group, source.seed, source.setting): source
        for paper in configuration.papers
        for source in relation(configuration, paper).source
        if isinstance(source, Latency)
    }

"""A paper as one relation: a row for each number of its tables and figures.

Everything else is a query: the inputs of a report are the sources of its cells, a table is a pivot,
a figure the rows themselves, a claim two selections, and what is timed together a group.
"""

from collections import defaultdict
from collections.abc import Mapping
from functools import cache, partial
from typing import Any

from nat.artifacts import Latency
from nat.configuration import Configuration
from nat.configuration.families import require
from nat.configuration.overrides import Point
from nat.papers.cells import Cell
from nat.papers.coordinates import Heading, Resolver
from nat.papers.description import Axis, FigurePart, Line
from nat.papers.expansion import Expanded, ExpandedFigure, ExpandedTable

PREFIX = "sweep_"
"""Of the number of the figure of a table that shows the values of a sweep."""


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
        _sweep(table)
    figures = (ExpandedFigure(resolver, number, tables) for number in resolver.paper.figures)
    swept = (each for each in map(SweepFigure, tables.values()) if each.cells)
    parts: dict[str, Expanded] = {part.name: part for part in (*tables.values(), *figures, *swept)}
    groups: dict[Any, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for name, part in parts.items():
        for cell in part.cells:
            if isinstance(cell.source, Latency):
                groups[cell.corpus, cell.seed, cell.setting][name].add(cell.part)
    for (corpus, seed, setting), by_report in groups.items():
        widest_first = sorted(by_report, key=lambda each: -len(by_report[each]))
        for name, names in by_report.items():
            widest = next(each for each in widest_first if names <= by_report[each])
            group, timed = f"{paper}_{widest.replace(' ', '_')}", tuple(sorted(by_report[widest]))
            source = Latency(configuration.run, corpus, group, seed, setting, timed)
            parts[name].latencies[corpus, seed, setting] = source
    for part in parts.values():
        part.numbers = [number.each(part.timed) for number in part.numbers]
    return parts


def latency(configuration: Configuration, names: Mapping[str, Any]) -> Latency:
    """Find the latencies of a group by the names in their path; no other is a UserError."""
    parts = (
        part
        for name in configuration.files["papers"]
        for part in relation(configuration, name).values()
    )
    known = {each.path: each for part in parts for each in part.latencies.values()}
    path = Latency.of({**names, "run": configuration.run, "names": ()}).path
    return known[require(path, known, "latencies")]


# Sweeps: rows of tables for their values, and the figures that show them


def _sweep(table: ExpandedTable) -> None:
    """Replace each row of numbers that the values of a sweep change by one for each value."""
    points = table.resolver.configuration.choice.points
    moved = [_moved(table, point) for point in points]
    rows, numbers = table.rows, table.numbers
    table.rows, table.numbers = [], []
    for row in rows:
        own = [number for number in numbers if number.label == row.label]
        if not any(row.label in labels for labels in moved):
            table.rows.append(row)
            table.numbers += own
            continue
        for point, labels in zip(points, moved, strict=True):
            label = labels.get(row.label, f"{row.label}, {_words(point.values)}")
            table.swept[label] = row.label, point
            table.rows.append(row._replace(label=label))
            at = partial(_at, table.resolver, point, labels, label)
            table.numbers += [number.each(at) for number in own]


def _moved(table: ExpandedTable, point: Point) -> dict[str, str]:
    """The rows that a value changes, with the labels that they have with it."""
    moved: dict[str, str] = {}
    for cell in table.cells:  # those that are computed come after those of their operands
        of = [label for label, _ in cell.derived.of] if cell.derived else []
        if any(label in moved for label in of) or table.resolver.at(cell, point) != cell:
            moved[cell.row] = f"{cell.row}, {_words(point.values)}"
    return moved


def _at(resolver: Resolver, point: Point, labels: Mapping[str, str], row: str, cell: Cell) -> Cell:
    derived = cell.derived
    if derived is not None:
        of = tuple((labels.get(label, label), column) for label, column in derived.of)
        derived = derived._replace(of=of)
    baseline = labels.get(cell.baseline, cell.baseline)
    return resolver.at(cell, point)._replace(row=row, derived=derived, baseline=baseline)


def _words(values: Mapping[str, str]) -> str:
    return ", ".join(f"{key}={value}" for key, value in values.items())


def _others(point: Point, key: str) -> str:
    """The values of other keys, as the end of a label."""
    return "".join(f", {each}={value}" for each, value in point.values.items() if each != key)


class SweepFigure(Expanded):
    """The first measure of a table over the values of the first key; none if nothing is swept.

    Rows above the first that is swept are levels. The values of other keys are panels of their own,
    or series if a single row is swept.
    """

    def __init__(self, table: ExpandedTable) -> None:
        super().__init__(table.resolver, table.name.replace("table ", f"figure {PREFIX}"))
        points = table.resolver.configuration.choice.points
        own = [each for each in table.numbers if each.first.source and not each.over]
        swept = [each for each in own if each.label in table.swept]
        if not swept or table.described.kind != "grid":
            return
        levels, measure = own[: own.index(swept[0])], swept[0].first.measure
        key, values = next(iter(points[0].values)), [point.changes[0].value for point in points]
        are_numbers = all(type(each) in (int, float) for each in values)
        names = list(dict.fromkeys(point.values[key] for point in points))
        alone = len({table.swept[each.label][0] for each in swept}) == 1
        panels = [""] if alone else list(dict.fromkeys(_others(point, key) for point in points))
        lines: dict[str, Line] = {}
        for one in (each for each in levels + swept if each.first.measure == measure):
            is_level = one not in swept
            label, point = table.swept.get(one.label, (one.label, points[0]))
            end = "" if is_level else _others(point, key)
            label += end if alone else ""
            lines[label] = Line(label=label, style="level" if is_level else None)
            name = point.values[key]
            x = point.changes[0].value if are_numbers else names.index(name)
            here = {"row": label, "group": "", "baseline": "", "x": x}
            for panel in panels if alone or is_level else [end]:
                here["column"] = one.first.column + panel
                self.numbers.append(one.changed(**here, category="" if are_numbers else name))
        shown = {cell.column: None for cell in self.cells}
        self.columns = [Heading(label, {}, Line(label=label)) for label in shown]
        self.rows = [Heading(label, {}, line) for label, line in lines.items()]
        self.described = FigurePart(
            title=f"{table.described.title}, by {', '.join(points[0].values)}",
            kind="lines" if are_numbers else "bars",
            x=Axis(label=key, even=True),
            panels=[Line(label=label) for label in shown],
            series=[*lines.values()],
        )

"""Rows of tables for the values of a sweep, and the figure that shows them."""

from collections.abc import Mapping

from nat.configuration.overrides import Point
from nat.papers.cells import OVER, Cell, place
from nat.papers.coordinates import Heading, Resolver
from nat.papers.description import Line
from nat.papers.expansion import Expanded, ExpandedTable

PREFIX = "sweep_"
"""Of the number of the figure of a table."""


def sweep(table: ExpandedTable) -> None:
    """Replace each row of numbers that the values of a sweep change by one for each value."""
    points = table.resolver.configuration.choice.points
    moved = {point.name: _moved(table, point) for point in points}
    rows, cells = table.rows, table.cells
    table.rows, table.cells = [], []
    for row in rows:
        own = [cell for cell in cells if cell.row == row.label]
        if not any(row.label in labels for labels in moved.values()):
            table.rows.append(row)
            table.cells += own
            continue
        for point in points:
            labels = moved[point.name]
            label = labels.get(row.label, f"{row.label}, {_words(point.values)}")
            table.swept[label] = row.label, point
            table.rows.append(row._replace(label=label))
            table.cells += [_at(table.resolver, cell, point, labels, label) for cell in own]


def _moved(table: ExpandedTable, point: Point) -> dict[str, str]:
    """The rows that a value changes, with the labels that they have with it."""
    moved: dict[str, str] = {}
    for cell in table.cells:  # those that are computed come after those of their operands
        of = [label for label, _ in cell.derived.of] if cell.derived else []
        if any(label in moved for label in of) or table.resolver.at(cell, point) != cell:
            moved[cell.row] = f"{cell.row}, {_words(point.values)}"
    return moved


def _at(resolver: Resolver, cell: Cell, point: Point, labels: Mapping[str, str], row: str) -> Cell:
    derived = cell.derived
    if derived is not None:
        of = tuple((labels.get(label, label), column) for label, column in derived.of)
        derived = derived._replace(of=of)
    baseline = labels.get(cell.baseline, cell.baseline)
    return resolver.at(cell, point)._replace(row=row, derived=derived, baseline=baseline)


def _words(values: Mapping[str, str]) -> str:
    return ", ".join(f"{key}={value}" for key, value in values.items())


class SweepFigure(Expanded):
    """The first measure of a table over the values of the first key; none if nothing is swept.

    Rows above the first that is swept are levels; the values of other keys are series of their own.
    """

    def __init__(
        self, resolver: Resolver, number: str, tables: Mapping[str, ExpandedTable]
    ) -> None:
        super().__init__(resolver, f"figure {number}")
        table, points = tables[number.removeprefix(PREFIX)], resolver.configuration.choice.points
        over = {place(cell) for cell in table.cells if cell.role == OVER}
        own = [cell for cell in table.cells if cell.source and place(cell) not in over]
        swept = [cell for cell in own if cell.row in table.swept]
        if not swept:
            return
        levels = own[: own.index(swept[0])]
        key, numbers = next(iter(points[0].values)), [point.changes[0].value for point in points]
        are_numbers = all(type(each) in (int, float) for each in numbers)
        names = list(dict.fromkeys(point.values[key] for point in points))
        lines: dict[str, Line] = {}
        for cell in (cell for cell in levels + swept if cell.measure == swept[0].measure):
            label, point = table.swept.get(cell.row, (cell.row, points[0]))
            if others := {each: point.values[each] for each in point.values if each != key}:
                label = f"{label}, {_words(others)}" if cell in swept else label
            lines[label] = Line(label=label, style=None if cell in swept else "level")
            name = point.values[key]
            x = point.changes[0].value if are_numbers else names.index(name)
            cell = cell._replace(row=label, x=x, category="" if are_numbers else name)
            self.cells.append(cell._replace(report=self.name, group="", baseline=""))
        shown = {cell.column for cell in self.cells}
        self.columns = [each for each in table.columns if each.label in shown]
        self.rows = [Heading(label, {}, given=line) for label, line in lines.items()]
        drawn = {
            "panels": [Line(label=each.label) for each in self.columns],
            "series": [*lines.values()],
        }
        kind = "lines" if are_numbers else "bars"
        self.described = self.described.model_copy(update={**drawn, "kind": kind})

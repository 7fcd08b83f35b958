"""From the figures of a paper's file to cells: points of series, panel by panel."""

import itertools
from collections.abc import Mapping
from typing import Any

from nat.errors import told_of
from nat.measures.known import MEASURES
from nat.papers.cells import OVER, Cell, place, with_published
from nat.papers.coordinates import Chosen, Heading, Resolver, filled, known, missing, product
from nat.papers.expansion import Expanded
from nat.papers.published import is_own

CURVE = "best_validation_bleu"
"""The measure of the cells of a training curve, which lies beside their file."""


class ExpandedFigure(Expanded):
    """A figure, with values that tables of the paper print."""

    def __init__(self, resolver: Resolver, number: str, tables: Mapping[str, Expanded]) -> None:
        super().__init__(resolver, f"figure {number}", resolver.paper.figures[number])
        with told_of(f"{resolver.file}: figures.{number}: "):
            self._expand(tables)

    def _expand(self, tables: Mapping[str, Expanded]) -> None:
        described, kind = self.described, self.described.kind
        quotes = [known("table in 'quotes':", str(each), tables) for each in described.quotes]
        self.quoted = [cell for each in quotes for cell in tables[each].cells if cell.printed]
        self.columns = self.resolver.headings(described.panels, "panels")
        if kind in ("lines", "bars", "curves"):
            along = described.x.of if kind != "curves" else ""
            self.rows = self.resolver.headings(described.series, "series", along)
        if described.analysis:
            for panel in self.columns:
                self._mark(panel.label, panel)
                keys = described.analysis.items()
                self.keys[panel.label] = {n: self.filled(key, panel.chosen) for n, key in keys}
        elif kind == "scatter":
            self._scatter()
        elif kind == "curves":
            # trainings, one after the other where they start from each other
            for series, panel in itertools.product(self.rows, self.columns):
                for turn, system in enumerate(series.given.chain or (), 1):
                    chosen = series.chosen | {"system": system}
                    self.named[series.label] = chosen
                    self._mark(series.label, panel, chosen, {"measure": CURVE}, x=turn)
        else:
            self._points()
        own = {cell.address: cell for cell in self.quoted[::-1] if is_own(cell.origin)}
        overs = {place(cell): cell for cell in self.cells if cell.role == OVER}
        self.cells = [_quoting(cell, overs.get(place(cell)), own) for cell in self.cells]

    def _mark(
        self, row: str, panel: Heading, *levels: Chosen, over: str | None = None, **labels: Any
    ) -> None:
        """Add the cells of a point, and those of the system `over` that they are shown over."""
        with told_of(f"series '{row}', panel '{panel.label}': "):
            here = self.merged(panel.chosen, *levels)
            other = None if over is None else here | {"system": over}
            self.cells += self.numbers(here, other, row=row, column=panel.label, **labels)

    def _points(self) -> None:
        """Expand lines and bars; categories have places in the order in which they occur."""
        bars = self.described.kind == "bars"
        for series in self.rows:
            with told_of(f"series '{series.label}': "):
                points = self._along(series, bars)
            for name, chosen in points:
                self.named.setdefault(name if bars else f"{name:g}", chosen)
                axis = {"category": name} if bars else {"x": name}
                for panel in self.columns:
                    self._mark(series.label, panel, chosen, over=series.given.over, **axis)
        self.points = [*self.named]
        self.named |= {series.label: series.chosen for series in self.rows}
        if bars:
            # those of levels, which lie across all others, come last
            levels = [series.label for series in self.rows if series.given.style]
            last = sorted(self.cells, key=lambda cell: cell.row in levels)
            order = list(dict.fromkeys(cell.category for cell in last))
            self.cells = [cell._replace(x=order.index(cell.category)) for cell in self.cells]

    def _along(self, series: Heading, bars: bool) -> list[tuple[Any, Chosen]]:
        """The points of a series: number or category on the axis, and coordinates."""
        axis = self.described.x
        values = series.given.given().get(axis.of, axis.values)
        points = []
        if series.given.points is not None:
            for point in series.given.points:
                place = point.category if bars else point.x
                if place is None:
                    raise missing("category" if bars else "x")
                points.append((place, point.given()))
        elif values is None:
            raise missing(axis.of)
        else:
            for value in values if isinstance(values, list) else [values]:
                word = value if axis.of == "steps" else self.resolver.word(axis.of, value)
                template = axis.category or f"{{{axis.of}}}"
                name = filled(template, {axis.of: word}) if bars else value
                points.append((name, {axis.of: value}))
        return [(name, series.chosen | own) for name, own in points]

    def _scatter(self) -> None:
        """Expand a scatter plot: each point has cells along both axes."""
        axes = {"y": self.described.y, "x": self.described.x}
        everything = list(itertools.product(self.columns, self.described.series))
        for series in self.described.series:
            own: list[Any] = [series.label or series.system]
            labels = series.quoted if series.quoted and not series.label else own
            if not all(isinstance(label, str) for label in labels):
                raise missing("label")
            self.rows += [Heading(str(label), {}, given=series) for label in labels]
        for panel, series in everything:
            row = str(series.label or series.system)
            points = product(series.given()) if series.quoted is None else ()
            for number, (chosen, varied) in enumerate(points):
                words = chosen | ({"system": None} if series.system == row else {})
                named = series.point is not None or varied
                name = self.resolver.label(series.point, words, varied) if named else ""
                for key, axis in axes.items():
                    its: Chosen = {"category": name, "point": number, "axis": key}
                    self._mark(row, panel, chosen, axis.given(), over=axis.over, **its)
        for panel, series in everything:
            pairs = series.given().items()
            if all(panel.chosen.get(key, value) == value for key, value in pairs):
                for quoted, (key, axis) in itertools.product(series.quoted or (), axes.items()):
                    printed = [cell for cell in self.quoted if cell.column == axis.column]
                    values = {cell.row: cell for cell in reversed(printed)}
                    known("quoted row", quoted, values)
                    here = self.levels | panel.chosen | axis.given() | {"system": None}
                    where = {"row": series.label or quoted, "column": panel.label}
                    cells = self.numbers(here, None, **where, category=quoted, axis=key)
                    self.cells += [with_published(cell, values[quoted]) for cell in cells]


def _quoting(cell: Cell, over: Cell | None, own: Mapping[tuple[str, ...], Cell]) -> Cell:
    """A point with the published value of its address, or the difference of two."""
    value = own.get(cell.address) if cell.system else None
    if value is None or over is None or MEASURES[cell.measure].relative:
        return with_published(cell, value)
    other = own.get(over.address)
    if other is None or isinstance(value.published, str) or isinstance(other.published, str):
        return cell
    difference = round((value.published or 0.0) - (other.published or 0.0), 6)
    origin = f"{value.origin}; minus {other.origin}"
    shown = value._replace(published=difference, printed=f"{difference:+g}", origin=origin)
    return with_published(cell, shown)

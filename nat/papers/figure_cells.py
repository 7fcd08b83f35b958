"""The cells of figures: points of series, panel by panel."""

import itertools
from collections.abc import Callable, Mapping

from nat.measures.known import MEASURES
from nat.papers.cells import OVER, Cell
from nat.papers.coordinates import Chosen, Heading, Resolver, over, product
from nat.papers.description import NUMBERED, Axis, Coordinates, Figure

CURVE = "best_validation_bleu"
"""The measure of the cells of a training curve, which lies beside their file."""
Tables = Callable[[str], list[Cell]]
"""The cells of a table of the paper, by its number."""


def figure_cells(resolver: Resolver, number: str, tables: Tables) -> list[Cell]:
    """Resolve the cells of a figure, series by series."""
    figure = resolver.paper.figures[number]
    plot = _Figure(resolver, number, figure)
    if figure.kind == "curves":
        return plot.curves()
    if figure.keys:
        return plot.analyses()
    quoted = {
        cell.address: cell
        for each in reversed(figure.quotes)
        for cell in reversed(tables(str(each)))
        if cell.system and cell.printed and cell.is_own
    }
    found = plot.scatter() if figure.kind == "scatter" else plot.points()
    overs = {each.where: each for each in found if each.role == OVER}
    found = [_quoted(each, overs.get(each.where), quoted) for each in found]
    return found + plot.quoted_points(tables) if figure.kind == "scatter" else found


def panels_of(resolver: Resolver, number: str) -> list[Heading]:
    """The panels of a figure."""
    return resolver.headings(resolver.paper.figures[number].panels, f"figures.{number}.panels")


def series_of(resolver: Resolver, number: str) -> list[Heading]:
    """The series of a figure."""
    figure = resolver.paper.figures[number]
    along = figure.x.of if figure.kind != "curves" else ""
    return resolver.headings(figure.series, f"figures.{number}.series", along)


def styles(resolver: Resolver, number: str) -> dict[str, str | None]:
    """The style of each series, in order."""
    figure = resolver.paper.figures[number]
    if figure.kind != "scatter":
        return {each.label: each.given.style for each in series_of(resolver, number)}
    found: dict[str, str | None] = {}
    for series in figure.series:
        names = series.quoted or [str(series.system)]
        style = "joined" if series.joined else None
        found |= {str(series.label or name): style for name in names}
    return found


def keys_of_panels(resolver: Resolver, number: str) -> dict[str, dict[str, str]]:
    """The keys in the analysis that each panel shows, by what they stand for."""
    figure, at = resolver.paper.figures[number], f"figures.{number}"
    levels = {**resolver.defaults, **figure.cells.given()}
    return {
        panel.label: {
            name: resolver.filled(key, {**levels, **panel.chosen}, at)
            for name, key in figure.keys.items()
        }
        for panel in (panels_of(resolver, number) if figure.keys else ())
    }


def along(resolver: Resolver, number: str, series: Heading) -> list[tuple[Chosen, Chosen]]:
    """The points of a series: coordinates, and the fields of a cell on the axis."""
    figure = resolver.paper.figures[number]
    axis, given, at = figure.x, series.given, f"figures.{number}: series '{series.label}'"
    key = "x" if figure.kind in NUMBERED else "category"
    points = []
    if given.points is not None:
        for point in given.points:
            points.append((series.chosen | point.given(), getattr(point, key)))
    else:
        values = given.given().get(axis.of, axis.values)
        if values is None:
            raise resolver.missing(at, axis.of)
        for value in values if isinstance(values, list) else [values]:
            name = value
            if key == "category":
                words = {axis.of: value if axis.of == "steps" else resolver.word(axis.of, value)}
                name = resolver.filled(axis.category or f"{{{axis.of}}}", words, at)
            points.append((series.chosen | {axis.of: value}, name))
    if given.style == "level" and len(points) > 1:
        raise resolver.error(at, f"style 'level' has one point, not {len(points)}")
    for _, value in points:
        if value is None:
            raise resolver.missing(at, key)
        if key == "x" and (isinstance(value, str) or (axis.log and value <= 0)):
            raise resolver.error(at, f"found '{value}', which has no place on the axis")
    return [(chosen, {key: value}) for chosen, value in points]


class _Figure:
    def __init__(self, resolver: Resolver, number: str, figure: Figure) -> None:
        self.resolver, self.number, self.figure = resolver, number, figure
        self.at = f"figures.{number}"
        self.panels = panels_of(resolver, number)

    def points(self) -> list[Cell]:
        """The cells of lines, bars and maps of series."""
        found: list[Cell] = []
        levels: set[str] = set()
        for series in series_of(self.resolver, self.number):
            levels |= {series.label} if series.given.style == "level" else set()
            for chosen, axis in along(self.resolver, self.number, series):
                names = {"row": series.label, **axis}
                if self.figure.kind == "contour":
                    names["y"] = self._height(chosen)
                for panel in self.panels:
                    found += self._point(series, panel, chosen, series.given.over, names)
        if self.figure.kind in NUMBERED:
            return found
        last = sorted(found, key=lambda each: each.row in levels)
        categories = list(dict.fromkeys(each.category for each in last))
        return [each._replace(x=categories.index(each.category)) for each in found]

    def _point(
        self,
        series: Heading,
        panel: Heading,
        chosen: Chosen,
        other: str | None,
        names: Chosen,
        axis: Coordinates | None = None,
    ) -> list[Cell]:
        """The cells of one point, and those that it is shown over."""
        at = f"{self.at}: series '{series.label}', panel '{panel.label}'"
        given = axis.given() if axis is not None else {}
        for one, two in itertools.combinations((chosen, panel.chosen, given), 2):
            self.resolver.no_conflict(at, one, two)
        here = {**self.figure.cells.given(), **panel.chosen, **given, **chosen}
        names = {"report": f"figure {self.number}", "column": panel.label, **names}
        found = self.resolver.numbers(here, at, **names)
        if other is None:
            if MEASURES[found[0].measure].relative:
                raise self.resolver.missing(at, "over")
            return found
        return over(found, self.resolver.numbers({**here, "system": other}, at, **names))

    def _height(self, chosen: Chosen) -> float:
        """Where a point stands on the vertical axis of a plane."""
        of = self.figure.y.of
        if not isinstance(chosen.get(of), int | float):
            raise self.resolver.error(f"{self.at}.series", f"'{of}': {chosen.get(of)} is no number")
        return float(chosen[of])

    def scatter(self) -> list[Cell]:
        """The points of a scatter plot: cells along both axes."""
        found: list[Cell] = []
        axes: tuple[tuple[str, Axis], ...] = (("y", self.figure.y), ("x", self.figure.x))
        for panel, series in itertools.product(self.panels, self.figure.series):
            name = series.label or series.system
            if series.quoted is not None:
                continue
            if not isinstance(name, str):
                raise self.resolver.missing(f"{self.at}.series", "label")
            for number, (chosen, varied) in enumerate(product(series.given())):
                point = ""
                if series.point is not None or varied:
                    named = chosen | ({"system": None} if name == series.system else {})
                    point = self.resolver.label(series.point, named, varied, self.at)
                row = Heading(name, chosen, varied, series)
                for key, axis in axes:
                    names = {"row": name, "category": point, "point": number, "axis": key}
                    found += self._point(row, panel, chosen, axis.over, names, axis)
        return found

    def quoted_points(self, tables: Tables) -> list[Cell]:
        """Points of quoted rows, whose values stand in the columns that the axes name."""
        found: list[Cell] = []
        quoted = {
            (cell.row, cell.column): cell
            for number in reversed(self.figure.quotes)
            for cell in tables(str(number))
            if cell.printed
        }
        for series in self.figure.series:
            given = series.given() if series.quoted else {}
            for row, panel in itertools.product(series.quoted or (), self.panels):
                if any(panel.chosen.get(key, own) != own for key, own in given.items()):
                    continue  # the values are of another setting than the panel's
                for key, axis in (("y", self.figure.y), ("x", self.figure.x)):
                    cell = quoted.get((row, axis.column or ""))
                    if cell is None:
                        known = [each for each, column in quoted if column == axis.column]
                        raise self.resolver.unknown(f"{self.at}.series", "quoted row", row, known)
                    here = {**self.figure.cells.given(), **panel.chosen, **axis.given()}
                    names = {"report": f"figure {self.number}", "row": series.label or row}
                    names |= {"column": panel.label, "category": row, "axis": key}
                    (point,) = self.resolver.numbers({**here, "system": None}, self.at, **names)
                    found.append(point.with_published(cell))
        return found

    def analyses(self) -> list[Cell]:
        """The cells of the analysis that each panel shows."""
        found = []
        for panel in self.panels:
            row = Heading(panel.label, panel.chosen)
            found += self._point(row, panel, {}, None, {"row": panel.label})
        return found

    def curves(self) -> list[Cell]:
        """The cells of trainings, one after the other where they start from each other."""
        found: list[Cell] = []
        series = series_of(self.resolver, self.number)
        for each, panel in itertools.product(series, self.panels):
            for number, system in enumerate(each.given.chain or (), 1):
                chosen = {**each.chosen, "system": system, "measure": CURVE}
                names = {"row": each.label, "x": number}
                found += self._point(each, panel, chosen, None, names)
                self._check_curve(found[-1])
        return found

    def _check_curve(self, cell: Cell) -> None:
        """Refuse a training without validation BLEU, of which there would be no curve."""
        if cell.source is None:
            return
        here = self.resolver.configuration.on(cell.corpus)
        metric = here.recipe(here.system(cell.model).recipe).validation.metric
        if metric != "bleu":
            raise self.resolver.error(
                f"{self.at}.series", f"'{cell.system}' validates by {metric}, so it has no curve"
            )


def _quoted(cell: Cell, other: Cell | None, known: Mapping[tuple[str, ...], Cell]) -> Cell:
    """A point with the published value of its address, or the difference of two."""
    value = known.get(cell.address) if cell.system and cell.role != OVER else None
    if value is None or other is None or MEASURES[cell.measure].relative:
        return cell.with_published(value)
    subtracted = known.get(other.address)
    numbers = value.published, subtracted.published if subtracted else None
    if not all(isinstance(each, float | int) for each in numbers):
        return cell
    difference = round(float(numbers[0] or 0) - float(numbers[1] or 0), 6)
    origin = f"{value.origin}; minus {subtracted.origin if subtracted else ''}"
    return cell._replace(published=difference, printed=f"{difference:+g}", origin=origin)

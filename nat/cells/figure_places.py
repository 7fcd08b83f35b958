"""The places of figures: points of series, panel by panel."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from nat.cells import table_places
from nat.cells.coordinates import Chosen, flat, merged, no_repetition, product, put
from nat.cells.entry import Address, Entry
from nat.cells.known_measures import MEASURES
from nat.cells.resolver import Line, Resolver, describe, no_conflict, variables
from nat.configuration import Configuration
from nat.configuration import papers as models
from nat.errors import UserError
from nat.published.published import Published

CURVE = "best_validation_bleu"
"""Measure that the cells of a training curve carry; the curve itself lies beside its file."""


def entries(configuration: Configuration, paper: str, number: str | int) -> list[Entry]:
    """The places of a figure, series by series.

    Raises:
        UserError: as `nat.cells.paper.entries`.
    """
    description = describe(configuration, paper, "figure", number)
    resolver = Resolver(configuration, paper, f"figures.{number}")
    found = _entries(resolver, description)
    _check_texts(resolver, description, found)
    _check_quotes(resolver, getattr(description, "quotes", []), found)
    return found


def _entries(resolver: Resolver, description: Any) -> list[Entry]:
    if isinstance(description, models.Curves):
        return _curves(resolver, description)
    if isinstance(description, models.Scatter):
        return _scatter(resolver, description)
    if description.keys:
        return _analyses(resolver, description)
    if isinstance(description, models.Lines | models.Bars):
        return _quote(resolver, description.quotes, _points(resolver, description))
    return _points(resolver, description)


def _check_texts(resolver: Resolver, description: Any, found: Sequence[Entry]) -> None:
    """Refuse texts that matplotlib takes for mathematics, between two '$', but cannot read."""
    axes = (getattr(description, name, None) for name in ("x", "y"))
    points = getattr(description, "points", [])
    marks = points if isinstance(points, list) else []
    texts = [description.title, *description.notes]
    texts += [each.label for each in (*axes, *marks) if each is not None and each.label]
    texts += [text for each in found for text in (each.row, each.column, each.category)]
    for text in dict.fromkeys(texts):
        if text.count("$") < 2:
            continue
        from matplotlib.cbook import is_math_text  # slow to import, and hardly ever needed
        from matplotlib.mathtext import MathTextParser

        try:
            if is_math_text(text):
                MathTextParser("path").parse(text)
        except ValueError as error:
            reason = str(error).strip().splitlines()[-1]
            raise UserError(
                f"{resolver.where}: '{text}' is not valid mathematics ({reason}); write \\$ for a "
                "dollar sign"
            ) from error


_Along = models.Lines | models.Bars | models.HeatMap | models.Contour
_NUMBERED = models.Lines | models.Contour
"""Kinds whose horizontal axis has numbers; that of the others has names."""


def _points(resolver: Resolver, description: _Along) -> list[Entry]:
    defaults = description.cells.coordinates()
    panels = resolver.lines(description.panels, "panels")
    found: list[Entry] = []
    labels: list[str] = []
    levels: set[str] = set()
    for series in description.series:
        for line in _series(resolver, series, description):
            labels.append(line.label)
            levels |= {line.label} if series.style == "level" else set()
            points = list(_along(resolver, series, line.chosen, description))
            seen = variables(series.label)
            if len(points) == 1:  # where it stands on the axis; a level stands everywhere
                seen.append(description.x.of)
            for chosen, names in points:
                drawn: list[Entry] = []
                for panel in panels:
                    label = f"row '{line.label}', column '{panel.label}'"
                    if isinstance(description, models.Contour):
                        names["y"] = _height(resolver, chosen, description.y.of, line.label)
                    no_conflict(resolver, chosen, panel.chosen, label)
                    entry = resolver.entry(
                        merged(defaults, panel.chosen, chosen),
                        label,
                        over=series.over,
                        row=line.label,
                        column=panel.label,
                        **names,
                    )
                    _check_over(resolver, entry, series.over, f"series '{line.label}'")
                    drawn.append(entry)
                resolver.check_used(replace(line, chosen=chosen), drawn, "series", seen)
                found += drawn
    no_repetition(labels, f"{resolver.where}.series")
    _check_along(resolver, description, found)
    _check_shared(resolver, description, found)
    if not isinstance(description, _NUMBERED):
        last = sorted(found, key=lambda each: each.row in levels)
        categories = list(dict.fromkeys(each.category for each in last))
        found = [replace(each, x=categories.index(each.category)) for each in found]
    return found


def _check_along(resolver: Resolver, description: _Along, found: Sequence[Entry]) -> None:
    """Refuse a variable along an axis that decides about no point, such as a misspelt one."""
    if any(series.points is None for series in description.series):
        along = {"x.of": description.x.of}
        if isinstance(description, models.Contour):
            along["y.of"] = description.y.of
        for key, name in along.items():
            if name not in models.COORDINATES:
                resolver.check_used(Line(name, {name: None}), found, key)


def _check_shared(resolver: Resolver, description: models.Figure, found: Sequence[Entry]) -> None:
    """Refuse what a panel, or the whole figure, gives without effect."""
    for each in description.panels:
        seen = [] if isinstance(each, str) else variables(each.label)
        for panel in resolver.lines([each], "panels"):
            inside = [place for place in found if place.column == panel.label]
            resolver.check_used(panel, inside, "panels", seen)
    resolver.check_used(Line("cells", description.cells.coordinates()), found, "cells")


def _check_over(resolver: Resolver, entry: Entry, over: str | None, owner: str) -> None:
    if over is None and MEASURES[entry.measure].relative:
        raise UserError(
            f"{resolver.where}: {owner} leaves the key 'over' open, the system that "
            f"'{entry.measure}' is relative to"
        )


def _height(resolver: Resolver, chosen: Chosen, of: str, label: str) -> float:
    """Where a point stands on the vertical axis of a plane."""
    found = flat(chosen).get(of)
    if found is None:
        raise UserError(
            f"{resolver.where}: series '{label}': missing key '{of}', which runs along the "
            "vertical axis"
        )
    if isinstance(found, str):
        raise UserError(
            f"{resolver.where}: series '{label}': found the text '{found}' for the vertical axis, "
            "not a number"
        )
    return float(found)


def _series(resolver: Resolver, series: models.Series, description: _Along) -> list[Line]:
    """The series of a description; the coordinate along the axis does not vary between series."""
    along = description.x.of
    if along in models.COORDINATES:
        own = series.model_copy(update={along: None})
    else:
        left = {key: value for key, value in series.variables.items() if key != along}
        own = series.model_copy(update={"variables": left})
    return resolver.lines([own], "series")


def _along(
    resolver: Resolver,
    series: models.Series,
    chosen: Chosen,
    description: _Along,
) -> Iterator[tuple[Chosen, dict[str, Any]]]:
    """The points of a series: coordinates, and the place on the axis."""
    axis, where = description.x, f"{resolver.where}: series '{series.label or chosen}'"
    key = "x" if isinstance(description, _NUMBERED) else "category"
    if series.points is not None:
        for point in series.points:
            if getattr(point, key) is None:
                raise UserError(f"{where}: missing key '{key}' of a point")
            if point.x is not None:
                _check_log(axis, point.x, where)
            yield merged(chosen, point.coordinates()), {key: getattr(point, key)}
        return
    values = flat(series.coordinates()).get(axis.of, axis.values)
    if values is None:
        raise UserError(f"{where}: missing key '{axis.of}', which runs along the axis, or 'points'")
    values = values if isinstance(values, list) else [values]
    if series.style == "level" and len(values) > 1:
        raise UserError(
            f"{where}: a series of style level has one point, not {len(values)}; give it one "
            f"value, such as '{axis.of}: {values[0]}'"
        )
    for value in values:
        here = merged(chosen)
        put(here, axis.of, value)
        if key == "x":
            if isinstance(value, str):
                raise UserError(f"{where}: found the text '{value}' for the axis, not a number")
            _check_log(axis, value, where)
            yield here, {"x": value}
        else:
            words = {axis.of: value if axis.of == "steps" else resolver.word(axis.of, value)}
            yield here, {"category": resolver.filled(axis.category or f"{{{axis.of}}}", words)}


def _check_log(axis: models.Axis, value: float, where: str) -> None:
    if axis.log and value <= 0:
        raise UserError(f"{where}: {value:g} has no place on a logarithmic axis; remove 'log'")


def _values(resolver: Resolver, tables: Sequence[int]) -> dict[Address, Published]:
    """The paper's own values of cells from the tables that a figure quotes."""
    found: dict[Address, Published] = {}
    for number in tables:
        for each in table_places.entries(resolver.configuration, resolver.name, number):
            if each.address is not None and each.published is not None and each.published.own:
                found.setdefault(each.address, each.published)
    return found


def _quote(resolver: Resolver, tables: Sequence[int], found: list[Entry]) -> list[Entry]:
    """Points with the paper's own values of the same cells from the tables that are quoted."""
    known = _values(resolver, tables)
    return [replace(each, published=_quoted(each, known)) for each in found]


def _check_quotes(resolver: Resolver, tables: Sequence[int], found: Sequence[Entry]) -> None:
    """Refuse a table of `quotes` that has no value of a point or a quoted row."""
    shown = [each for point in found for each in (point, point.across) if each is not None]
    for number in tables:
        known = _values(resolver, [number])
        rows = {
            each.row
            for each in table_places.entries(resolver.configuration, resolver.name, number)
            if each.published is not None
        }
        if not any(
            _quoted(each, known) if each.address is not None else each.category in rows
            for each in shown
        ):
            raise UserError(
                f"{resolver.where}.quotes: table {number} has no published value of a point of "
                "this figure; remove it"
            )


def _scatter(resolver: Resolver, description: models.Scatter) -> list[Entry]:
    """The points of a scatter plot: places of the vertical axis, each with its `across`."""
    defaults = description.cells.coordinates()
    up: list[Entry] = []
    across: list[Entry] = []
    for panel in resolver.lines(description.panels, "panels"):
        for series in description.series:
            name = series.label or series.system
            if not isinstance(name, str):
                raise UserError(f"{resolver.where}.series: missing key 'label'")
            if series.quoted is not None:
                continue
            for chosen, varied in product(series):
                point = ""
                if series.point is not None or varied:
                    named = {**chosen, "system": None} if name == series.system else chosen
                    point = resolver.label(series.point, named, varied)
                label = f"series '{name}', panel '{panel.label}'"
                no_conflict(resolver, chosen, panel.chosen, label)
                for axis, found in ((description.y, up), (description.x, across)):
                    given = axis.coordinates()
                    no_conflict(resolver, chosen, given, f"series '{name}' and an axis")
                    no_conflict(resolver, panel.chosen, given, f"panel '{panel.label}' and an axis")
                    here = merged(defaults, panel.chosen, given, chosen)
                    names = {"row": name, "column": panel.label, "category": point}
                    entry = resolver.entry(here, label, over=axis.over, **names)
                    _check_over(resolver, entry, axis.over, f"the axis of '{entry.measure}'")
                    found.append(entry)
                line = Line(name, chosen, varied)
                seen = variables(series.point)
                resolver.check_used(line, [up[-1], across[-1]], "series", seen)
    for key, axis, shown in (("x", description.x, across), ("y", description.y, up)):
        resolver.check_used(Line(key, axis.coordinates()), shown, key)
    _check_shared(resolver, description, [*up, *across])
    up = _quote(resolver, description.quotes, up)
    across = _quote(resolver, description.quotes, across)
    found = [replace(one, across=other) for one, other in zip(up, across, strict=True)]
    return found + _quoted_points(resolver, description)


def _quoted_points(resolver: Resolver, description: models.Scatter) -> list[Entry]:
    """Points of quoted rows, whose values stand in the columns that the axes name."""
    found = []
    quoted = any(series.quoted for series in description.series)
    published: dict[tuple[str, str | None], Published] = {}
    for number in description.quotes if quoted else ():
        for each in table_places.entries(resolver.configuration, resolver.name, number):
            if each.published is not None:
                published.setdefault((each.row, each.column), each.published)
    for series in description.series:
        for row in series.quoted or []:
            values: list[Published] = []
            for axis in (description.y, description.x):
                value = published.get((row, axis.column))
                if value is None:
                    raise UserError(
                        f"{resolver.where}.series: no table of 'quotes' has a published value in "
                        f"row '{row}', column '{axis.column}'"
                    )
                values.append(value)
            given = {key: own for key, own in series.coordinates().items() if key != "with"}
            panels = resolver.lines(description.panels, "panels")
            for key in given:
                if not any(key in panel.chosen for panel in panels):
                    raise UserError(
                        f"{resolver.where}.series: '{key}' of the quoted row '{row}' changes "
                        "nothing, since no panel has one; remove it"
                    )
            for panel in panels:
                if any(panel.chosen.get(key, own) != own for key, own in given.items()):
                    continue  # the values are of another setting than the panel's
                chosen = merged(description.cells.coordinates(), panel.chosen)
                names = {"row": series.label or row, "column": panel.label, "category": row}
                up, across = (
                    replace(
                        resolver.entry(
                            {**merged(chosen, axis.coordinates()), "system": None},
                            f"quoted row '{row}'",
                            **names,
                        ),
                        published=value,
                    )
                    for axis, value in zip((description.y, description.x), values, strict=True)
                )
                found.append(replace(up, across=across))
    return found


def _analyses(resolver: Resolver, description: models.Figure) -> list[Entry]:
    """A place for the analysis that each panel shows."""
    defaults = description.cells.coordinates()
    found = []
    for panel in resolver.lines(description.panels, "panels"):
        names = {"row": panel.label, "column": panel.label}
        label = f"panel '{panel.label}'"
        found.append(resolver.entry(merged(defaults, panel.chosen), label, None, **names))
        for key in description.keys.values():
            resolver.coordinate(key, _words(resolver, description, panel))
    _check_shared(resolver, description, found)
    return found


def _quoted(entry: Entry, known: Mapping[Address, Published]) -> Published | None:
    value = None if entry.address is None else known.get(entry.address)
    if entry.over_address is None or MEASURES[entry.measure].relative:
        return value
    other = known.get(entry.over_address)
    if value is None or other is None or value.value is None or other.value is None:
        return None
    difference = round(value.value - other.value, 6)
    return Published(f"{difference:+g}", difference, f"{value.source}; minus {other.source}")


def _curves(resolver: Resolver, description: models.Curves) -> list[Entry]:
    defaults = description.cells.coordinates()
    panels = resolver.lines(description.panels, "panels")
    chains = [
        (line, series)
        for series in description.series
        for line in resolver.lines([series], "series")
    ]
    no_repetition([line.label for line, _ in chains], f"{resolver.where}.series")
    found: list[Entry] = []
    for line, series in chains:
        for panel in panels:
            label = f"row '{line.label}', column '{panel.label}'"
            for number, system in enumerate(series.chain, 1):
                chosen = merged(line.chosen, {"system": system, "measure": CURVE})
                no_conflict(resolver, chosen, panel.chosen, label)
                here = merged(defaults, panel.chosen, chosen)
                names = {"row": line.label, "column": panel.label}
                entry = resolver.entry(here, label, **names, x=number)
                _check_curve(resolver, entry, system)
                found.append(entry)
        drawn = [each for each in found if each.row == line.label]
        resolver.check_used(line, drawn, "series", variables(series.label))
    _check_shared(resolver, description, found)
    return found


def _check_curve(resolver: Resolver, entry: Entry, system: str) -> None:
    """Refuse a training without validation BLEU, of which there would be no curve."""
    for cell in entry.cells[:1]:
        here = resolver.configuration.on(cell.corpus)
        validation = here.recipe(here.system(cell.system).recipe).validation
        if validation.metric != "bleu":
            raise UserError(
                f"{resolver.where}.series: '{system}' validates by {validation.metric}; curves "
                "show validation BLEU, so remove it"
            )


@dataclass(frozen=True)
class Layout:
    """How a figure is divided.

    Attributes:
        panels: their labels, in order.
        series: style of each, in order.
        keys: of each panel the keys in its analysis by what they stand for, if it shows one.
    """

    panels: tuple[str, ...]
    series: dict[str, str | None]
    keys: dict[str, dict[str, str]]


def layout(configuration: Configuration, paper: str, number: str | int) -> Layout:
    """How a figure is divided."""
    description = describe(configuration, paper, "figure", number)
    resolver = Resolver(configuration, paper, f"figures.{number}")
    series: dict[str, str | None] = {}
    for each in getattr(description, "series", []):
        if isinstance(each, models.Cloud):
            style = "joined" if each.joined else None
            names = [each.label or each.system] if each.quoted is None else each.quoted
            series |= {str(each.label or name): style for name in names}
            continue
        if isinstance(each, models.Chain):
            series |= {line.label: None for line in resolver.lines([each], "series")}
            continue
        series |= {line.label: each.style for line in _series(resolver, each, description)}
    panels = resolver.lines(description.panels, "panels")
    keys = {
        line.label: {
            name: resolver.coordinate(key, _words(resolver, description, line))
            for name, key in description.keys.items()
        }
        for line in panels
    }
    return Layout(tuple(line.label for line in panels), series, keys)


def _words(resolver: Resolver, description: models.Figure, panel: Line) -> Chosen:
    """Coordinates and variables of a panel."""
    levels = resolver.paper.cells.coordinates(), description.cells.coordinates(), panel.chosen
    return merged(*levels)


def named_points(
    resolver: Resolver, description: models.Figure
) -> tuple[dict[str, Chosen], tuple[str, ...]]:
    """What claims can name in a figure, see `nat.cells.paper.lines_of`."""
    named: dict[str, Chosen] = {}
    points: dict[str, Chosen] = {}
    if isinstance(description, models.Curves):
        for chain in description.series:
            for line in resolver.lines([chain], "series"):
                named[line.label] = merged(line.chosen, {"system": chain.chain[-1]})
    if isinstance(description, models.Lines | models.Bars):
        for series in description.series:
            for line in _series(resolver, series, description):
                named[line.label] = line.chosen
                for chosen, place in _along(resolver, series, line.chosen, description):
                    label = place.get("category") or f"{place['x']:g}"
                    points.setdefault(label, chosen)
    return {**points, **named}, tuple(points)

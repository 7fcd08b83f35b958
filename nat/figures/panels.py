"""The panels of figures: lines over a number, grouped bars, curves of trainings, points.

Each painter draws the records of one panel into its axes; the page around them is
`nat.figures.figures`. Planes of values are painted in `nat.figures.maps`, texts in
`nat.figures.word_panels`; names of points are placed by `nat.figures.point_names`.
"""

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import (
    FixedLocator,
    LogLocator,
    MaxNLocator,
    NullLocator,
    StrMethodFormatter,
)

from nat.figures import maps, word_panels
from nat.figures.drawing import (
    GREY,
    LABEL_SIZE,
    LABEL_WIDTH,
    LINE_SPACING,
    MARKERS,
    PANEL_HEIGHT,
    PANEL_WIDTH,
    Labels,
    Panel,
    height,
    look,
    ticks,
    width_of,
    wrap,
)
from nat.figures.point_names import Named, Segment, name_points
from nat.measures.known import MEASURES
from nat.papers import values
from nat.papers.cells import QUOTED
from nat.papers.description import Axis
from nat.papers.values import Record

TITLE_SIZE = 10.0
"""Font size of the title above a panel, in points."""
TICK_SIZE = 9.5
"""Font size of the names of bars, in points."""
BAND = 0.3
"""Opacity of the bands of a panel, which share it evenly."""
COINCIDE = 0.02
"""Share of a panel's height by which curves may differ that look like one."""

BARS = 0.8
"""Share of the distance between two groups that bars fill."""


def paint(axes: Axes, panel: Panel) -> None:
    """Draw a panel: its title, its axes and what its kind of figure shows."""
    records = panel.records
    corpora = dict.fromkeys(record["corpus"] for record in records if record["stand_in"])
    stand_in = [corpus for corpus in corpora if corpus and corpus != records[0]["task"]]
    name = f"{panel.label} (stand-in: {', '.join(stand_in)})" if stand_in else panel.label
    axes.set_title(name, loc="left", fontsize=TITLE_SIZE)
    axes.set_ylabel(_measure(panel))
    axes.yaxis.set_major_locator(MaxNLocator(nbins=6, steps=[1, 2, 5, 10]))
    painters = {
        "lines": _lines,
        "bars": _bars,
        "curves": _curves,
        "scatter": _scatter,
        "heat_map": maps.heat_map,
        "contour": maps.contour,
        "alignment": word_panels.alignment,
        "steps": word_panels.steps,
    }
    labels = painters[panel.description.kind](axes, panel)
    if not axes.has_data() and all(record["status"] != "run" for record in records):
        why = values.missing_state(records)
        axes.text(0.5, 0.5, why, transform=axes.transAxes, ha="center", color=GREY)
        if panel.description.kind == "scatter":
            axes.set_xticks([])
        axes.set_yticks([])
    _label(axes, labels)


def shows_published(record: dict[str, Any]) -> bool:
    """Whether a point's published value is comparable with it, and so drawn beside it."""
    if record.get("x_measure") and not isinstance(record["x_published"], int | float):
        return False
    quoted = record["status"] == QUOTED and record.get("x_measure")
    return (
        isinstance(record["published"], int | float)
        and (record["status"] == "run" or bool(quoted))
        and not record["stand_in"]
    )


def _measure(panel: Panel) -> str:
    if panel.description.kind == "curves":
        return "validation BLEU"
    measures = [MEASURES[record["measure"]] for record in panel.records]
    name = measures[0].label
    if len({measure.label for measure in measures}) > 1:
        # The common part of the bars of a panel is before the comma.
        name = name.split(",")[0] + (" (%)" if measures[0].unit == "%" else "")
    return f"gain in {name}" if panel.differences else name


def _own(panel: Panel, label: str) -> list[Record]:
    return [record for record in panel.records if record["row"] == label]


def _lines(axes: Axes, panel: Panel) -> Labels:
    numbers = sorted({record["x"] for record in panel.records})
    at = _horizontal(axes, panel.description.x, numbers)
    log = panel.description.log
    if log:
        axes.set_yscale("log")
        axes.yaxis.set_major_locator(LogLocator())
        axes.yaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
        axes.yaxis.set_minor_locator(NullLocator())
    opacity = BAND / max(len(panel.series), 3)
    labels: Labels = []
    for number, (name, style) in enumerate(panel.series.items()):
        colour, marker = look(number)
        own = [{**record, "at": at[record["x"]]} for record in _own(panel, name)]
        points = [record for record in own if record["status"] == "run"]
        if log:
            points = [record for record in points if record["ours"] > 0]
        if not points:
            continue
        if style == "level":
            _level(axes, points[0], colour, opacity)
        else:
            _curve(axes, points, (colour, marker), opacity)
        for record in own:
            if shows_published(record):
                _hollow(axes, record["at"], record["published"], colour, marker)
        last = max(points, key=lambda record: float(record["x"]))
        labels.append((_height_of(axes, last["ours"]), _named(name, last, log), colour))
    axes.margins(y=0.12)
    return labels


def _horizontal(axes: Axes, x: Axis, numbers: list[float]) -> dict[float, float]:
    """Set up the horizontal axis; returns where each value lies on it."""
    axes.set_xlabel(x.label or "")
    at = {tick: float(number if x.even else tick) for number, tick in enumerate(numbers)}
    places = list(at.values())
    if x.log:
        axes.set_xscale("log", base=2)
        room = (places[-1] / places[0]) ** 0.05 if len(places) > 1 else 1.5
        axes.set_xlim(places[0] / room, places[-1] * room)
    else:
        room = 0.05 * (places[-1] - places[0]) or 1.0
        axes.set_xlim(places[0] - room, places[-1] + room)
    named = [tick for tick in numbers if x.even or x.values is None or tick in x.values]
    ticks(axes, [at[tick] for tick in named], [f"{tick:g}" for tick in named])
    return at


def coinciding(panel: Panel) -> list[list[str]]:
    """Series of a panel whose curves look like one, together."""
    log = panel.description.log
    curves: dict[str, dict[float, float]] = {}
    for record in panel.records:
        if record["status"] != "run" or panel.series.get(record["row"]) == "level":
            continue
        if not log or record["ours"] > 0:
            height_ = math.log10(record["ours"]) if log else record["ours"]
            curves.setdefault(record["row"], {})[record["x"]] = height_
    heights = [value for curve in curves.values() for value in curve.values()]
    room = COINCIDE * (max(heights) - min(heights)) if heights else 0.0
    found: list[list[str]] = []
    for name, curve in curves.items():
        for others in found:
            first = curves[others[0]]
            if first.keys() == curve.keys() and all(
                abs(first[x] - value) <= room for x, value in curve.items()
            ):
                others.append(name)
                break
        else:
            found.append([name])
    return [names for names in found if len(names) > 1]


def _curve(axes: Axes, points: list[Record], look_: tuple[str, str], opacity: float) -> None:
    colour, marker = look_
    points = sorted(points, key=lambda record: float(record["at"]))
    x = [record["at"] for record in points]
    low, high = zip(*(_band(record) for record in points), strict=True)
    axes.fill_between(x, low, high, color=colour, alpha=opacity, linewidth=0)
    axes.plot(x, [record["ours"] for record in points], color=colour, linewidth=2)
    held = [record for record in points if not record["collapsed"]]
    axes.plot(
        [record["at"] for record in held],
        [record["ours"] for record in held],
        color=colour,
        marker=marker,
        linestyle="none",
    )
    for record in points:
        if record["collapsed"]:
            _collapse(axes, record["at"], record["ours"])


def _collapse(axes: Axes, x: float, y: float) -> None:
    axes.plot(x, y, color="black", marker="X", markersize=10, linestyle="none", zorder=4)


def _level(axes: Axes, point: dict[str, Any], colour: str, opacity: float) -> None:
    """A line without a marker, since it was not measured at any place of the axis."""
    low, high = _band(point)
    axes.axhspan(low, high, color=colour, alpha=opacity, linewidth=0)
    axes.axhline(point["ours"], color=colour, linewidth=1.6, linestyle=(0, (5, 2)))


def _hollow(axes: Axes, x: float, y: float, colour: str, marker: str) -> None:
    """Draw a published value as a hollow marker."""
    axes.plot(
        x,
        y,
        color=colour,
        marker=marker,
        markersize=9,
        markerfacecolor="none",
        linestyle="none",
    )


def upright(shown: Sequence[Panel]) -> float:
    """Height of upright names below panels, inches; 0 where all stand beside each other."""
    found = [_names_below(panel) for panel in shown]
    if all(fits for _, fits in found):
        return 0.0
    return max(widest for widest, _ in found)


def _names_below(panel: Panel) -> tuple[float, bool]:
    """Width of the widest name below a panel, inches, and whether all stand beside each other."""
    if panel.description.kind == "heat_map":
        return maps.names(panel)
    if panel.description.kind != "bars" or not panel.records:
        return 0.0, True
    names = dict.fromkeys(_categories(panel).values())
    widest = max(width_of(name, TICK_SIZE) for name in names)
    return max(width_of(name, LABEL_SIZE) for name in names), widest * len(names) <= PANEL_WIDTH


def _categories(panel: Panel) -> dict[float, str]:
    """The categories of a panel of bars by place; a level, which lies across all, adds none."""
    bars = [each for each in panel.records if panel.series.get(each["row"]) != "level"]
    return {record["x"]: record["category"] for record in bars or panel.records}


def _bars(axes: Axes, panel: Panel) -> Labels:
    categories = _categories(panel)
    axes.set_xlabel(panel.description.x.label)
    places = sorted(categories)
    axes.set_xlim(places[0] - 0.5, places[-1] + 0.5)
    ticks(axes, places, [categories[place] for place in places])
    axes.tick_params(axis="x", length=0)
    if panel.upright:
        axes.tick_params(axis="x", labelsize=LABEL_SIZE, rotation=90)
    groups = [name for name, style in panel.series.items() if style != "level"]
    width = BARS / max(len(groups), 1)
    labels: Labels = []
    edges: list[float] = []
    for number, (name, style) in enumerate(panel.series.items()):
        colour, marker = look(number)
        points = [record for record in _own(panel, name) if record["status"] == "run"]
        if style == "level":
            for record in points:
                _level(axes, record, colour, BAND / 3)
                edges += _band(record)
                labels.append((record["ours"], _named(name, record), colour))
            continue
        shift = (groups.index(name) - (len(groups) - 1) / 2) * width
        for record in points:
            low, high = _band(record)
            place = record["x"] + shift
            axes.bar(place, record["ours"], width * 0.92, color=colour)
            if not record["ours"]:  # a bar of height zero would look like a missing one
                axes.text(
                    place, 0, "0", ha="center", va="bottom", fontsize=LABEL_SIZE, color=colour
                )
            axes.plot([place] * 2, [low, high], color="black", linewidth=1)
            edges += [low, high]
            if shows_published(record):
                _hollow(axes, place, record["published"], colour, marker)
        if points:
            last = max(points, key=lambda record: float(record["x"]))
            labels.append((last["ours"], wrapped(name), colour))
    if edges:
        axes.axhline(0, color=GREY, linewidth=0.8)
        low, high = min(0.0, *edges), max(0.0, *edges)
        room = 0.08 * (high - low or 1.0)
        axes.set_ylim(low - room * (low < 0), high + room * (high > 0 or low == high))
    return labels


def _curves(axes: Axes, panel: Panel) -> Labels:
    axes.set_xlabel(panel.description.x.label)
    axes.xaxis.set_major_locator(MaxNLocator(nbins=5))
    labels: Labels = []
    for number, name in enumerate(panel.series):
        colour, marker = look(number)
        own = [r for r in _own(panel, name) if r["status"] == "run"]
        for seed in dict.fromkeys(record["seeds"] for record in own):
            points = [record for record in own if record["seeds"] == seed]
            x, y = [r["x"] for r in points], [r["ours"] for r in points]
            axes.plot(x, y, color=colour, linewidth=1.8)
            systems = dict.fromkeys(record["system"] for record in points)
            for system in systems:
                end = [record for record in points if record["system"] == system][-1]
                if end["collapsed"]:
                    _collapse(axes, end["x"], end["ours"])
                elif len(systems) > 1:
                    axes.plot(end["x"], end["ours"], color=colour, marker=marker)
        if own:
            labels.append((own[-1]["ours"], _named(name, own[-1]), colour))
    axes.margins(y=0.12)
    return labels


def _scatter(axes: Axes, panel: Panel) -> Labels:
    """Points with their names; `legend` names the series, below all panels."""
    horizontal, vertical = panel.description.x, panel.description.y
    axes.set_xlabel(horizontal.label or _axis_name(panel.records, "x_measure"))
    axes.set_ylabel(vertical.label or _axis_name(panel.records, "measure"))
    for axis, scale, drawn in (
        (horizontal, axes.set_xscale, axes.xaxis),
        (vertical, axes.set_yscale, axes.yaxis),
    ):
        if axis.log:
            scale("log")
            drawn.set_major_locator(LogLocator(subs=(1, 2, 5)))
            drawn.set_major_formatter(StrMethodFormatter("{x:g}"))
            drawn.set_minor_locator(NullLocator())
        if axis.ticks:
            drawn.set_major_locator(FixedLocator(axis.ticks))
    named: list[Named] = []
    thin: list[Segment] = []
    for number, (name, style) in enumerate(panel.series.items()):
        colour, marker = look(number)
        own = _own(panel, name)
        points = [record for record in own if record["status"] == "run"]
        for record in points:
            low, high = _band(record)
            ends = [((record["x"], low), (record["x"], high))]
            if record["x_low"] is not None:
                ends.append(((record["x_low"], record["ours"]), (record["x_high"], record["ours"])))
            for each in ends:
                axes.plot(*zip(*each, strict=True), color=colour, linewidth=1, alpha=0.5)
            thin += ends
        places = [(record["x"], record["ours"]) for record in points]
        if places:
            joined = style == "joined"
            axes.plot(
                *zip(*places, strict=True),
                color=colour,
                marker=marker,
                markersize=7,
                linestyle="-" if joined else "none",
                linewidth=1.2,
            )
            thin += itertools.pairwise(places) if joined else ()
        named += [(record["x"], record["ours"], record["category"], colour) for record in points]
        for record in own:
            if comparable(panel) and shows_published(record):
                place = record["x_published"], record["published"]
                _hollow(axes, *place, colour, marker)
                # a point that was measured as well has its name beside its own value
                named.append(
                    (*place, "" if record["status"] == "run" else record["category"], colour)
                )
    axes.margins(x=0.12, y=0.12)
    if panel.description.front:
        ran = [record for record in panel.records if record["status"] == "run"]
        front = pareto_front([(record["x"], record["ours"]) for record in ran])
        if front:
            axes.step(
                *zip(*front, strict=True),
                where="post",
                color=GREY,
                linestyle="--",
                linewidth=1,
                zorder=1,
            )
    name_points(axes, named, thin)
    return []


def legend(shown: Sequence[Panel]) -> list[tuple[str, str]]:
    """Marker and name of each series that scatter plots show, and its colour."""
    found = []
    for number, name in enumerate(shown[0].series):
        colour, marker = look(number)
        drawn = any(
            record["status"] == "run" or (comparable(panel) and shows_published(record))
            for panel in shown
            for record in _own(panel, name)
        )
        if drawn:
            found.append((f"{MARKERS[marker]} {name}", colour))
    return found


def comparable(panel: Panel) -> bool:
    """Whether values of the paper are comparable with all numbers of a panel."""
    return not any(record["stand_in"] for record in panel.records)


def pareto_front(points: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """The points for which no other is lower in the first number and higher in the second.

    In increasing order of both; of equal points one.
    """
    front: list[tuple[float, float]] = []
    for x, y in sorted(points, key=lambda point: (point[0], -point[1])):
        if not front or y > front[-1][1]:
            front.append((x, y))
    return front


def _axis_name(records: list[Record], key: str) -> str:
    measure = MEASURES[records[0][key]]
    return (
        f"{measure.label} ({measure.unit})" if measure.unit in ("ms", "s", "x") else measure.label
    )


def _height_of(axes: Axes, value: float) -> float:
    """Where labels, which are placed along a linear axis, have a value."""
    return value if axes.get_yscale() == "linear" else math.log10(value)


def wrapped(label: str) -> str:
    """A label on lines that fit beside a panel; of two, the first ends at a comma if it can."""

    def lines(text: str) -> list[str]:
        return wrap(text, LABEL_WIDTH - 0.25, LABEL_SIZE)

    found = lines(label)
    parts = label.split(", ")
    for number in range(len(parts) - 1, 0, -1) if len(found) == 2 else ():
        halves = [f"{', '.join(parts[:number])},", ", ".join(parts[number:])]
        if all(len(lines(half)) == 1 for half in halves):
            return "\n".join(halves)
    return "\n".join(found)


def _named(label: str, record: dict[str, Any], log: bool = False) -> str:
    """A series' name and its last value, of a logarithmic axis with two digits."""
    digits = MEASURES[record["measure"]].digits
    differs = record["over"] and not MEASURES[record["measure"]].relative
    value = f"{record['ours']:+.{digits}f}" if differs else f"{record['ours']:.{digits}f}"
    if log:
        value = np.format_float_positional(record["ours"], precision=2, fractional=False, trim="-")
    return f"{wrapped(label)}\n{value}"


def _band(record: dict[str, Any]) -> tuple[float, float]:
    """One standard deviation where there are several numbers, else the bootstrap interval."""
    if record["spread"] is not None:
        return record["ours"] - record["spread"], record["ours"] + record["spread"]
    if record["low"] is not None:
        return record["low"], record["high"]
    return record["ours"], record["ours"]


def _label(axes: Axes, labels: Labels) -> None:
    """Name each series to the right of the panel, at its height, moved apart where too close."""
    bottom, top = axes.get_ylim()
    if axes.get_yscale() != "linear":
        bottom, top = math.log10(bottom), math.log10(top)
    placed: list[list[float]] = []
    for value, text, _ in sorted(labels):
        half = height(text.split("\n"), LABEL_SIZE) / 2 + 0.03
        placed.append([(value - bottom) / (top - bottom) * PANEL_HEIGHT, half])
    # Up from the lowest label, then down again from the panel's top.
    for below, above in zip(placed, placed[1:], strict=False):
        above[0] = max(above[0], below[0] + below[1] + above[1])
    if placed and placed[-1][0] + placed[-1][1] > PANEL_HEIGHT + 0.2:
        placed[-1][0] = PANEL_HEIGHT + 0.2 - placed[-1][1]
    for above, below in zip(placed[::-1], placed[-2::-1], strict=False):
        below[0] = min(below[0], above[0] - above[1] - below[1])
    for (_, text, colour), (middle, _) in zip(sorted(labels), placed, strict=True):
        axes.annotate(
            text,
            (1 + 0.12 / PANEL_WIDTH, middle / PANEL_HEIGHT),
            xycoords="axes fraction",
            ha="left",
            va="center",
            fontsize=LABEL_SIZE,
            color=colour,
            annotation_clip=False,
            linespacing=LINE_SPACING,
        )

"""The panels of figures: lines over a number, grouped bars, curves of trainings, points.

Each painter draws the records of one panel into its axes; the page around them is
`nat.reporting.figures`. Planes of values are painted in `nat.reporting.maps`, texts in
`nat.reporting.word_panels`.
"""

import itertools
import math
from typing import Any

from matplotlib.axes import Axes
from matplotlib.ticker import LogLocator, MaxNLocator, NullLocator, StrMethodFormatter

from nat.configuration.papers import Axis
from nat.reporting import maps, values, word_panels
from nat.reporting.cells import MEASURES
from nat.reporting.drawing import (
    GREY,
    HINTED,
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
from nat.reporting.entry import Records

TICK_SIZE = 11.0
"""Of the names of bars, in points."""
NAME_SIZE = 8.0
"""Font size of the names of points."""

BARS = 0.8
"""Share of the distance between two groups that bars fill."""


def paint(axes: Axes, panel: Panel) -> None:
    """Draw a panel: its title, its axes and what its kind of figure shows."""
    records = panel.records
    corpora = dict.fromkeys(record["corpus"] for record in records if record["stand_in"])
    stand_in = [corpus for corpus in corpora if corpus and corpus != records[0]["task"]]
    name = f"{panel.label} (stand-in: {', '.join(stand_in)})" if stand_in else panel.label
    axes.set_title(name, loc="left", fontsize=11)
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
    if not labels and all(record["status"] != "run" for record in records):
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
    quoted = record["status"] == values.QUOTED and record.get("x_measure")
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


def _own(panel: Panel, label: str) -> Records:
    return [record for record in panel.records if record["row"] == label]


def _lines(axes: Axes, panel: Panel) -> Labels:
    numbers = sorted({record["x"] for record in panel.records})
    at = _horizontal(axes, panel.description.x, numbers)
    labels: Labels = []
    for number, (name, style) in enumerate(panel.series.items()):
        colour, marker = look(number)
        own = [{**record, "at": at[record["x"]]} for record in _own(panel, name)]
        points = [record for record in own if record["status"] == "run"]
        if not points:
            continue
        if style == "level":
            _level(axes, points[0], colour, marker)
        else:
            _curve(axes, points, colour, marker)
        for record in own:
            if shows_published(record):
                _hollow(axes, record["at"], record["published"], colour, marker)
        last = max(points, key=lambda record: float(record["x"]))
        labels.append((last["ours"], _named(name, last), colour))
    axes.margins(y=0.12)
    return labels


def _horizontal(axes: Axes, x: Axis, numbers: list[float]) -> dict[float, float]:
    """Set up the horizontal axis; returns where each value lies on it."""
    axes.set_xlabel(x.label)
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


def _curve(axes: Axes, points: Records, colour: str, marker: str) -> None:
    points = sorted(points, key=lambda record: float(record["at"]))
    x = [record["at"] for record in points]
    low, high = zip(*(_band(record) for record in points), strict=True)
    axes.fill_between(x, low, high, color=colour, alpha=0.15, linewidth=0)
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


def _level(axes: Axes, point: dict[str, Any], colour: str, marker: str) -> None:
    low, high = _band(point)
    axes.axhspan(low, high, color=colour, alpha=0.12, linewidth=0)
    axes.axhline(point["ours"], color=colour, linewidth=1.6, linestyle=(0, (5, 2)))
    axes.plot(point["at"], point["ours"], color=colour, marker=marker, markersize=8, zorder=3)


def _hollow(axes: Axes, x: float, y: float, colour: str, marker: str) -> None:
    """A published value."""
    axes.plot(
        x,
        y,
        color=colour,
        marker=marker,
        markersize=9,
        markerfacecolor="none",
        linestyle="none",
    )


def upright(panel: Panel) -> float:
    """Height of names below a panel that are upright, being too wide; otherwise 0, inches."""
    if panel.description.kind == "heat_map":
        return maps.upright(panel)
    names = dict.fromkeys(record["category"] for record in panel.records)
    if panel.description.kind != "bars" or not names:
        return 0.0
    widest = max(width_of(name, TICK_SIZE) for name in names)
    if widest * len(names) <= PANEL_WIDTH:
        return 0.0
    return max(width_of(name, LABEL_SIZE) for name in names)


def _bars(axes: Axes, panel: Panel) -> Labels:
    categories = {record["x"]: record["category"] for record in panel.records}
    axes.set_xlabel(panel.description.x.label)
    places = sorted(categories)
    axes.set_xlim(places[0] - 0.5, places[-1] + 0.5)
    ticks(axes, places, [categories[place] for place in places])
    axes.tick_params(axis="x", length=0)
    if upright(panel):
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
                low, high = _band(record)
                axes.axhspan(low, high, color=colour, alpha=0.12, linewidth=0)
                axes.axhline(record["ours"], color=colour, linewidth=1.6, linestyle=(0, (5, 2)))
                edges += [low, high]
                labels.append((record["ours"], _named(name, record), colour))
            continue
        shift = (groups.index(name) - (len(groups) - 1) / 2) * width
        for record in points:
            low, high = _band(record)
            axes.bar(record["x"] + shift, record["ours"], width * 0.92, color=colour)
            axes.plot([record["x"] + shift] * 2, [low, high], color="black", linewidth=1)
            edges += [low, high]
            if shows_published(record):
                _hollow(axes, record["x"] + shift, record["published"], colour, marker)
        if points:
            last = max(points, key=lambda record: float(record["x"]))
            labels.append((last["ours"], _named(name, last), colour))
    if edges:
        axes.axhline(0, color=GREY, linewidth=0.8)
        low, high = min(0.0, *edges), max(0.0, *edges)
        room = 0.08 * (high - low or 1.0)
        axes.set_ylim(low - room * (low < 0), high + room * (high > 0))
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
    # Values of the paper are not comparable with numbers of a stand-in.
    comparable = not any(record["stand_in"] for record in panel.records)
    labels: Labels = []
    named: list[tuple[float, float, str, str]] = []
    for number, (name, style) in enumerate(panel.series.items()):
        colour, marker = look(number)
        own = _own(panel, name)
        points = [record for record in own if record["status"] == "run"]
        for record in points:
            low, high = _band(record)
            axes.plot([record["x"]] * 2, [low, high], color=colour, linewidth=1, alpha=0.5)
            if record["x_low"] is not None:
                ends = [record["x_low"], record["x_high"]]
                axes.plot(ends, [record["ours"]] * 2, color=colour, linewidth=1, alpha=0.5)
        x, y = [record["x"] for record in points], [record["ours"] for record in points]
        line = "-" if style == "joined" else "none"
        axes.plot(x, y, color=colour, marker=marker, markersize=7, linestyle=line, linewidth=1.2)
        heights = list(y)
        for record in own:
            published = comparable and shows_published(record)
            if published:
                _hollow(axes, record["x_published"], record["published"], colour, marker)
                heights.append(record["published"])
            if record["status"] == "run":
                named.append((record["x"], record["ours"], record["category"], colour))
            elif published:
                quoted = (record["x_published"], record["published"])
                named.append((*quoted, record["category"], colour))
        if heights:
            named_so = f"{MARKERS[marker]} {name}"
            text = "\n".join(wrap(named_so, LABEL_WIDTH - 0.25, LABEL_SIZE))
            labels.append((_height_of(axes, heights[-1]), text, colour))
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
    _name_points(axes, named)
    return labels


def pareto_front(points: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """The points for which no other is lower in the first number and higher in the second.

    In increasing order of both; of equal points one.
    """
    front: list[tuple[float, float]] = []
    for x, y in sorted(points, key=lambda point: (point[0], -point[1])):
        if not front or y > front[-1][1]:
            front.append((x, y))
    return front


def _name_points(axes: Axes, points: list[tuple[float, float, str, str]]) -> None:
    """Write the names of points beside them, where neither points nor other names stand.

    A name that finds no room is left out; the CSV of the figure has it.

    Args:
        axes: with everything drawn, since the limits must not change any more.
        points: place, name and colour of each, the most important first.
    """
    axes.autoscale_view()
    to_panel = axes.transScale + axes.transLimits
    places = [
        (x * PANEL_WIDTH, y * PANEL_HEIGHT)
        for x, y in (to_panel.transform(point[:2]) for point in points)
    ]
    half, tall, gap = 0.06, NAME_SIZE * LINE_SPACING / 72, 0.08
    taken = [(x - half, y - half, x + half, y + half) for x, y in places]
    for (x, y), (at_x, at_y, name, colour) in zip(places, points, strict=True):
        wide = HINTED * width_of(name, NAME_SIZE)
        for right, up in itertools.product((gap, -gap - wide), (half - tall / 2, -tall, half)):
            left, bottom = x + right, y + up
            box = (left, bottom, left + wide, bottom + tall)
            inside = box[0] >= 0 and box[2] <= PANEL_WIDTH and -half <= box[1] <= PANEL_HEIGHT
            own = (x - half, y - half, x + half, y + half)
            if not name or not inside or any(_overlap(box, each) for each in taken if each != own):
                continue
            axes.annotate(
                name,
                (at_x, at_y),
                xytext=(72 * right, 72 * up),
                textcoords="offset points",
                fontsize=NAME_SIZE,
                color=colour,
                va="bottom",
            )
            taken.append(box)
            break


def _overlap(first: tuple[float, ...], second: tuple[float, ...]) -> bool:
    """Whether two boxes (left, bottom, right, top) have a part in common."""
    return all(first[low] < second[low + 2] and second[low] < first[low + 2] for low in (0, 1))


def _axis_name(records: Records, key: str) -> str:
    measure = MEASURES[records[0][key]]
    return (
        f"{measure.label} ({measure.unit})" if measure.unit in ("ms", "s", "x") else measure.label
    )


def _height_of(axes: Axes, value: float) -> float:
    """Where labels, which are placed along a linear axis, have a value."""
    return value if axes.get_yscale() == "linear" else math.log10(value)


def _named(label: str, record: dict[str, Any]) -> str:
    """A series' name and its last value."""
    digits = MEASURES[record["measure"]].digits
    name = "\n".join(wrap(label, LABEL_WIDTH - 0.25, LABEL_SIZE))
    differs = record["over"] and not MEASURES[record["measure"]].relative
    value = f"{record['ours']:+.{digits}f}" if differs else f"{record['ours']:.{digits}f}"
    return f"{name}\n{value}"


def _band(record: dict[str, Any]) -> tuple[float, float]:
    """Standard deviation over seeds where there are several, else the bootstrap interval."""
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

"""The panels of figures: lines over a number, grouped bars, curves of trainings, points.

Each painter draws the records of one panel into its axes; the page around them is
`nat.figures.figures`. Planes of values are painted in `nat.figures.maps`, texts in
`nat.figures.word_panels`.
"""

import math
from collections.abc import Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.axis import Axis as DrawnAxis
from matplotlib.ticker import FixedLocator, LogLocator, MaxNLocator, NullLocator, StrMethodFormatter

from nat.figures import point_names
from nat.figures.drawing import GREY, LABEL_SIZE, Panel, band, ticks
from nat.measures.known import MEASURES
from nat.papers.description import Axis
from nat.papers.values import Record

OPACITY = 0.1
"""Of bands."""
COINCIDE = 0.02
"""Share of a panel's height by which curves may differ that look like one."""
BARS = 0.8
"""Share of the distance between two groups that bars fill."""


def lines(axes: Axes, panel: Panel) -> None:
    """Draw a measure over a number; a series of style `level` crosses the panel."""
    at = _horizontal(axes, panel.description.x, sorted({each["x"] for each in panel.records}))
    log = panel.description.log
    if log:
        axes.set_yscale("log")
        _plain_numbers(axes.yaxis, 1)
    for name, style, colour, marker, ran, published in panel.series():
        points = [each for each in ran if not log or each["ours"] > 0]
        points.sort(key=lambda record: float(record["x"]))
        if not points:
            continue
        if style == "level":
            _level(axes, points[0], colour)
        else:
            x, y = [at[each["x"]] for each in points], [each["ours"] for each in points]
            low, high = zip(*map(band, points), strict=True)
            axes.fill_between(x, low, high, color=colour, alpha=OPACITY, linewidth=0)
            held = [place for place, each in enumerate(points) if not each["collapsed"]]
            axes.plot(x, y, color=colour, linewidth=2, marker=marker, markevery=held, label=name)
            _collapses(axes, x, points)
        _hollow(axes, [at[each["x"]] for each in published], published, colour, marker)
    axes.margins(y=0.12)


def bars(axes: Axes, panel: Panel) -> None:
    """Draw systems beside each other in named categories."""
    groups = [name for name, style in panel.plot.figure.series.items() if style != "level"]
    # a level lies across all categories and adds none
    in_groups = [record for record in panel.records if record["row"] in groups]
    categories = dict(sorted((each["x"], each["category"]) for each in in_groups or panel.records))
    axes.set_xlabel(panel.description.x.label or "")
    axes.set_xlim(min(categories) - 0.5, max(categories) + 0.5)
    ticks(axes, [*categories], [*categories.values()])
    axes.tick_params(axis="x", length=0)
    width = BARS / max(len(groups), 1)
    for name, style, colour, marker, ran, published in panel.series():
        if style == "level":
            for record in ran:
                _level(axes, record, colour)
        elif ran:
            shift = (groups.index(name) - (len(groups) - 1) / 2) * width
            x, y = [each["x"] + shift for each in ran], [each["ours"] for each in ran]
            axes.bar(x, y, width * 0.92, color=colour, label=name)
            axes.vlines(x, *zip(*map(band, ran), strict=True), color="black", linewidth=1)
            for place in (place for place, value in zip(x, y, strict=True) if not value):
                # a bar of height zero would look like a missing one
                zero: dict[str, Any] = {"ha": "center", "va": "bottom", "fontsize": LABEL_SIZE}
                axes.text(place, 0, "0", color=colour, **zero)
            _hollow(axes, [each["x"] + shift for each in published], published, colour, marker)
    if panel.ran:
        axes.axhline(0, color=GREY, linewidth=0.8)
        axes.margins(y=0.08)


def curves(axes: Axes, panel: Panel) -> None:
    """Follow trainings, one after the other where they start from each other."""
    axes.set_xlabel(panel.description.x.label or "")
    axes.xaxis.set_major_locator(MaxNLocator(nbins=5))
    for name, _, colour, marker, ran, _ in panel.series():
        for seed in dict.fromkeys(record["seeds"] for record in ran):
            points = [record for record in ran if record["seeds"] == seed]
            x, y = [each["x"] for each in points], [each["ours"] for each in points]
            ends = {record["system"]: place for place, record in enumerate(points)}
            held = [end for end in ends.values() if not points[end]["collapsed"]]
            axes.plot(x, y, color=colour, linewidth=1.8, marker=marker, markevery=held, label=name)
            last = [points[end] for end in ends.values()]
            _collapses(axes, [each["x"] for each in last], last)
    axes.margins(y=0.12)


def scatter(axes: Axes, panel: Panel) -> None:
    """Draw a measure against another; `point_names.arrange` finds places for the names."""
    for axis, drawn, key in (
        (panel.description.x, axes.xaxis, "x_measure"),
        (panel.description.y, axes.yaxis, "measure"),
    ):
        known = [MEASURES[record[key]] for record in panel.records[:1]]
        unit = "".join(f" ({each.unit})" for each in known if each.unit in ("ms", "s", "x"))
        drawn.set_label_text(axis.label or "".join(each.label for each in known) + unit)
        if axis.log:
            axes.set(**{f"{drawn.axis_name}scale": "log"})
            _plain_numbers(drawn, 1, 2, 5)
        if axis.ticks:
            drawn.set_major_locator(FixedLocator(axis.ticks))
    for name, style, colour, marker, ran, published in panel.series():
        x, y = [each["x"] for each in ran], [each["ours"] for each in ran]
        thin: dict[str, Any] = {"color": colour, "linewidth": 1, "alpha": 0.5}
        for each in ran:
            axes.vlines(each["x"], *band(each), **thin)
            if each["x_low"] is not None:
                axes.hlines(each["ours"], each["x_low"], each["x_high"], **thin)
        if ran:
            line = "-" if style == "joined" else "none"
            axes.plot(x, y, color=colour, marker=marker, markersize=7, linestyle=line, label=name)
        _hollow(axes, [each["x_published"] for each in published], published, colour, marker)
        named = [((each["x"], each["ours"]), each["category"]) for each in ran]
        # a point that was measured as well has its name beside its own value
        quoted = [each for each in published if each["status"] != "run"]
        named += [((each["x_published"], each["published"]), each["category"]) for each in quoted]
        for place, text in named:
            if text:
                point_names.annotate(axes, place, text, colour)
    axes.margins(x=0.12, y=0.12)
    front = pareto_front([(each["x"], each["ours"]) for each in panel.ran])
    if panel.description.front and front:
        dashed: dict[str, Any] = {"color": GREY, "linestyle": "--", "linewidth": 1, "zorder": 1}
        axes.step(*zip(*front, strict=True), where="post", **dashed)


def pareto_front(points: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """The points for which no other is lower in the first number and higher in the second.

    In increasing order of both; of equal points one.
    """
    front: list[tuple[float, float]] = []
    for x, y in sorted(points, key=lambda point: (point[0], -point[1])):
        if not front or y > front[-1][1]:
            front.append((x, y))
    return front


def coinciding(panel: Panel) -> list[tuple[str, ...]]:
    """Series of a panel whose curves look like one, together."""
    log = panel.description.log
    curves = {
        name: {
            each["x"]: math.log10(each["ours"]) if log else each["ours"]
            for each in ran
            if not log or each["ours"] > 0
        }
        for name, style, _, _, ran, _ in panel.series()
        if style != "level"
    }
    heights = [value for curve in curves.values() for value in curve.values()]
    room = COINCIDE * (max(heights) - min(heights)) if heights else 0.0
    groups = [
        tuple(
            other
            for other, its in curves.items()
            if curve.keys() == its.keys() and all(abs(its[x] - curve[x]) <= room for x in curve)
        )
        for curve in curves.values()
        if curve
    ]
    return [group for group in dict.fromkeys(groups) if len(group) > 1]


def _horizontal(axes: Axes, x: Axis, numbers: list[float]) -> dict[float, float]:
    """Set up the horizontal axis; returns where each value lies on it."""
    axes.set_xlabel(x.label or "")
    at = {tick: float(number if x.even else tick) for number, tick in enumerate(numbers)}
    first, last = at[numbers[0]], at[numbers[-1]]
    if x.log:
        axes.set_xscale("log", base=2)
        room = (last / first) ** 0.05 if len(at) > 1 else 1.5
        axes.set_xlim(first / room, last * room)
    else:
        room = 0.05 * (last - first) or 1.0
        axes.set_xlim(first - room, last + room)
    named = [tick for tick in numbers if x.even or x.values is None or tick in x.values]
    ticks(axes, [at[tick] for tick in named], [f"{tick:g}" for tick in named])
    return at


def _plain_numbers(axis: DrawnAxis, *digits: float) -> None:
    """Write plain numbers that begin with these digits at the ticks of a logarithmic axis."""
    axis.set_major_locator(LogLocator(subs=digits))
    axis.set_major_formatter(StrMethodFormatter("{x:g}"))
    axis.set_minor_locator(NullLocator())


def _level(axes: Axes, point: Record, colour: str) -> None:
    """Draw a line without a marker, since it was not measured at any place of the axis."""
    axes.axhspan(*band(point), color=colour, alpha=OPACITY, linewidth=0)
    dashes = (0, (5, 2))
    axes.axhline(point["ours"], color=colour, linewidth=1.6, linestyle=dashes, label=point["row"])


def _collapses(axes: Axes, x: Sequence[float], points: Sequence[Record]) -> None:
    """Draw a black cross where a training collapsed."""
    for place, point in zip(x, points, strict=True):
        if point["collapsed"]:
            axes.plot(place, point["ours"], color="black", marker="X", markersize=10, zorder=4)


def _hollow(
    axes: Axes, x: Sequence[float], points: Sequence[Record], colour: str, marker: str
) -> None:
    """Draw published values as hollow markers, which stand for a series that has no others."""
    if points:
        name = None if any(point["status"] == "run" for point in points) else points[0]["row"]
        style: dict[str, Any] = {"markersize": 9, "markerfacecolor": "none", "linestyle": "none"}
        y = [point["published"] for point in points]
        axes.plot(x, y, color=colour, marker=marker, label=name, **style)

"""The panels of figures: lines over a number, grouped bars, and curves of trainings.

Each painter draws the records of one panel into its axes; the page around them is
`nat.reporting.figures`.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import TextToPath
from matplotlib.ticker import (
    FixedFormatter,
    FixedLocator,
    LogLocator,
    MaxNLocator,
    NullLocator,
    StrMethodFormatter,
)

from nat.configuration.papers import Axis
from nat.reporting import values
from nat.reporting.cells import MEASURES

# Okabe and Ito's colours, which colour-blind readers tell apart; markers differ as well.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00")
MARKERS = ("o", "D", "s", "^", "v", "P")
GREY = "#555555"
FONT = "DejaVu Sans"
# All lengths in inches, font sizes in points.
PANEL_WIDTH, PANEL_HEIGHT = 4.2, 2.9
LABEL_WIDTH = 1.85
LABEL_SIZE = 10.0
LINE_SPACING = 1.15
ROW_WIDTH = 0.62
"""Room for the names of the rows of a heat map, in inches."""
BARS = 0.8
"""Share of the distance between two groups that bars fill."""
_MEASURE = TextToPath()

Records = list[dict[str, Any]]


@dataclass(frozen=True)
class Panel:
    """What one panel shows: its records, and the figure's description and series with styles."""

    label: str
    description: Any
    series: dict[str, str | None]
    records: Records

    @property
    def differences(self) -> bool:
        """Whether the values are differences between systems."""
        return any(record["over"] for record in self.records)


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
        "heat_map": _heat_map,
    }
    labels = painters[panel.description.kind](axes, panel)
    if labels and math.isnan(labels[0][0]):
        return
    if not labels:
        axes.text(0.5, 0.5, values.NOT_RUN, transform=axes.transAxes, ha="center", color=GREY)
        axes.set_yticks([])
    _label(axes, labels)


def wrap(text: str, width: float, size: float, weight: str = "normal") -> list[str]:
    """Break a text into lines of at most `width` inches at a font size in points."""
    font = FontProperties(family=FONT, size=size, weight=weight)
    lines = [""]
    for word in text.split():
        longer = f"{lines[-1]} {word}".strip()
        # Extents come in points, 72 an inch.
        if _MEASURE.get_text_width_height_descent(longer, font, False)[0] > width * 72:
            lines.append(word)
        else:
            lines[-1] = longer
    return [line for line in lines if line]


def _width(text: str, size: float) -> float:
    """Width in inches of a text at a font size in points."""
    font = FontProperties(family=FONT, size=size)
    return float(_MEASURE.get_text_width_height_descent(text, font, False)[0]) / 72


def height(texts: list[str], size: float) -> float:
    """Height in inches of lines at a font size in points."""
    return len(texts) * size * LINE_SPACING * 1.2 / 72


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


def _lines(axes: Axes, panel: Panel) -> list[tuple[float, str, str]]:
    ticks = sorted({record["x"] for record in panel.records})
    at = _horizontal(axes, panel.description.x, ticks)
    labels: list[tuple[float, str, str]] = []
    for number, (name, style) in enumerate(panel.series.items()):
        colour, marker = COLOURS[number % len(COLOURS)], MARKERS[number % len(MARKERS)]
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


def _horizontal(axes: Axes, x: Axis, ticks: list[float]) -> dict[float, float]:
    """Set up the horizontal axis; returns where each value lies on it."""
    axes.set_xlabel(x.label)
    at = {tick: float(number if x.even else tick) for number, tick in enumerate(ticks)}
    places = list(at.values())
    if x.log:
        axes.set_xscale("log", base=2)
        room = (places[-1] / places[0]) ** 0.05 if len(places) > 1 else 1.5
        axes.set_xlim(places[0] / room, places[-1] * room)
    else:
        room = 0.05 * (places[-1] - places[0]) or 1.0
        axes.set_xlim(places[0] - room, places[-1] + room)
    _ticks(axes, places, [f"{tick:g}" for tick in ticks])
    return at


def _ticks(axes: Axes, places: list[float], names: list[str]) -> None:
    axes.xaxis.set_major_locator(FixedLocator(places))
    axes.xaxis.set_major_formatter(FixedFormatter(names))
    axes.xaxis.set_minor_locator(NullLocator())


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


def _bars(axes: Axes, panel: Panel) -> list[tuple[float, str, str]]:
    categories = {record["x"]: record["category"] for record in panel.records}
    axes.set_xlabel(panel.description.x.label)
    places = sorted(categories)
    axes.set_xlim(places[0] - 0.5, places[-1] + 0.5)
    _ticks(axes, places, [categories[place] for place in places])
    axes.tick_params(axis="x", length=0)
    width = BARS / len(panel.series)
    labels: list[tuple[float, str, str]] = []
    edges: list[float] = []
    for number, name in enumerate(panel.series):
        colour, marker = COLOURS[number % len(COLOURS)], MARKERS[number % len(MARKERS)]
        points = [record for record in _own(panel, name) if record["status"] == "run"]
        shift = (number - (len(panel.series) - 1) / 2) * width
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


def _curves(axes: Axes, panel: Panel) -> list[tuple[float, str, str]]:
    axes.set_xlabel(panel.description.x.label)
    axes.xaxis.set_major_locator(MaxNLocator(nbins=5))
    labels: list[tuple[float, str, str]] = []
    for number, name in enumerate(panel.series):
        colour, marker = COLOURS[number % len(COLOURS)], MARKERS[number % len(MARKERS)]
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


def _scatter(axes: Axes, panel: Panel) -> list[tuple[float, str, str]]:
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
    labels: list[tuple[float, str, str]] = []
    for number, (name, style) in enumerate(panel.series.items()):
        colour, marker = COLOURS[number % len(COLOURS)], MARKERS[number % len(MARKERS)]
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
            at = (record["x"], record["ours"])
            if record["status"] != "run":
                at = (record["x_published"], record["published"])
            if record["category"] and (published or record["status"] == "run"):
                axes.annotate(
                    record["category"],
                    at,
                    xytext=(6, 4),
                    textcoords="offset points",
                    fontsize=8,
                    color=colour,
                )
        if heights:
            text = "\n".join(wrap(name, LABEL_WIDTH - 0.25, LABEL_SIZE))
            labels.append((_height_of(axes, heights[-1]), text, colour))
    axes.margins(x=0.12, y=0.12)
    return labels


def _axis_name(records: Records, key: str) -> str:
    measure = MEASURES[records[0][key]]
    return (
        f"{measure.label} ({measure.unit})" if measure.unit in ("ms", "s", "x") else measure.label
    )


def _height_of(axes: Axes, value: float) -> float:
    """Where labels, which are placed along a linear axis, have a value."""
    return value if axes.get_yscale() == "linear" else math.log10(value)


def _heat_map(axes: Axes, panel: Panel) -> list[tuple[float, str, str]]:
    axes.set_xlabel(panel.description.x.label)
    axes.set_ylabel("")
    points = [record for record in panel.records if record["status"] == "run"]
    if not points:
        return []
    rows = {record.get("y", record["row"]): record["row"] for record in points}
    columns = {record["x"]: record["category"] for record in points}
    image = np.full((len(rows), len(columns)), np.nan)
    places = {key: number for number, key in enumerate(rows)}
    across = {key: number for number, key in enumerate(sorted(columns))}
    for record in points:
        image[places[record.get("y", record["row"])], across[record["x"]]] = record["ours"]
    axes.grid(visible=False)
    drawn = axes.imshow(image, aspect="auto", cmap="viridis", interpolation="nearest")
    size = min(9.0, 72 * PANEL_HEIGHT / max(len(rows), 1))
    _ticks(axes, [float(at) for at in across.values()], [columns[key] for key in sorted(columns)])
    # Names that are wider than their columns are rotated.
    wide = max(_width(name, size) for name in columns.values()) > PANEL_WIDTH / len(columns)
    axes.tick_params(axis="x", labelsize=size, rotation=90 if wide else 0)
    axes.yaxis.set_major_locator(FixedLocator(list(places.values())))
    names = ["\n".join(wrap(name, ROW_WIDTH, size)) for name in rows.values()]
    axes.yaxis.set_major_formatter(FixedFormatter(names))
    axes.tick_params(axis="y", labelsize=size)
    box = axes.inset_axes((1.04, 0.0, 0.05, 1.0))
    bar = axes.figure.colorbar(drawn, cax=box)
    bar.ax.grid(visible=False)
    bar.set_label(MEASURES[points[0]["measure"]].label, fontsize=LABEL_SIZE)
    return [(math.nan, "", "")]


def _named(label: str, record: dict[str, Any]) -> str:
    """A series' name and its last value."""
    digits = MEASURES[record["measure"]].digits
    name = "\n".join(wrap(label, LABEL_WIDTH - 0.25, LABEL_SIZE))
    value = f"{record['ours']:+.{digits}f}" if record["over"] else f"{record['ours']:.{digits}f}"
    return f"{name}\n{value}"


def _band(record: dict[str, Any]) -> tuple[float, float]:
    """Standard deviation over seeds where there are several, else the bootstrap interval."""
    if record["spread"] is not None:
        return record["ours"] - record["spread"], record["ours"] + record["spread"]
    if record["low"] is not None:
        return record["low"], record["high"]
    return record["ours"], record["ours"]


def _label(axes: Axes, labels: list[tuple[float, str, str]]) -> None:
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

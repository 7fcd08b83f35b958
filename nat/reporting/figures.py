"""Figures as PDF, PNG and the CSV of the plotted points.

`lines` draws a measure against a number such as decoding steps, one panel per task. A series of
style `level` has one point and is drawn across the panel, to be compared with a curve.
"""

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib as mpl
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import TextToPath
from matplotlib.ticker import FixedFormatter, FixedLocator, MaxNLocator, NullLocator

from nat.configuration import Configuration
from nat.files import atomic_path
from nat.measures import bleu
from nat.reporting import grid

# Okabe and Ito's colours, which colour-blind readers tell apart; markers differ as well.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00")
MARKERS = ("o", "D", "s", "^", "v", "P")
GREY = "#555555"
FONT = "DejaVu Sans"
STYLE: Any = {
    "font.size": 11.0,
    "font.family": "sans-serif",
    "font.sans-serif": [FONT],
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": GREY,
    "axes.axisbelow": True,
    "axes.grid": True,
    "axes.grid.axis": "y",
    "grid.color": "#E4E4E4",
    "xtick.color": GREY,
    "ytick.color": GREY,
    "xtick.labelcolor": "black",
    "ytick.labelcolor": "black",
    "pdf.fonttype": 42,
    "text.usetex": False,
}
# All lengths in inches, font sizes in points.
PANEL_WIDTH, PANEL_HEIGHT = 4.2, 2.9
YLABEL_WIDTH, XLABEL_HEIGHT, PANEL_TITLE_HEIGHT, LABEL_WIDTH = 0.75, 0.6, 0.35, 1.85
MARGIN, GAP = 0.15, 0.1
TITLE_SIZE, ORIGIN_SIZE, LABEL_SIZE, NOTE_SIZE = 13.0, 10.5, 10.0, 9.0
LINE_SPACING = 1.15
DOTS_PER_INCH = 160
_MEASURE = TextToPath()

Records = list[dict[str, Any]]


@dataclass(frozen=True)
class Plot:
    """A figure's headline, its description and its records (one per point)."""

    headline: grid.Headline
    description: Any
    records: Records


def make(configuration: Configuration, paper: str, number: str) -> Plot:
    """Read the points of a figure from the score files below the root of the configuration.

    Raises:
        UserError: as `grid.entries`, and for damaged score files.
    """
    root = Path(configuration.root)
    records = [
        {"paper": paper, "figure": number}
        | grid.record(configuration.scale, entry, grid.read(entry, root))
        for entry in grid.entries(configuration, paper, "figure", number)
    ]
    return Plot(
        headline=grid.headline(configuration, paper, "figure", number),
        description=grid.describe(configuration, paper, "figure", number),
        records=records,
    )


def write(plot: Plot, pdf: Path) -> None:
    """Write `pdf`, and PNG and CSV beside it; the same records give the same bytes."""
    with mpl.rc_context(STYLE):
        figure = lines(plot)
        for path, metadata in (
            (pdf.with_suffix(".png"), {"Software": None}),
            (pdf, {"CreationDate": None, "Producer": None, "Creator": None}),
        ):
            with atomic_path(path) as temporary:
                figure.savefig(
                    temporary, format=path.suffix[1:], dpi=DOTS_PER_INCH, metadata=metadata
                )
    with atomic_path(pdf.with_suffix(".csv")) as temporary:
        frame = pd.DataFrame(plot.records).rename(columns={"row": "series", "column": "panel"})
        frame.drop(columns="group").to_csv(temporary, index=False, lineterminator="\n")


def lines(plot: Plot) -> Figure:
    """Draw a figure of kind `lines`: title, panels (two a row) and notes from top to bottom."""
    panels = [panel["label"] for panel in plot.description["panels"]]
    columns = min(len(panels), 2)
    rows = math.ceil(len(panels) / columns)
    width = MARGIN + columns * (YLABEL_WIDTH + PANEL_WIDTH + LABEL_WIDTH)
    text_width = width - 2 * MARGIN
    title = _wrap(plot.headline.title, text_width, TITLE_SIZE, "bold")
    origin = _wrap(plot.headline.origin, text_width, ORIGIN_SIZE)
    notes = _wrap(" ".join(_notes(plot)), text_width, NOTE_SIZE)
    head = MARGIN + _height(title, TITLE_SIZE) + GAP + _height(origin, ORIGIN_SIZE) + GAP
    foot = MARGIN + _height(notes, NOTE_SIZE) + GAP
    row_height = PANEL_TITLE_HEIGHT + PANEL_HEIGHT + XLABEL_HEIGHT
    height = head + rows * row_height + foot
    figure = Figure(figsize=(width, height))
    for number, panel in enumerate(panels):
        row, column = divmod(number, columns)
        left = MARGIN + column * (YLABEL_WIDTH + PANEL_WIDTH + LABEL_WIDTH) + YLABEL_WIDTH
        top = height - head - row * row_height - PANEL_TITLE_HEIGHT
        box = (left / width, (top - PANEL_HEIGHT) / height)
        axes = figure.add_axes((*box, PANEL_WIDTH / width, PANEL_HEIGHT / height))
        _panel(axes, plot, panel)
    top = height - MARGIN
    styles: tuple[tuple[list[str], float, dict[str, Any]], ...] = (
        (title, TITLE_SIZE, {"fontweight": "bold"}),
        (origin, ORIGIN_SIZE, {"color": GREY}),
    )
    for texts, size, style in styles:
        figure.text(
            MARGIN / width,
            top / height,
            "\n".join(texts),
            ha="left",
            va="top",
            fontsize=size,
            linespacing=LINE_SPACING,
            **style,
        )
        top -= _height(texts, size) + GAP
    figure.text(
        MARGIN / width,
        MARGIN / height,
        "\n".join(notes),
        ha="left",
        va="bottom",
        fontsize=NOTE_SIZE,
        color=GREY,
        linespacing=LINE_SPACING,
    )
    return figure


def _wrap(text: str, width: float, size: float, weight: str = "normal") -> list[str]:
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


def _height(texts: list[str], size: float) -> float:
    """Height in inches of lines at a font size in points."""
    return len(texts) * size * LINE_SPACING * 1.2 / 72


def _panel(axes: Axes, plot: Plot, panel: str) -> None:
    series = plot.description["series"]
    records = [record for record in plot.records if record["column"] == panel]
    corpora = dict.fromkeys(record["corpus"] for record in records if record["stand_in"])
    stand_in = [corpus for corpus in corpora if corpus != records[0]["task"]]
    name = f"{panel} (stand-in: {', '.join(stand_in)})" if stand_in else panel
    axes.set_title(name, loc="left", fontsize=11)
    ticks = sorted({record["x"] for record in records})
    _horizontal(axes, plot.description["x"], ticks)
    axes.set_ylabel(grid.MEASURES[records[0]["measure"]].label)
    axes.yaxis.set_major_locator(MaxNLocator(nbins=6, steps=[1, 2, 5, 10]))
    labels: list[tuple[float, str, str]] = []
    for number, description in enumerate(series):
        colour, marker = COLOURS[number % len(COLOURS)], MARKERS[number % len(MARKERS)]
        own = [record for record in records if record["row"] == description["label"]]
        points = [record for record in own if record["status"] == "run"]
        if not points:
            continue
        level = description.get("style") == "level"
        if level:
            _level(axes, points[0], colour, marker)
        else:
            _curve(axes, points, colour, marker)
        _published(axes, own, colour, marker)
        last = max(points, key=lambda record: record["x"])
        value = f"{last['ours']:.{grid.MEASURES[last['measure']].digits}f}"
        name = "\n".join(_wrap(description["label"], LABEL_WIDTH - 0.25, LABEL_SIZE))
        labels.append((last["ours"], f"{name}\n{value}", colour))
    if not labels:
        axes.text(0.5, 0.5, grid.NOT_RUN, transform=axes.transAxes, ha="center", color=GREY)
        axes.set_yticks([])
    axes.margins(y=0.12)
    _label(axes, labels)


def _horizontal(axes: Axes, x: dict[str, Any], ticks: list[float]) -> None:
    axes.set_xlabel(x["label"])
    if x.get("log"):
        axes.set_xscale("log", base=2)
        room = (ticks[-1] / ticks[0]) ** 0.05 if len(ticks) > 1 else 1.5
        axes.set_xlim(ticks[0] / room, ticks[-1] * room)
    else:
        room = 0.05 * (ticks[-1] - ticks[0]) or 1.0
        axes.set_xlim(ticks[0] - room, ticks[-1] + room)
    axes.xaxis.set_major_locator(FixedLocator(ticks))
    axes.xaxis.set_major_formatter(FixedFormatter([f"{tick:g}" for tick in ticks]))
    axes.xaxis.set_minor_locator(NullLocator())


def _curve(axes: Axes, points: Records, colour: str, marker: str) -> None:
    points = sorted(points, key=lambda record: record["x"])
    x = [record["x"] for record in points]
    low, high = zip(*(_band(record) for record in points), strict=True)
    axes.fill_between(x, low, high, color=colour, alpha=0.15, linewidth=0)
    axes.plot(x, [record["ours"] for record in points], color=colour, marker=marker, linewidth=2)


def _level(axes: Axes, point: dict[str, Any], colour: str, marker: str) -> None:
    low, high = _band(point)
    axes.axhspan(low, high, color=colour, alpha=0.12, linewidth=0)
    axes.axhline(point["ours"], color=colour, linewidth=1.6, linestyle=(0, (5, 2)))
    axes.plot(point["x"], point["ours"], color=colour, marker=marker, markersize=8, zorder=3)


def _published(axes: Axes, points: Records, colour: str, marker: str) -> None:
    """Published values, where the numbers beside them are of the paper's corpus and scale."""
    for record in points:
        if _shows_published(record):
            axes.plot(
                record["x"],
                record["published"],
                color=colour,
                marker=marker,
                markersize=9,
                markerfacecolor="none",
                linestyle="none",
            )


def _shows_published(record: dict[str, Any]) -> bool:
    return record["published"] is not None and record["status"] == "run" and not record["stand_in"]


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
    placed: list[list[float]] = []
    for value, text, _ in sorted(labels):
        half = _height(text.split("\n"), LABEL_SIZE) / 2 + 0.03
        placed.append([(value - bottom) / (top - bottom) * PANEL_HEIGHT, half])
    # Up from the lowest label, then down again from the panel's top.
    for below, above in zip(placed, placed[1:], strict=False):
        above[0] = max(above[0], below[0] + below[1] + above[1])
    if placed and placed[-1][0] + placed[-1][1] > PANEL_HEIGHT + 0.2:
        placed[-1][0] = PANEL_HEIGHT + 0.2 - placed[-1][1]
    for above, below in zip(placed[::-1], placed[-2::-1], strict=False):
        below[0] = min(below[0], above[0] - above[1] - below[1])
    for (_, text, colour), (height, _) in zip(sorted(labels), placed, strict=True):
        axes.annotate(
            text,
            (1 + 0.12 / PANEL_WIDTH, height / PANEL_HEIGHT),
            xycoords="axes fraction",
            ha="left",
            va="center",
            fontsize=LABEL_SIZE,
            color=colour,
            annotation_clip=False,
            linespacing=LINE_SPACING,
        )


def _notes(plot: Plot) -> list[str]:
    notes = []
    ran = [record for record in plot.records if record["status"] == "run"]
    if any(record["spread"] is not None for record in ran):
        seeds = max((record["seeds"] for record in ran), key=len)
        notes.append(f"Bands: one standard deviation over seeds {', '.join(seeds.split())}.")
    elif any(record["low"] is not None for record in ran):
        notes.append(
            "Bands: 95% bootstrap intervals over test sentences "
            f"({bleu.BOOTSTRAP_SAMPLES:,} samples), one seed."
        )
    stand_ins = grid.stand_ins(plot.records)
    if stand_ins:
        notes.append(f"Not comparable with the paper: {stand_ins}.")
    if any(_shows_published(record) for record in plot.records):
        notes.append("Hollow markers: published values.")
    missing = _missing(plot.records)
    if missing:
        notes.append(f"Not run: {'; '.join(missing)}.")
    lost = sum(int(record["not_decoded"]) for record in ran)
    if lost:
        notes.append(f"{lost} sentences were not decoded and scored as empty.")
    return notes + list(plot.description.get("notes") or [])


def _missing(records: Records) -> list[str]:
    """What was not run, a whole panel or series in one piece."""
    missing = []
    for panel in dict.fromkeys(record["column"] for record in records):
        inside = [record for record in records if record["column"] == panel]
        if all(record["status"] != "run" for record in inside):
            missing.append(f"all of {panel}")
            continue
        for series in dict.fromkeys(record["row"] for record in inside):
            points = [
                f"{record['x']:g}"
                for record in inside
                if record["row"] == series and record["status"] not in ("run", grid.QUOTED)
            ]
            if points:
                missing.append(f"{series} at {', '.join(points)} ({panel})")
    return missing

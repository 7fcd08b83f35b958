"""Figures as PDF, PNG and the CSV of the plotted points.

Eight kinds, most with a panel for each task: `lines` draws a measure against a number such as
decoding steps (a series of style `level` has one point and is drawn across the panel), `bars`
compares systems in named categories, `curves` follows trainings, one after the other where they
start from each other, `scatter` draws a measure against another, `heat_map` shows a matrix,
`contour` a measure on a plane. `alignment` and `steps` show texts: the lines between two of them,
and a decoding pass by pass.
"""

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib as mpl
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.ticker import MaxNLocator

from nat.figures import maps, panels, point_names, word_panels
from nat.figures.drawing import (
    CHARACTER,
    COLUMN_WIDTH,
    GREY,
    LABEL_SIZE,
    PAGE_WIDTH,
    PANEL_HEIGHT,
    Panel,
    wrap,
)
from nat.figures.notes import OF_TEXTS, notes
from nat.figures.points import Plot
from nat.files import atomic_path
from nat.papers import values

STYLE: Any = {
    "font.size": 9.5,
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": GREY,
    "axes.axisbelow": True,
    "axes.grid": True,
    "axes.grid.axis": "y",
    "axes.titlelocation": "left",
    "axes.titlesize": 10.0,
    "grid.color": "#E4E4E4",
    "legend.fontsize": LABEL_SIZE,
    "legend.frameon": False,
    "xtick.color": GREY,
    "ytick.color": GREY,
    "xtick.labelcolor": "black",
    "ytick.labelcolor": "black",
    "pdf.fonttype": 42,
    "text.parse_math": False,
    "text.usetex": False,
}
PAINTERS: dict[str, Callable[[Axes, Panel], float | None]] = {
    "lines": panels.lines,
    "bars": panels.bars,
    "curves": panels.curves,
    "scatter": panels.scatter,
    "heat_map": maps.heat_map,
    "contour": maps.contour,
    "alignment": word_panels.alignment,
    "steps": word_panels.steps,
}
"""Those of kinds whose panels differ in height return it, in inches."""
DOTS_PER_INCH = 160
MARGIN, EMPTY_HEIGHT = 0.12, 0.6
"""Around the page, and height of a text that was not run, in inches."""


def write(plot: Plot, pdf: Path) -> None:
    """Write `pdf`, and PNG and CSV beside it; the same records give the same bytes."""
    with mpl.rc_context(STYLE):
        figure = draw(plot)
        for path, metadata in (
            (pdf.with_suffix(".png"), {"Software": None}),
            (pdf, {"CreationDate": None, "Producer": None, "Creator": None}),
        ):
            # the notes reach both sides of the page
            cut: dict[str, Any] = {"bbox_inches": "tight", "pad_inches": MARGIN}
            with atomic_path(path) as temporary:
                figure.savefig(temporary, format=path.suffix[1:], metadata=metadata, **cut)
    with atomic_path(pdf.with_suffix(".csv")) as temporary:
        frame = pd.DataFrame(plot.records).rename(columns={"row": "series", "column": "panel"})
        frame = frame.drop(columns="group", errors="ignore")
        frame.to_csv(temporary, index=False, lineterminator="\n")


def draw(plot: Plot) -> Figure:
    """Draw a figure: title, panels (two a row), names of series and notes from top to bottom."""
    kind, shown = plot.description.kind, [Panel(plot, label) for label in plot.figure.panels]
    width, columns = PAGE_WIDTH, 1 if kind in OF_TEXTS else min(len(shown), 2)
    if kind == "heat_map" and maps.crowded(shown):
        width, columns = maps.crowded(shown), 1
    elif columns == 1 and kind not in OF_TEXTS:
        width = COLUMN_WIDTH
    rows = math.ceil(len(shown) / columns)
    # room for all; the height is set when the layout is known
    layout = ConstrainedLayoutEngine(h_pad=0.08, w_pad=0.08, wspace=0.03)
    figure = Figure((width, 8 + rows * 8), DOTS_PER_INCH, layout=layout)
    body: Any = figure.subfigures()
    left: dict[str, Any] = {"x": 0.0, "ha": "left", "wrap": True}
    figure.suptitle(plot.figure.title, fontsize=11.5, fontweight="bold", **left)
    body.suptitle(plot.figure.origin, fontsize=10, color=GREY, **left)
    figure.supxlabel(" ".join(notes(plot)), fontsize=LABEL_SIZE, color=GREY, **left)
    grid = body.subplots(rows, columns, squeeze=False)
    for axes in grid.flat[len(shown) :]:
        axes.remove()
    heights = [_paint(axes, panel) for axes, panel in zip(grid.flat, shown, strict=False)]
    heights = [max(heights[first : first + columns]) for first in range(0, len(shown), columns)]
    grid[0, 0].get_gridspec().set_height_ratios(heights)
    series: dict[str, Any] = {}
    for axes in body.axes:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            series.setdefault(label, handle)
    if series:
        names = [name for name in plot.figure.series if name in series]
        handles = [series[name] for name in names]
        fit = int(width / CHARACTER / (max(map(len, names)) + 7))
        style: dict[str, Any] = {"loc": "outside lower left", "labelcolor": "linecolor"}
        body.legend(handles, names, ncols=max(1, min(fit, len(names))), **style)
    figure.draw_without_rendering()
    drawn = sum(axes.bbox.height for axes in grid[:, 0]) / DOTS_PER_INCH
    figure.set_figheight(figure.get_figheight() - drawn + sum(heights))
    figure.draw_without_rendering()
    figure.set_layout_engine("none")
    for axes in body.axes if kind == "scatter" else ():
        point_names.arrange(axes)
    return figure


def _paint(axes: Axes, panel: Panel) -> float:
    """Draw a panel: its title, its axes and what its kind shows; returns its height, inches."""
    kind = panel.description.kind
    corpora = dict.fromkeys(each["corpus"] for each in panel.records if each["stand_in"])
    stand_in = [corpus for corpus in corpora if corpus and corpus != panel.records[0]["task"]]
    name = f"{panel.label} (stand-in: {', '.join(stand_in)})" if stand_in else panel.label
    axes.set_title(wrap(name, 58))
    axes.yaxis.set_major_locator(MaxNLocator(nbins=6, steps=[1, 2, 5, 10]))
    height: float | None = EMPTY_HEIGHT
    if kind in OF_TEXTS and panel.label not in panel.plot.contents:
        axes.set_axis_off()
    else:
        axes.set_ylabel("" if kind in OF_TEXTS else panel.measure)
        height = PAINTERS[kind](axes, panel)
    if not panel.ran and not axes.has_data():
        why = values.missing_state(panel.records)
        axes.text(0.5, 0.5, why, transform=axes.transAxes, ha="center", color=GREY)
        axes.set_yticks([])
        if kind in ("scatter", "curves"):
            axes.set_xticks([])
    return height or PANEL_HEIGHT

"""Figures as PDF, PNG and the CSV of the plotted points.

A painter for each kind draws a panel, most often of a task, from the frame of its points.
"""

import math
import textwrap
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine

from nat.data.flags import counted
from nat.figures import drawing, maps, panels, word_panels
from nat.figures.drawing import CHARACTER, GREY, LABEL_SIZE, Panel
from nat.figures.points import Plot
from nat.files import atomic_path
from nat.papers import values
from nat.papers.cells import QUOTED

STYLE: Any = {
    "font.size": 9.5,
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
    "pdf.fonttype": 42,
    "text.parse_math": False,
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
MARKS = {"lines": "Bands", "curves": "Bands", "bars": "Black lines", "scatter": "Thin lines"}
"""Marks of intervals; colours and texts have none."""
OF_TEXTS = {
    "alignment": "Coloured lines: to another position.",
    "steps": "Tinted: chosen in this pass; black: kept from an earlier pass; dots: masked.",
}
"""Kinds that show texts, across the page, with the meaning of their marks."""
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
            # title and notes stand above and below the page
            grown: dict[str, Any] = {"bbox_inches": "tight", "pad_inches": MARGIN}
            with atomic_path(path) as temporary:
                figure.savefig(temporary, format=path.suffix[1:], metadata=metadata, **grown)
    with atomic_path(pdf.with_suffix(".csv")) as temporary:
        frame = pd.DataFrame(plot.records).rename(columns={"row": "series", "column": "panel"})
        frame = frame.drop(columns="group", errors="ignore")
        frame.to_csv(temporary, index=False, lineterminator="\n")


def draw(plot: Plot) -> Figure:
    """Draw a figure: title, panels (two a row), names of series and notes from top to bottom.

    Panels without points are left out, and named in the notes, if others have some.
    """
    kind, shown = plot.figure.described.kind, _drawn(plot)
    width, columns = drawing.PAGE_WIDTH, 1 if kind in OF_TEXTS else min(len(shown), 2)
    if kind == "heat_map" and maps.crowded(shown):
        width, columns = maps.crowded(shown), 1
    elif columns == 1 and kind not in OF_TEXTS:
        width = drawing.COLUMN_WIDTH
    rows = math.ceil(len(shown) / columns)
    # room for all; the height is set when the layout is known
    layout = ConstrainedLayoutEngine(h_pad=0.08, w_pad=0.08, wspace=0.03)
    figure = Figure((width, 8 + rows * 8), DOTS_PER_INCH, layout=layout)
    FigureCanvasAgg(figure)
    left: dict[str, Any] = {"x": 0.0, "ha": "left"}
    figure.suptitle(plot.figure.origin, fontsize=10, color=GREY, wrap=True, **left)
    title = textwrap.fill(plot.figure.title, int(width / CHARACTER / 1.3))
    figure.text(y=1, s=title, va="bottom", fontsize=11.5, fontweight="bold", **left)
    said = " ".join(notes(plot))
    figure.text(y=0, s=said, va="top", fontsize=LABEL_SIZE, color=GREY, wrap=True, **left)
    grid = figure.subplots(rows, columns, squeeze=False)
    for axes in grid.flat[len(shown) :]:
        axes.remove()
    heights = [_paint(axes, panel) for axes, panel in zip(grid.flat, shown, strict=False)]
    heights = [max(heights[first : first + columns]) for first in range(0, len(shown), columns)]
    grid[0, 0].get_gridspec().set_height_ratios(heights)
    series: dict[str, Any] = {}
    for axes in figure.axes:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            series.setdefault(label, handle)
    if names := [name for name in plot.figure.rows if name in series]:
        fit = int(width / CHARACTER / (max(map(len, names)) + 7))
        ncols, handles = max(1, min(fit, len(names))), [series[name] for name in names]
        look: dict[str, Any] = {"loc": "outside lower left", "labelcolor": "linecolor"}
        figure.legend(handles, names, ncols=ncols, **look)
    figure.draw_without_rendering()
    drawn = sum(axes.bbox.height for axes in grid[:, 0]) / DOTS_PER_INCH
    figure.set_figheight(figure.get_figheight() - drawn + sum(heights))
    figure.draw_without_rendering()
    figure.set_layout_engine("none")
    for legend in figure.legends:  # else it would move when the page grows around the notes
        legend.set_bbox_to_anchor((0, 0, 1, 1), figure.transFigure)
    for axes, panel in zip(grid.flat, shown if kind == "scatter" else (), strict=False):
        panels.name_points(axes, panel)
    return figure


def _drawn(plot: Plot) -> list[Panel]:
    """The panels that have points, or all if none has any."""
    panels = [Panel(plot, label) for label in plot.figure.columns]
    return [panel for panel in panels if not panel.empty] or panels


def _paint(axes: Axes, panel: Panel) -> float:
    """Draw a panel: its title, its axes and what its kind shows; returns its height, inches."""
    kind, points = panel.description.kind, panel.points
    corpora = [name for name in points[points["stand_in"] != ""]["corpus"].unique() if name]
    stand_in = [name for name in corpora if name != points["task"].iloc[0]]
    name = f"{panel.label} (stand-in: {', '.join(stand_in)})" if stand_in else panel.label
    axes.set_title(textwrap.fill(name, 58))
    axes.locator_params("y", nbins=6, steps=[1, 2, 5, 10])
    height: float | None = EMPTY_HEIGHT
    if kind in OF_TEXTS and panel.label not in panel.plot.contents:
        axes.set_axis_off()
    else:
        axes.set_ylabel("" if kind in OF_TEXTS else panel.measure)
        height = PAINTERS[kind](axes, panel)
    if panel.empty:
        why = values.missing_state(points.to_dict("records"))  # type: ignore[arg-type]
        axes.text(0.5, 0.5, why, transform=axes.transAxes, ha="center", color=GREY)
        axes.set_yticks([])
        if kind in ("scatter", "curves"):
            axes.set_xticks([])
    return height or drawing.PANEL_HEIGHT


# Notes: what marks mean, and what is missing or not as it should be


def notes(plot: Plot) -> list[str]:
    """Make the notes of a figure."""
    ran = [record for record in plot.records if record["status"] == "run"]
    kind, shown = plot.figure.described.kind, _drawn(plot)
    lines = [OF_TEXTS[kind]] if ran and kind in OF_TEXTS else []
    if marks := MARKS.get(kind):
        others = f"{marks}, one seed"
        if spread := [record for record in ran if record["spread"] is not None]:
            over = values.what_spreads_are_over(spread)
            lines = [f"{marks}: one standard deviation over {over}."]
            others = f"Other {marks.lower()}"
        with_x = (record for record in ran if record.get("x_low") is not None)
        around = [{"measure": each["x_measure"], "over": each["x_over"]} for each in with_x]
        around += [record for record in ran if record["low"] is not None]
        lines += values.what_intervals_are(others, around)
    lines += values.notes_on_times(ran)
    if not plot.figure.keys:  # the remark of an analysis is its caption
        names = (", ".join(filter(None, (each["row"], each["category"]))) for each in ran)
        points = [record | {"row": name} for record, name in zip(ran, names, strict=True)]
        remarks = [(point, point["remark"]) for point in points if point.get("remark")]
        unsteady = [(point, values.NOT_STEADY) for point in points if point.get(values.UNSTEADY)]
        lines += values.with_places(remarks + unsteady, points)
    lines += values.not_comparable(plot.records)
    if not all(panel.published.empty for panel in shown):
        lines.append("Hollow markers: published values.")
    if any(record["collapsed"] for record in ran):
        lines.append("Black cross: the training collapsed.")
    if not shown[0].empty:  # else they say so themselves
        lines += _missing(plot.frame, [panel.label for panel in shown])
    if lost := sum(int(record["not_decoded"]) for record in ran):
        lines.append(f"Not decoded and scored as empty: {counted(lost, 'sentence')}.")
    return lines + list(plot.figure.described.notes)


def _missing(points: pd.DataFrame, drawn: Sequence[str]) -> list[str]:
    """Say which panels are left out, and which series lack points in which others, by state."""
    places: dict[tuple[Any, Any], list[Any]] = {}
    left_out = points[~points["column"].isin(drawn)]
    for panel, own in left_out.groupby("column", sort=False):
        state = values.missing_state(own.to_dict("records"))  # type: ignore[arg-type]
        places.setdefault((state, ""), []).append(panel)
    lacking = points.drop(left_out.index)
    lacking = lacking[~lacking["status"].isin(["run", QUOTED])]
    for (why, series), own in lacking.groupby(["status", "row"], sort=False):
        where = f" ({'; '.join(own['column'].unique())})"
        places.setdefault((why, where), []).append(series)
    return [
        f"{state[:1].upper()}{state[1:]}: {'; '.join(names)}{where}."
        for (state, where), names in places.items()
    ]

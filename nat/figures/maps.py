"""Panels of values on a plane: heat maps and contour maps."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.patheffects import withStroke
from matplotlib.ticker import FixedFormatter, FixedLocator, MaxNLocator

from nat.figures.drawing import COLUMN_WIDTH, GREY, LABEL_SIZE, Panel, look, ticks, wrap
from nat.measures.known import MEASURES

COLOUR_MAP = "viridis"
LEVELS = 12
"""About the largest number of levels of a contour map."""
ROW_NAME = 12
"""Characters of a line of the name of a row."""
HEIGHT, NAME_DISTANCE = 3.3, 1.2 * LABEL_SIZE / 72
"""Of a panel, which is about as wide, and least distance between two names; inches."""


def heat_map(axes: Axes, panel: Panel) -> float:
    """Draw values as colours; returns the height at which all rows can be named, inches."""
    _label(axes, panel, "")
    if not panel.ran:
        return HEIGHT
    rows = {record.get("y", record["row"]): record["row"] for record in panel.ran}
    columns = dict(sorted((each["x"], each["category"]) for each in panel.ran))
    image = np.full((len(rows), len(columns)), np.nan)
    for record in panel.ran:
        place = [*rows].index(record.get("y", record["row"])), [*columns].index(record["x"])
        image[place] = record["ours"]
    # colours mean the same in every panel with the measure
    measures = {record["measure"] for record in panel.records}
    alike = [record["ours"] for record in panel.plot.records if record["measure"] in measures]
    values = [value for value in alike if value is not None]
    drawn = axes.imshow(
        image,
        aspect="auto",
        cmap=COLOUR_MAP,
        interpolation="nearest",
        vmin=min(values, default=None),
        vmax=max(values, default=None),
    )
    ticks(axes, [*range(len(columns))], [*columns.values()])
    axes.yaxis.set_major_locator(FixedLocator(range(len(rows))))
    axes.yaxis.set_major_formatter(FixedFormatter([wrap(row, ROW_NAME) for row in rows.values()]))
    axes.tick_params(axis="y", labelsize=LABEL_SIZE)
    _colours(axes, panel, drawn)
    return max(HEIGHT, NAME_DISTANCE * len(rows))


def crowded(shown: list[Panel]) -> float:
    """Width of a page on which all columns of heat maps can be named; 0 if half a page does."""
    names = max(len({record["x"] for record in panel.ran}) for panel in shown)
    width = 2.0 + NAME_DISTANCE * names
    return width if width > COLUMN_WIDTH else 0.0


def contour(axes: Axes, panel: Panel) -> float:
    """Draw lines of equal height, with named points; what was not run is left white.

    Returns the height of the panel, in inches.
    """
    _label(axes, panel, panel.description.y.label)
    for axis, drawn_axis in ((panel.description.x, axes.xaxis), (panel.description.y, axes.yaxis)):
        if axis.log:
            axes.set(**{f"{drawn_axis.axis_name}scale": "log"})
        else:
            drawn_axis.set_major_locator(MaxNLocator(nbins=6, steps=[1, 2, 5, 10]))
    grid = [record for record in panel.ran if not record["point"]]
    heights = {(record["x"], record["y"]): record["ours"] for record in grid}
    across, up = (sorted({place[side] for place in heights}) for side in (0, 1))
    if len(across) < 2 or len(up) < 2:
        text = "too few points for contours" if grid else ""
        axes.text(0.5, 0.5, text, transform=axes.transAxes, ha="center", color=GREY)
        return HEIGHT
    image = np.ma.masked_invalid([[heights.get((x, y), np.nan) for x in across] for y in up])
    drawn = axes.contourf(across, up, image, levels=LEVELS, cmap=COLOUR_MAP)
    lines: dict[str, Any] = {"colors": "white", "linewidths": 0.5, "linestyles": "solid"}
    # not at the lowest level: what is flat there would be full of lines
    axes.contour(across, up, image, levels=list(drawn.levels)[1:], **lines)
    _colours(axes, panel, drawn)
    stroke = [withStroke(linewidth=2.5, foreground="white")]
    for number, record in enumerate(record for record in panel.ran if record["point"]):
        x, y, marker = record["x"], record["y"], look(number)[1]
        style: dict[str, Any] = {"color": "black", "markeredgecolor": "white", "markersize": 9}
        axes.plot(x, y, marker=marker, clip_on=False, zorder=4, **style)
        # towards the middle, so that no name leaves the panel
        right, above = x > across[len(across) // 2], y > up[len(up) // 2]
        place: dict[str, Any] = {
            "xytext": (-8 if right else 8, -5 if above else 5),
            "ha": "right" if right else "left",
            "va": "top" if above else "bottom",
            "textcoords": "offset points",
        }
        text = record["point"]
        axes.annotate(text, (x, y), fontsize=LABEL_SIZE, path_effects=stroke, zorder=5, **place)
    return HEIGHT


def _label(axes: Axes, panel: Panel, vertical: str | None) -> None:
    """Name the axes; beside the name of that across stands what an analysis says of the panel."""
    caption = panel.plot.contents.get(panel.label, {}).get("caption")
    axes.set_xlabel(f"{panel.description.x.label}{f' ({caption})' if caption else ''}")
    axes.set_ylabel(vertical or "")
    axes.grid(visible=False)


def _colours(axes: Axes, panel: Panel, drawn: ScalarMappable) -> None:
    """Say what the colours mean, to the right."""
    bar = axes.figure.colorbar(drawn, cax=axes.inset_axes((1.04, 0.0, 0.05, 1.0)))
    bar.ax.grid(visible=False)
    matrix = panel.description.matrix
    label = MEASURES[panel.records[0]["measure"]].label
    bar.set_label((matrix and matrix.label) or label, fontsize=LABEL_SIZE)

"""Panels of values on a plane: heat maps and contour maps."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.patheffects import withStroke
from matplotlib.ticker import FixedFormatter, FixedLocator, MaxNLocator

from nat.figures.drawing import (
    GREY,
    LABEL_SIZE,
    PANEL_HEIGHT,
    PANEL_WIDTH,
    Labels,
    Panel,
    look,
    ticks,
    width_of,
    wrap,
)
from nat.measures.known import MEASURES

COLOUR_MAP = "viridis"
LEVELS = 12
"""About the largest number of levels of a contour map."""
ROW_WIDTH = 0.62
"""Room for the names of the rows of a heat map, in inches."""
NAME_SIZE = 9.0
"""Font size of the names of the rows and columns of a heat map, in points."""
NAME_DISTANCE = 1.2 * NAME_SIZE / 72
"""Least distance between two of them, in inches."""


def heat_map(axes: Axes, panel: Panel) -> Labels:
    """Values as colours; nothing is labelled to the right but the colours."""
    axes.set_xlabel(_captioned(panel))
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
    low, high = panel.limits or (None, None)  # colours mean the same in every panel
    drawn = axes.imshow(
        image, aspect="auto", cmap=COLOUR_MAP, interpolation="nearest", vmin=low, vmax=high
    )
    ticks(axes, [float(at) for at in across.values()], [columns[key] for key in sorted(columns)])
    axes.tick_params(axis="x", labelsize=NAME_SIZE, rotation=90 if panel.upright else 0)
    axes.yaxis.set_major_locator(FixedLocator(list(places.values())))
    names = ["\n".join(wrap(name, ROW_WIDTH, NAME_SIZE)) for name in rows.values()]
    axes.yaxis.set_major_formatter(FixedFormatter(names))
    axes.tick_params(axis="y", labelsize=NAME_SIZE)
    _colours(axes, panel, drawn)
    return []


def size(panel: Panel) -> tuple[float, float]:
    """Width and height at which the names of the rows and columns have room, inches."""
    points = [record for record in panel.records if record["status"] == "run"]
    columns = {record["x"] for record in points}
    rows = {record.get("y", record["row"]) for record in points}
    return (
        max(PANEL_WIDTH, NAME_DISTANCE * len(columns)),
        max(PANEL_HEIGHT, NAME_DISTANCE * len(rows)),
    )


def names(panel: Panel) -> tuple[float, bool]:
    """Width of the widest name of a column, inches, and whether all stand beside each other."""
    points = [record for record in panel.records if record["status"] == "run"]
    columns = {record["x"]: record["category"] for record in points}
    widest = max((width_of(name, NAME_SIZE) for name in columns.values()), default=0.0)
    return widest, widest * len(columns) <= size(panel)[0]


def contour(axes: Axes, panel: Panel) -> Labels:
    """Lines of equal height over a grid, with named points; what was not run is left white."""
    horizontal, vertical = panel.description.x, panel.description.y
    axes.set_xlabel(_captioned(panel))
    axes.set_ylabel(vertical.label)
    axes.grid(visible=False)
    for axis, scale, drawn_axis in (
        (horizontal, axes.set_xscale, axes.xaxis),
        (vertical, axes.set_yscale, axes.yaxis),
    ):
        if axis.log:
            scale("log")
        else:
            drawn_axis.set_major_locator(MaxNLocator(nbins=6, steps=[1, 2, 5, 10]))
    ran = [record for record in panel.records if record["status"] == "run"]
    if not ran:
        return []
    heights = {(record["x"], record["y"]): record["ours"] for record in ran if not record["point"]}
    across, up = (sorted({place[side] for place in heights}) for side in (0, 1))
    if len(across) < 2 or len(up) < 2:
        text = "too few points for contours"
        axes.text(0.5, 0.5, text, transform=axes.transAxes, ha="center", color=GREY)
        return []
    image = np.ma.masked_invalid([[heights.get((x, y), np.nan) for x in across] for y in up])
    drawn = axes.contourf(across, up, image, levels=LEVELS, cmap=COLOUR_MAP)
    lines: dict[str, Any] = {"colors": "white", "linewidths": 0.5, "linestyles": "solid"}
    # not at the lowest level: what is flat there would be full of lines
    axes.contour(across, up, image, levels=list(drawn.levels)[1:], **lines)
    _colours(axes, panel, drawn)
    marks = [record for record in ran if record["point"]]
    for number, record in enumerate(marks):
        axes.plot(
            record["x"],
            record["y"],
            color="black",
            marker=look(number)[1],
            markersize=9,
            markeredgecolor="white",
            linestyle="none",
            clip_on=False,
            zorder=4,
        )
        # towards the middle, so that no name leaves the panel
        right = record["x"] > across[len(across) // 2]
        above = record["y"] > up[len(up) // 2]
        axes.annotate(
            record["point"],
            (record["x"], record["y"]),
            xytext=(-8 if right else 8, -5 if above else 5),
            ha="right" if right else "left",
            va="top" if above else "bottom",
            textcoords="offset points",
            fontsize=LABEL_SIZE,
            path_effects=[withStroke(linewidth=2.5, foreground="white")],
            zorder=5,
        )
    return []


def _captioned(panel: Panel) -> str:
    """The name of the axis across, and what else the analysis says of the panel."""
    caption = (panel.content or {}).get("caption")
    label = str(panel.description.x.label)
    return f"{label} ({caption})" if caption else label


def _colours(axes: Axes, panel: Panel, drawn: ScalarMappable) -> None:
    """What the colours mean, to the right."""
    bar = axes.figure.colorbar(drawn, cax=axes.inset_axes((1.04, 0.0, 0.05, 1.0)))
    bar.ax.grid(visible=False)
    matrix = panel.description.matrix
    label = MEASURES[panel.records[0]["measure"]].label
    bar.set_label((matrix and matrix.label) or label, fontsize=LABEL_SIZE)

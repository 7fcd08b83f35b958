"""Panels of values on a plane: heat maps and contour maps."""

import textwrap
from typing import Any

from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.patheffects import withStroke

from nat.figures.drawing import COLUMN_WIDTH, LABEL_SIZE, Panel, look, ticks
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
    _label(axes, panel)
    if panel.ran.empty:
        return HEIGHT
    image = panel.ran.pivot(index="y", columns="x", values="ours")
    # colours mean the same in every panel with the measure
    points = panel.plot.frame
    alike = points[points["measure"].isin(panel.points["measure"])]["ours"]
    limits: dict[str, Any] = {"vmin": alike.min(), "vmax": alike.max()}
    drawn = axes.imshow(image, aspect="auto", cmap=COLOUR_MAP, **limits)
    rows, columns = panel.ran.drop_duplicates("y"), panel.ran.drop_duplicates("x")["category"]
    ticks(axes, [*range(len(columns))], [*columns])
    names = [textwrap.fill(name, ROW_NAME) for name in rows["row"]]
    axes.set_yticks(range(len(rows)), names, fontsize=LABEL_SIZE)
    _colours(axes, panel, drawn)
    return max(HEIGHT, NAME_DISTANCE * len(rows))


def crowded(panels: list[Panel]) -> float:
    """Width of a page on which all columns of heat maps can be named; 0 if half a page does."""
    width = 2.0 + NAME_DISTANCE * max(panel.ran["x"].nunique() for panel in panels)
    return width if width > COLUMN_WIDTH else 0.0


def contour(axes: Axes, panel: Panel) -> float:
    """Draw lines of equal height, with named points; what was not run is left white.

    Returns the height of the panel, in inches.
    """
    _label(axes, panel)
    axes.locator_params(nbins=6, steps=[1, 2, 5, 10])
    if panel.ran.empty:
        return HEIGHT
    named = panel.ran["point"] != ""
    image = panel.ran[~named].pivot(index="y", columns="x", values="ours")
    drawn = axes.contourf(image.columns, image.index, image, levels=LEVELS, cmap=COLOUR_MAP)
    thin: dict[str, Any] = {"colors": "white", "linewidths": 0.5, "linestyles": "solid"}
    # not at the lowest level: what is flat there would be full of lines
    axes.contour(image.columns, image.index, image, levels=[*drawn.levels][1:], **thin)
    _colours(axes, panel, drawn)
    marks = panel.ran[named][["x", "y", "point"]].itertuples(index=False)
    for number, (x, y, name) in enumerate(marks):
        dot: dict[str, Any] = {"color": "black", "markeredgecolor": "white", "markersize": 9}
        axes.plot(x, y, marker=look(number)[1], clip_on=False, zorder=4, **dot)
        # towards the middle, so that it does not leave the panel
        side = "right" if x > image.columns[len(image.columns) // 2] else "left"
        halo = [withStroke(linewidth=2.5, foreground="white")]
        style: dict[str, Any] = {"ha": side, "fontsize": LABEL_SIZE, "path_effects": halo}
        style["textcoords"] = "offset points"
        axes.annotate(name, (x, y), (-8 if side == "right" else 8, 5), zorder=5, **style)
    return HEIGHT


def _label(axes: Axes, panel: Panel) -> None:
    """Name the axes, and beside the horizontal one what an analysis says of the panel."""
    axes.set_ylabel(panel.description.y.label or "")
    caption = panel.plot.contents.get(panel.label, {}).get("caption")
    axes.set_xlabel(f"{panel.description.x.label}{f' ({caption})' if caption else ''}")
    axes.grid(visible=False)


def _colours(axes: Axes, panel: Panel, drawn: ScalarMappable) -> None:
    """Say what the colours mean, to the right."""
    bar = axes.figure.colorbar(drawn, ax=axes)
    bar.ax.grid(visible=False)
    label = MEASURES[panel.points["measure"].iloc[0]].label
    bar.set_label(panel.description.colours or label, fontsize=LABEL_SIZE)

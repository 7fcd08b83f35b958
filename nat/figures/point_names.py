"""Names of the points of a scatter plot: where there is room for them."""

import math
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.path import Path
from matplotlib.text import Annotation
from matplotlib.transforms import Bbox

from nat.figures.drawing import LABEL_SIZE

# All lengths in points, 72 an inch.
BESIDE, NEAR, FAR = 6, (14, 21, 29), (40, 52, 65)
"""Distances from a point to a name beside it, and to those that a line leads to."""
APART = 7
"""Half the width of a square around each point, in which the names of others do not stand."""
ANGLES = (0, 180, 90, -90, 45, 135, -45, -135, 60, 120, -60, -120, 25, 155, -25, -155)
"""From a point to its name, in degrees, the best first."""


def annotate(axes: Axes, place: tuple[float, float], name: str, colour: str) -> None:
    """Give a point a name, whose place `arrange` finds."""
    style: dict[str, Any] = {"fontsize": LABEL_SIZE, "color": colour}
    axes.annotate(name, place, (BESIDE, 0), textcoords="offset points", **style).set_in_layout(
        False
    )


def arrange(axes: Axes) -> None:
    """Move the names of points to where they cover nothing, once the layout is final.

    The nearest room is taken, if there is any away from lines and intervals. A name that finds
    none is left out; the CSV of the figure has it.
    """
    axes.autoscale_view()
    axes.autoscale(False)
    names = [text for text in axes.texts if isinstance(text, Annotation)]
    marked = [line.get_xydata() for line in axes.lines if line.get_marker() != "None"]
    dots = axes.transData.transform(np.vstack([np.zeros((0, 2)), *marked]))
    thin = [line.get_transform().transform_path(line.get_path()) for line in axes.lines]
    for drawn in axes.collections:
        thin += [axes.transData.transform_path(path) for path in drawn.get_paths()]
    bottom_left, top_right = axes.bbox.padded(-3).get_points()
    leaders: list[Path] = []
    taken: list[Bbox] = []
    tried = [
        (lines, far, math.radians(angle))
        for lines, lengths in ((thin, (BESIDE, *NEAR)), ([], (BESIDE, *NEAR, *FAR)))
        for far in lengths
        # a level line to a name would be hidden by the interval of its point
        for angle in (ANGLES if far == BESIDE else ANGLES[2:])
    ]
    # a longer name finds room in fewer places
    for name in sorted(names, key=lambda name: -len(name.get_text())):
        place = axes.transData.transform(name.xy)
        half = APART * axes.figure.dpi / 72
        around = [Bbox([dot - half, dot + half]) for dot in dots if math.dist(dot, place) > 1]
        for lines, far, angle in tried:
            across, up = round(far * math.cos(angle), 3), round(far * math.sin(angle), 3)
            name.set_position((across, up))
            name.set_horizontalalignment(
                "center" if not across else "left" if across > 0 else "right"
            )
            name.set_verticalalignment("center" if not up else "bottom" if up > 0 else "top")
            box = name.get_window_extent()
            corners = box.get_points()
            leader = Path([np.clip(place, *corners), place])
            if (
                (bottom_left <= corners[0]).all()
                and (corners[1] <= top_right).all()
                and not any(box.overlaps(each) for each in taken + around)
                and not any(each.intersects_bbox(box, filled=False) for each in lines + leaders)
                and (far == BESIDE or not any(leader.intersects_bbox(each) for each in taken))
            ):
                break
        else:
            name.set_visible(False)
            continue
        taken.append(box)
        if far != BESIDE:
            leaders.append(leader)
            ends = axes.transData.inverted().transform(leader.vertices)
            axes.plot(*ends.T, color=name.get_color(), linewidth=0.7, zorder=1)

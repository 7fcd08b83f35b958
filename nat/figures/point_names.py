"""Names of the points of a scatter plot: where there is room for them."""

import itertools
import math
from collections.abc import Iterator, Sequence

from matplotlib.axes import Axes

from nat.figures.drawing import HINTED, LINE_SPACING, width_of

NAME_SIZE = 9.0
"""Font size of names, in points."""
# All lengths in inches.
POINT, LINE = 0.06, 0.02
"""Half the width that points and thin lines take."""
GAP = 0.08
"""Distance from a point to a name beside it."""
FAR = (0.2, 0.3, 0.4, 0.55, 0.7, 0.9)
"""Lengths of lines that lead to a name."""
SHORT = 0.4
"""Length of the longest of these lines that is better than a name on a thin line."""
ANGLES = (90, 60, 120, 30, 150, 75, 105, 45, 135)
"""Angles of these lines above and below a point, in degrees, the best first; level lines would be
hidden by the interval of their point."""
NEARER = 1.25
"""Other points of its colour are at least so many times as far from a name as its own point."""
SAMPLED = 0.04
"""Distance of the places by which a line is found to cross something."""

Place = tuple[float, float]
Segment = tuple[Place, Place]
Named = tuple[float, float, str, str]
"""A point: its place, its name and its colour."""
Box = tuple[float, float, float, float]
"""Left, bottom, right and top."""


def name_points(axes: Axes, points: Sequence[Named], thin: Sequence[Segment] = ()) -> None:
    """Write the names of points near them, where neither points nor other names stand.

    No other point of its colour is nearer to a name than its own, unless a line leads to the name.
    A name that finds no room is left out; the CSV of the figure has it.

    Args:
        axes: with everything drawn, since the limits must not change any more.
        points: the ends of a series are named before those between them, if as short.
        thin: lines between two places, on which names stand only where there is no other room.
    """
    axes.autoscale_view()
    axes.autoscale(False)
    to_panel = axes.transScale + axes.transLimits
    size = tuple(side / axes.figure.dpi for side in axes.bbox.size)

    def inches(place: Place) -> Place:
        x, y = to_panel.transform(place)
        return float(x) * size[0], float(y) * size[1]

    places = [inches((x, y)) for x, y, _, _ in points]
    taken = [_around(place, POINT) for place in places]
    crossed = [
        _around(each, LINE) for first, last in thin for each in _along(inches(first), inches(last))
    ]
    order = _ends_first([colour for *_, colour in points])
    # a longer name finds room in fewer places
    for number in sorted(order, key=lambda number: -len(points[number][2])):
        place, (x, y, name, colour) = places[number], points[number]
        if not name:
            continue
        others = [
            each
            for each, (*_, its) in zip(places, points, strict=True)
            if its == colour and each != place
        ]
        solid = [box for box in taken if box != _around(place, POINT)]
        for box, led in _free(place, name, size, (solid, crossed), others):
            end = _nearest(box, place)
            if led:
                far = to_panel.inverted().transform((end[0] / size[0], end[1] / size[1]))
                axes.plot(*zip((x, y), far, strict=True), color=colour, linewidth=0.7, zorder=1)
                taken += _line(place, box)
            axes.annotate(
                name,
                (x, y),
                xytext=(72 * (box[0] - place[0]), 72 * (box[1] - place[1])),
                textcoords="offset points",
                fontsize=NAME_SIZE,
                color=colour,
                va="bottom",
            )
            taken.append(box)
            break


def _free(
    place: Place,
    name: str,
    size: Sequence[float],
    obstacles: tuple[list[Box], list[Box]],
    others: Sequence[Place],
) -> Iterator[tuple[Box, bool]]:
    """Where the name of a point may stand, the best first, and whether a line leads there.

    Args:
        place: of the point.
        name: of the point.
        size: of the panel.
        obstacles: what a name must not cover, and what it should not cover.
        others: points to which it must not be nearer, unless a line leads to it.
    """
    solid, thin = obstacles
    wide, tall = HINTED * width_of(name, NAME_SIZE), NAME_SIZE * LINE_SPACING / 72
    rounds = (([*solid, *thin], SHORT, True), (solid, FAR[-1], True), (solid, FAR[-1], False))
    for avoided, longest, near in rounds:
        for (across, up), led in _offsets(wide, tall, longest):
            left, bottom = place[0] + across, place[1] + up
            box = (left, bottom, left + wide, bottom + tall)
            inside = left >= 0 and box[2] <= size[0]
            inside = inside and bottom >= -POINT and box[3] <= size[1] + POINT
            if not inside or any(_overlap(box, each) for each in avoided):
                continue
            limit = NEARER * _distance(box, place)
            nearest = all(_distance(box, each) >= limit for each in others)
            if not (nearest if near else led):
                continue
            if led and any(_overlap(each, other) for each in _line(place, box) for other in solid):
                continue
            yield box, led


def _line(place: Place, box: Box) -> list[Box]:
    """What a line from a point to its name covers, but for the point, which may cover others."""
    places = _along(place, _nearest(box, place))
    return [_around(each, LINE) for each in places if math.dist(each, place) > 2 * POINT]


def _offsets(wide: float, tall: float, longest: float) -> Iterator[tuple[Place, bool]]:
    """From a point to the left and bottom of its name, and whether a line leads there."""
    for across in (GAP, -GAP - wide):
        for up in (POINT - tall / 2, POINT, -tall - LINE):
            yield (across, up), False
    for up in (POINT, -tall - POINT):
        yield (-wide / 2, up), False
    for far, angle in itertools.product([far for far in FAR if far <= longest], ANGLES):
        across, up = (far * part(math.radians(angle)) for part in (math.cos, math.sin))
        left = across - wide / 2 if angle == 90 else across - wide * (across < 0)
        yield (left, up), True
        yield (left, -up - tall), True


def _ends_first(colours: Sequence[str]) -> list[int]:
    """Numbers of points, series by series, the first and last of each in front."""
    found: list[int] = []
    for colour in dict.fromkeys(colours):
        own = [number for number, each in enumerate(colours) if each == colour]
        found += [*dict.fromkeys((own[0], own[-1])), *own[1:-1]]
    return found


def _around(place: Place, half: float) -> Box:
    return place[0] - half, place[1] - half, place[0] + half, place[1] + half


def _along(first: Place, last: Place) -> list[Place]:
    """Places along a line."""
    number = max(1, math.ceil(math.dist(first, last) / SAMPLED))
    steps = [step / number for step in range(number + 1)]
    (x, y), (far_x, far_y) = first, last
    return [(x + (far_x - x) * step, y + (far_y - y) * step) for step in steps]


def _overlap(first: Box, second: Box) -> bool:
    """Whether two boxes have a part in common."""
    return all(first[low] < second[low + 2] and second[low] < first[low + 2] for low in (0, 1))


def _nearest(box: Box, place: Place) -> Place:
    """The place of a box that is nearest to another place."""
    left, bottom, right, top = box
    return min(max(place[0], left), right), min(max(place[1], bottom), top)


def _distance(box: Box, place: Place) -> float:
    return math.dist(_nearest(box, place), place)

"""Names of the points of a scatter plot find room."""

import math
from collections.abc import Sequence
from typing import Any

from matplotlib.figure import Figure

from nat.figures.point_names import Named, Segment, name_points


def named(points: list[Named], thin: Sequence[Segment] = ()) -> tuple[Any, dict[str, Any]]:
    """Axes in which points are named, and where each name stands, in pixels."""
    axes = Figure().add_axes((0, 0, 1, 1))
    axes.scatter(*zip(*((x, y) for x, y, *_ in points), strict=True))
    axes.set(xlim=(0, 1), ylim=(0, 1))
    name_points(axes, points, thin)
    return axes, {text.get_text(): text.get_window_extent() for text in axes.texts}


def test_names_of_points_do_not_cover_each_other() -> None:
    alone = [(0.1, 0.1, "alone", "black"), (0.9, 0.9, "at the edge", "black")]
    crowd = [(0.5, 0.5, f"number {number} of a crowd", "black") for number in range(40)]
    axes, places = named(alone + crowd)
    # names beside the place of the crowd, and lines to those that found room further off
    assert {"alone", "at the edge"} < set(places) and 5 < len(places) < 42 and axes.lines
    boxes = list(places.values())
    for number, box in enumerate(boxes):
        assert not any(box.overlaps(other) for other in boxes[number + 1 :])


def test_no_point_of_a_series_is_nearer_to_a_name_than_its_own() -> None:
    x = {"32": 0.2, "16": 0.213, "8": 0.23, "1": 0.4}
    thin = [((place, 0.4), (place, 0.6)) for place in x.values()]
    axes, places = named([(place, 0.5, name, "black") for name, place in x.items()], thin)
    assert set(places) == set(x)
    led = [line.get_xdata()[0] for line in axes.lines]
    pixels = {each: axes.transData.transform((at, 0.5)) for each, at in x.items()}
    for name, box in places.items():
        away = {
            each: math.dist((min(max(at[0], box.x0), box.x1), min(max(at[1], box.y0), box.y1)), at)
            for each, at in pixels.items()
        }
        assert x[name] in led or min(away, key=away.__getitem__) == name


def test_names_are_not_written_on_thin_lines() -> None:
    points = [(0.5, 0.5, "a name", "black")]
    across = [((0.3, y / 100), (0.9, y / 100)) for y in range(49, 56)]
    axes, places = named(points, across)
    box = places["a name"]
    assert named(points)[1]["a name"].bounds != box.bounds
    heights = [axes.transData.transform(line)[0][1] for line in across]
    assert not any(box.y0 < y < box.y1 for y in heights)

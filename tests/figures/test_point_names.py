"""Names of the points of a scatter plot find room."""

import math
from collections.abc import Sequence
from typing import Any

from matplotlib.figure import Figure

from nat.figures import point_names

Place = tuple[float, float]


def named(
    points: Sequence[tuple[float, float, str]], thin: Sequence[tuple[Place, Place]] = ()
) -> tuple[Any, dict[str, Any]]:
    """Axes in which points are named, and where each name that found room stands, in pixels."""
    axes = Figure().add_axes((0, 0, 1, 1))
    axes.set(xlim=(0, 1), ylim=(0, 1))
    axes.plot(*zip(*((x, y) for x, y, _ in points), strict=True), marker="o", linestyle="none")
    for line in thin:
        axes.plot(*zip(*line, strict=True))
    for x, y, name in points:
        point_names.annotate(axes, (x, y), name, "black")
    point_names.arrange(axes)
    shown = [text for text in axes.texts if text.get_visible()]
    return axes, {text.get_text(): text.get_window_extent() for text in shown}


def test_names_of_points_do_not_cover_each_other() -> None:
    alone = [(0.1, 0.1, "alone"), (0.9, 0.9, "at the edge")]
    crowd = [(0.5, 0.5, f"number {number} of a crowd") for number in range(40)]
    axes, places = named(alone + crowd)
    # names beside the place of the crowd, and lines to those that found room further off
    assert {"alone", "at the edge"} < set(places) and 5 < len(places) < 42
    assert len(axes.lines) > 1
    boxes = list(places.values())
    for number, each in enumerate(boxes):
        assert not any(each.overlaps(other) for other in boxes[number + 1 :])


def test_no_point_is_nearer_to_a_name_than_its_own() -> None:
    x = {"32": 0.2, "16": 0.213, "8": 0.23, "1": 0.4}
    thin = [((place, 0.4), (place, 0.6)) for place in x.values()]
    axes, places = named([(place, 0.5, name) for name, place in x.items()], thin)
    assert set(places) == set(x)
    pixels = {each: axes.transData.transform((at, 0.5)) for each, at in x.items()}
    led = [line.get_xdata()[1] for line in axes.lines[len(thin) + 1 :]]
    for name, box in places.items():
        away = {
            each: math.dist((min(max(at[0], box.x0), box.x1), min(max(at[1], box.y0), box.y1)), at)
            for each, at in pixels.items()
        }
        assert (
            any(math.isclose(x[name], each) for each in led)
            or min(away, key=away.__getitem__) == name
        )


def test_names_are_not_written_on_thin_lines() -> None:
    points = [(0.5, 0.5, "a name")]
    across = [((0.3, y / 100), (0.9, y / 100)) for y in range(49, 56)]
    axes, places = named(points, across)
    box = places["a name"]
    assert named(points)[1]["a name"].bounds != box.bounds
    heights = [axes.transData.transform(line)[0][1] for line in across]
    assert not any(box.y0 < y < box.y1 for y in heights)

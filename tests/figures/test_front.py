"""The Pareto front of a scatter plot."""

import pytest

from nat.figures.panels import pareto_front


@pytest.mark.parametrize(
    ("points", "front"),
    [
        ([], []),
        ([(2.0, 5.0)], [(2.0, 5.0)]),
        ([(3.0, 9.0), (1.0, 5.0), (2.0, 4.0)], [(1.0, 5.0), (3.0, 9.0)]),
        ([(1.0, 5.0), (2.0, 5.0), (1.0, 3.0)], [(1.0, 5.0)]),
        ([(1.0, 1.0), (1.0, 1.0), (2.0, 2.0)], [(1.0, 1.0), (2.0, 2.0)]),
    ],
)
def test_no_other_is_lower_and_higher(
    points: list[tuple[float, float]], front: list[tuple[float, float]]
) -> None:
    assert pareto_front(points) == front

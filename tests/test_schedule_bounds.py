"""The least factorisation error of a schedule against all schedules."""

import itertools
from collections.abc import Iterator, Sequence

import numpy as np
import pytest

from nat.measures.revealing import Choice, Law, State, by_length, root, split
from nat.measures.schedule_bounds import at_random, least_errors, to_reveal
from tests.test_revealing import law


def schedules(width: int, steps: int) -> Iterator[list[list[int]]]:
    """All ways to reveal all positions in so many steps, some of which may do nothing."""
    for of_position in itertools.product(range(steps), repeat=width):
        yield [[i for i in range(width) if of_position[i] == step] for step in range(steps)]


def error(of: Law, schedule: list[list[int]]) -> float:
    def choose(states: Sequence[State], step: int) -> Iterator[Choice]:
        yield from (Choice(np.array(schedule[step - 1], dtype=int), None) for _ in states)

    return split([root(0, of)], choose, smallest=0)[0].factorisation


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_no_schedule_is_better(seed: int) -> None:
    [(_, of)] = by_length(law(seed, (4,), 9)).values()
    found = least_errors(of, 4)
    assert found is not None
    for steps in (1, 2, 3):
        least = min(error(of, each) for each in schedules(4, steps))
        assert found[steps - 1] == pytest.approx(least, abs=1e-12)
    assert found[3] == pytest.approx(0, abs=1e-12) and found[0] > 0.1


def test_positions_that_determine_each_other_are_one_class() -> None:
    """Two coins, each written at three positions, and a position that is always the same."""
    rows = [[a, b, a + 2, 9, b + 2, a + 4, b + 4] for a in (0, 1) for b in (0, 1)]
    of = Law(np.array(rows), np.full(4, 0.25))
    found = least_errors(of, 3, most_classes=2)
    assert found == pytest.approx([4 * np.log(2), 0, 0])
    assert least_errors(of, 3, most_classes=1) is None
    assert error(of, [[0, 1], [2, 3, 4, 5, 6]]) == pytest.approx(0)
    assert least_errors(Law(np.array([[6, 7]]), np.ones(1)), 2) == pytest.approx([0, 0])


def test_random_positions_are_no_better_than_the_bound() -> None:
    [(_, of)] = by_length(law(4, (6,), 12)).values()
    found = least_errors(of, 6)
    assert found is not None
    for steps in (1, 2, 3, 6):
        drawn = [split([root(0, of)], at_random(steps, seed), smallest=0)[0] for seed in range(20)]
        errors = [each.factorisation for each in drawn]
        assert min(errors) >= found[steps - 1] - 1e-12
        assert all(each.passes == pytest.approx(steps) and each.learning == 0 for each in drawn)
    assert np.mean(errors) == pytest.approx(0, abs=1e-12)


def test_as_many_positions_as_mask_predict() -> None:
    of = Law(np.zeros((1, 10), dtype=int), np.ones(1))
    counts = []
    revealed = np.zeros(10, dtype=bool)
    for step in (1, 2, 3, 4):
        counts.append(to_reveal(State(0, of, np.arange(1), revealed.copy(), 1.0), 4, step))
        revealed[: sum(counts)] = True
    assert counts == [3, 2, 3, 2]  # 7, 5, 2 and none stay masked

"""The least factorisation error of a schedule against all schedules."""

import itertools
from collections.abc import Iterator, Sequence

import numpy as np
import pytest

from nat.analyses import known_law
from nat.analyses.analysis import Pairs
from nat.analyses.known_law import STEPS, Known
from nat.analyses.revealing import Law, Revealed, State, by_length, root, split
from nat.analyses.schedule_bounds import at_random, counts, least_error, least_errors, sets_of
from nat.measures.known import MEASURES
from tests.analyses.conftest import Analyse
from tests.enumeration.test_revealing import law


def schedules(width: int, steps: int) -> Iterator[list[list[int]]]:
    """All ways to reveal all positions in so many steps, some of which may do nothing."""
    for of_position in itertools.product(range(steps), repeat=width):
        yield [[i for i in range(width) if of_position[i] == step] for step in range(steps)]


def error(of: Law, schedule: list[list[int]]) -> float:
    def choose(states: Sequence[State], step: int) -> Iterator[Revealed]:
        yield from (Revealed(np.array(schedule[step - 1], dtype=int), None) for _ in states)

    return split([root(0, of)], choose, smallest=0)[0].factorisation


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_no_schedule_is_better(seed: int) -> None:
    [(_, of)] = by_length(law(seed, (4,), 9)).values()
    sets = sets_of(of)
    found = least_errors(sets, 4)
    for steps in (1, 2, 3):
        least = min(error(of, each) for each in schedules(4, steps))
        assert found[steps - 1] == pytest.approx(least, abs=1e-12)
    assert found[3] == pytest.approx(0, abs=1e-12) and found[0] > 0.1


@pytest.mark.parametrize("sizes", [[2, 2], [1, 3], [3, 1], [1, 2, 1], [2, 1, 1], [1, 1, 1, 1]])
@pytest.mark.parametrize("copies", [(), (1, 1), (0, 2)])
def test_no_schedule_that_reveals_as_many_positions_is_better(
    sizes: list[int], copies: tuple[int, ...]
) -> None:
    """Copies of positions are of one class with them."""
    [(_, of)] = by_length(law(5, (4 - len(copies),), 9)).values()
    of = Law(
        of.tokens[:, [*range(4 - len(copies)), *(c % (4 - len(copies)) for c in copies)]],
        of.weights,
    )
    sets = sets_of(of)
    every = schedules(4, len(sizes))
    least = min(error(of, each) for each in every if list(map(len, each)) == sizes)
    assert least_error(sets, sizes) == pytest.approx(least, abs=1e-12)


def test_positions_that_determine_each_other_are_one_class() -> None:
    """Two coins, each written at three positions, and a position that is always the same."""
    rows = [[a, b, a + 2, 9, b + 2, a + 4, b + 4] for a in (0, 1) for b in (0, 1)]
    of = Law(np.array(rows), np.full(4, 0.25))
    sets = sets_of(of, most_classes=2)
    assert sets is not None and sets_of(of, most_classes=1) is None
    assert least_errors(sets, 3) == pytest.approx([4 * np.log(2), 0, 0])
    # with four positions first, one of these cannot but be told by the others
    assert least_error(sets, [4, 3]) == pytest.approx(np.log(2))
    assert least_error(sets, [3, 4]) == least_error(sets, [2, 5]) == pytest.approx(0)
    assert error(of, [[0, 1], [2, 3, 4, 5, 6]]) == pytest.approx(0)
    certain = sets_of(Law(np.array([[6, 7]]), np.ones(1)))
    assert certain is not None and least_errors(certain, 2) == pytest.approx([0, 0])
    assert least_error(certain, [1, 1]) == 0


def test_random_positions_are_no_better_than_the_bound() -> None:
    [(_, of)] = by_length(law(4, (6,), 12)).values()
    sets = sets_of(of)
    found = least_errors(sets, 6)
    for steps in (1, 2, 3, 6):
        drawn = [split([root(0, of)], at_random(steps, seed), smallest=0)[0] for seed in range(20)]
        errors = [each.factorisation for each in drawn]
        even = least_error(sets, counts(root(0, of), steps))
        assert min(errors) >= even - 1e-12 and even >= found[steps - 1] - 1e-12
        assert all(each.passes == pytest.approx(steps) and each.learning == 0 for each in drawn)
    assert np.mean(errors) == pytest.approx(0, abs=1e-12)


def test_what_is_written(monkeypatch: pytest.MonkeyPatch, analyse: Analyse) -> None:
    known = Known([np.array([7, 8])] * 2, [law(0, (2, 3)), law(1, (4,))], 5)
    monkeypatch.setattr(known_law, "sentences", lambda *_: known)
    found = analyse("schedule_bounds", "nat-raw", Pairs(None, (), (), 0, "test"), "micro")
    assert (found["sentences"], found["left_out"], found["covered"]) == (2, 5, 1)
    measures = {name: each["value"] for name, each in found["measures"].items()}
    names = [f"{schedule}_factorisation_{{}}" for schedule in ("bound", "even", "random")]
    # nothing to choose in one step, and the best, the best of even sizes and any of these in more
    bound, even, at_random_ = (measures[name.format(1)] for name in names)
    assert bound == even == at_random_ > 0
    for steps in STEPS:
        bound, even, at_random_ = (measures[name.format(steps)] for name in names)
        assert 0 <= bound <= even <= at_random_ + 1e-4
        assert {name.format(steps) for name in names} <= set(MEASURES)
        assert measures[f"random_kl_{steps}"] == at_random_
        assert measures[f"random_learning_{steps}"] == 0
        assert 1 <= measures[f"random_passes_{steps}"] <= steps
    assert bound == 0  # a step for each position

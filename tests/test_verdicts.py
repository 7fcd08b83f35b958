from functools import partial
from statistics import mean

import numpy as np
import pytest

from nat.claims import verdicts
from nat.papers.verdicts import FAILS, HOLDS, UNDECIDED, Compared, region, verdict
from nat.measures.significance import Estimate, Interval


@pytest.mark.parametrize(
    ("relation", "margin", "inside", "outside"),
    [
        ("above", 1.0, [1.1, 9], [1.0, -3]),
        ("below", 1.0, [-1.1], [-1.0, 0, 3]),
        ("not_above", 0.0, [0.0, -1], [0.1]),
        ("not_below", 1.0, [-1.0, 5], [-1.1]),
        ("about", 0.5, [0.5, -0.5, 0], [0.6, -0.6]),
    ],
)
def test_regions(relation: str, margin: float, inside: list[float], outside: list[float]) -> None:
    found = region(relation, margin)
    assert all(map(found.contains, inside)) and not any(map(found.contains, outside))


def normal(value: float, error: float, level: float) -> Interval:
    """The interval of a normal estimate; 1.96 errors at the level 0.05."""
    estimate = Estimate((value,), np.random.default_rng(2).normal(value, error, 200_000))
    found = estimate.interval(level)
    assert found is not None
    return found


def compared(value: float, relation: str, margin: float = 0.0, error: float = 1.0) -> Compared:
    return Compared(value, region(relation, margin), partial(normal, value, error))


@pytest.mark.parametrize(
    ("relation", "margin", "verdicts_of"),
    [
        ("above", 0.0, {2.1: HOLDS, 1.8: UNDECIDED, -1.8: UNDECIDED, -2.1: FAILS}),
        ("above", 5.0, {7.1: HOLDS, 5.5: UNDECIDED, 4.5: UNDECIDED, 2.9: FAILS}),
        ("below", 0.0, {-2.1: HOLDS, -1.8: UNDECIDED, 2.1: FAILS}),
        ("not_above", 0.0, {-2.1: HOLDS, 0.0: UNDECIDED, 2.1: FAILS}),
        ("not_below", 3.0, {-0.9: HOLDS, -3.0: UNDECIDED, -5.1: FAILS}),
        ("about", 3.0, {0.9: HOLDS, 1.1: UNDECIDED, 4.9: UNDECIDED, 5.1: FAILS, -5.1: FAILS}),
        ("about", 1.0, {0.0: UNDECIDED, 2.9: UNDECIDED, 3.1: FAILS}),
    ],
)
def test_a_difference_within_the_noise_is_undecided(
    relation: str, margin: float, verdicts_of: dict[float, str]
) -> None:
    found = {value: verdict([compared(value, relation, margin)], 1) for value in verdicts_of}
    assert found == verdicts_of


def test_what_has_no_interval_is_undecided_and_what_is_exact_is_not() -> None:
    above = region("above", 0.0)
    assert verdict([Compared(9.0, above, lambda level: None)], 1) == UNDECIDED
    assert verdicts.detectable([Compared(9.0, above, lambda level: None)], 1) is None
    for value, expected in ((1.0, HOLDS), (0.0, FAILS)):
        exact = Interval(value, value, value, "", 0.0)
        assert verdict([Compared(value, above, lambda level, each=exact: each)], 1) == expected


def test_of_several_differences_all_must_be_inside_or_one_clearly_outside() -> None:
    """One of three is outside at the level 0.05 / 3, that is from 2.39 errors on."""
    inside = [compared(2.1, "above"), compared(2.1, "above")]
    assert verdict([*inside, compared(2.1, "above")], 3) == HOLDS
    assert verdict([*inside, compared(1.8, "above")], 3) == UNDECIDED
    assert verdict([*inside, compared(-2.1, "above")], 3) == UNDECIDED
    assert verdict([*inside, compared(-2.5, "above")], 3) == FAILS


def test_a_majority_needs_more_than_half_at_the_level_of_a_partial_conjunction() -> None:
    """Three of five: at the level 0.05 / 3 both ways."""

    def of(*values: float) -> str:
        return verdict([compared(value, "above") for value in values], 3)

    assert of(2.5, 2.5, 2.5, -9, -9) == HOLDS
    assert of(2.5, 2.5, 2.1, -9, -9) == UNDECIDED
    assert of(-2.5, -2.5, -2.5, 9, 9) == FAILS
    assert of(-2.5, -2.5, -2.1, 9, 9) == UNDECIDED


def test_what_a_majority_could_have_seen() -> None:
    several = [compared(0.0, "above", error=error) for error in (3.0, 1.0, 2.0)]
    assert verdicts.detectable(several, 3) == pytest.approx(2.8016 * 3, rel=0.02)
    assert verdicts.detectable(several, 2) == pytest.approx(2.8016 * 2, rel=0.02)


@pytest.mark.parametrize(("needed", "true"), [(1, 0), (4, 3), (3, 2)])
def test_a_claim_that_is_not_true_rarely_holds(needed: int, true: int) -> None:
    """Of several differences one too few is above zero; the others are exactly zero."""
    number = max(needed, 4) if needed > 1 else 1
    numbers = np.random.default_rng(11)
    samples = numbers.normal(0, 1, 1000)
    held = []
    for _ in range(1000):
        values = np.r_[np.full(true, 6.0), np.zeros(number - true)] + numbers.normal(0, 1, number)
        held.append(
            verdict(
                [
                    Compared(each, region("above", 0.0), Estimate((each,), each + samples).interval)
                    for each in values
                ],
                needed,
            )
        )
    assert mean(each == HOLDS for each in held) <= 0.05
    assert mean(each == FAILS for each in held) <= 0.05
    assert held.count(UNDECIDED) > 900


@pytest.mark.parametrize(
    ("relation", "margin", "effect"),
    [
        ("above", 12, True),
        ("above", 0, False),
        ("below", 1, True),
        ("not_below", -7, True),
        ("not_below", 0.5, False),
        ("not_above", 0, False),
        ("about", 0.5, False),
    ],
)
def test_a_stated_effect_is_no_tolerance(relation: str, margin: float, effect: bool) -> None:
    assert verdicts.states_an_effect(relation, margin) == effect

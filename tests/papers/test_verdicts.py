from functools import partial
from statistics import mean

import numpy as np
import pytest

from nat.measures.significance import LEVEL, Estimate, Interval
from nat.papers.verdicts import (
    FAILS,
    HOLDS,
    UNDECIDED,
    Judged,
    detectable,
    region,
    states_an_effect,
    verdict,
)


def normal(value: float, error: float, level: float) -> Interval:
    """The interval of a normal estimate; 1.96 errors at the level 0.05."""
    estimate = Estimate((value,), np.random.default_rng(2).normal(value, error, 200_000))
    return estimate.interval(level)


def judged(value: float, relation: str, margin: float = 0.0, error: float = 1.0) -> Judged:
    return Judged(region(relation, margin), partial(normal, value, error))


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
    assert all(each in found for each in inside) and not any(each in found for each in outside)


@pytest.mark.parametrize(
    ("relation", "margin", "expected"),
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
    relation: str, margin: float, expected: dict[float, str]
) -> None:
    assert {value: verdict([judged(value, relation, margin)], 1) for value in expected} == expected


def test_what_has_no_interval_is_undecided_and_what_is_exact_is_not() -> None:
    unknown = [Judged(region("above", 0.0), lambda level: None)]
    assert verdict(unknown, 1) == UNDECIDED and detectable(unknown, 1) is None
    for value, expected in ((1.0, HOLDS), (0.0, FAILS)):
        exact = {LEVEL: Interval(value, value, "", 0.0)}
        assert verdict([Judged(region("above", 0.0), exact.get)], 1) == expected


@pytest.mark.parametrize(
    ("needed", "values", "expected"),
    [
        # of all, one is outside at the level 0.05 / 3, that is from 2.39 errors on
        (3, (2.1, 2.1, 2.1), HOLDS),
        (3, (2.1, 2.1, 1.8), UNDECIDED),
        (3, (2.1, 2.1, -2.1), UNDECIDED),
        (3, (2.1, 2.1, -2.5), FAILS),
        # three of five: at the level 0.05 / 3 both ways
        (3, (2.5, 2.5, 2.5, -9, -9), HOLDS),
        (3, (2.5, 2.5, 2.1, -9, -9), UNDECIDED),
        (3, (-2.5, -2.5, -2.5, 9, 9), FAILS),
        (3, (-2.5, -2.5, -2.1, 9, 9), UNDECIDED),
    ],
)
def test_of_several_differences_enough_must_be_inside(
    needed: int, values: tuple[float, ...], expected: str
) -> None:
    assert verdict([judged(value, "above") for value in values], needed) == expected


def test_what_several_tests_could_have_seen() -> None:
    several = [judged(0.0, "above", error=error) for error in (3.0, 1.0, 2.0)]
    assert detectable(several, 3) == pytest.approx(2.8016 * 3, rel=0.02)
    assert detectable(several, 2) == pytest.approx(2.8016 * 2, rel=0.02)


@pytest.mark.parametrize(("needed", "true"), [(1, 0), (4, 3), (3, 2)])
def test_a_claim_that_is_not_true_rarely_holds(needed: int, true: int) -> None:
    """Of several differences one too few is above zero; the others are exactly zero."""
    number = max(needed, 4) if needed > 1 else 1
    numbers, above = np.random.default_rng(11), region("above", 0.0)
    samples = numbers.normal(0, 1, 1000)
    held = []
    for _ in range(1000):
        values = np.r_[np.full(true, 6.0), np.zeros(number - true)] + numbers.normal(0, 1, number)
        estimates = [Estimate((value,), value + samples) for value in values]
        held.append(verdict([Judged(above, e.interval) for e in estimates], needed))
    assert mean(each == HOLDS for each in held) <= 0.05
    assert mean(each == FAILS for each in held) <= 0.05
    assert held.count(UNDECIDED) > 900


def test_a_stated_effect_is_no_tolerance() -> None:
    effects = [("above", 12), ("below", 1), ("not_below", -7)]
    tolerances = [("above", 0), ("not_below", 0.5), ("not_above", 0), ("about", 0.5)]
    assert all(states_an_effect(*each) for each in effects)
    assert not any(states_an_effect(*each) for each in tolerances)

import math
from statistics import mean

import numpy as np
import pytest

from nat.measures import significance
from nat.measures.significance import CorrelationEstimate, Estimate, pearson, ratio_of_medians


@pytest.mark.parametrize("level", [0.05, 0.01, 0.05 / 9])
def test_a_test_and_the_interval_of_its_level_agree(level: float) -> None:
    """Also one resample more or less on the other side of zero makes both change."""
    for others in range(40):
        found = Estimate((1.0,), np.r_[np.full(others, -1.0), np.full(1000 - others, 1.0)])
        interval, p = found.interval(level), found.p_value
        assert (interval.low > 0) == (p < level), others
    assert Estimate((1.0,), np.ones(1000)).interval(1e-4) == significance.Interval(
        -math.inf, math.inf, "paired bootstrap, 1,000 samples", 0.0
    )


def test_over_seeds() -> None:
    found = Estimate((1.0, 2.0, 3.0))
    interval = found.interval()
    assert found.value == 2.0 and interval.method == "Student's t over 3 seeds"
    # the 97.5% quantile of t with two degrees of freedom is 4.302653
    assert interval.high == pytest.approx(2 + 4.302653 / 3**0.5)
    # t = 2 / (1 / sqrt(3)) with two degrees of freedom: p = 1 - t / sqrt(t^2 + 2)
    t = 2 * 3**0.5
    assert found.p_value == pytest.approx(1 - t / (t**2 + 2) ** 0.5)


@pytest.mark.parametrize("by_seed", [(2.0,), (2.0, 2.0), (0.0, 0.0), (1.3 - 0.1, 2.3 - 1.1)])
def test_nothing_is_known_of_equal_seeds_alone(by_seed: tuple[float, ...]) -> None:
    alone, resampled = Estimate(by_seed), Estimate(by_seed, np.linspace(1.0, 3.0, 1000))
    assert alone.p_value is None and alone.interval() is None
    assert resampled.p_value is not None and resampled.interval() is not None


def test_seeds_and_sentences_add_up() -> None:
    """Without a spread between seeds that over sentences remains, and the other way round."""
    samples = np.random.default_rng(1).normal(2.0, 0.5, 1000)
    equal, alone = Estimate((2.0, 2.0, 2.0), samples).interval(), Estimate((2.0,), samples)
    one = alone.interval()
    assert (equal.low, equal.high) == pytest.approx((2 - 1.96 * 0.5, 2 + 1.96 * 0.5), rel=0.05)
    assert (one.low, one.high) == pytest.approx((equal.low, equal.high), rel=0.1)
    seeds = Estimate((1.0, 2.0, 3.0)).interval()
    both = Estimate((1.0, 2.0, 3.0), samples).interval()
    still = Estimate((1.0, 2.0, 3.0), np.full(1000, 2.0)).interval()
    assert (still.low, still.high) == pytest.approx((seeds.low, seeds.high))
    # variances 1/3 and 1/4, so 2 (7/4)^2 = 6.125 degrees of freedom: t = 2.434
    assert both.high - 2 == pytest.approx(2.434 * (1 / 3 + 1 / 4) ** 0.5, rel=0.05)


def simulate(
    seeds: int, effect: float, between: float, tests: int, sentences: int = 100
) -> list[Estimate]:
    """Estimates of a known difference from normal data.

    Sentences vary by 1, trainings by `between`, and a training on a sentence by 0.5 more.
    """
    numbers = np.random.default_rng(7)
    found = []
    for _ in range(tests):
        of_sentences = effect + numbers.normal(0, 1, sentences)
        rows = [
            of_sentences + numbers.normal(0, between) + numbers.normal(0, 0.5, sentences)
            for _ in range(seeds)
        ]
        each = [
            significance.resample(row[:, None], lambda sums: sums[:, 0] / sentences) for row in rows
        ]
        samples = np.mean([one.samples for one in each], axis=0)
        found.append(Estimate(tuple(one.value for one in each), samples))
    return found


@pytest.mark.parametrize(("seeds", "between"), [(1, 0.0), (3, 0.0), (3, 0.1), (3, 0.5)])
def test_intervals_cover_the_truth(seeds: int, between: float) -> None:
    found = simulate(seeds, 0.3, between, 400)
    intervals = [each.interval() for each in found]
    covered = mean(each.low <= 0.3 <= each.high for each in intervals if each is not None)
    assert len(intervals) == 400 and 0.92 <= covered <= 0.99
    # Student's interval over seeds alone leaves out that all have the same sentences.
    if seeds > 1 and between == 0:
        alone = [Estimate(each.by_seed).interval() for each in found]
        assert mean(each.low <= 0.3 <= each.high for each in alone if each is not None) < 0.9


@pytest.mark.parametrize("seeds", [1, 3])
def test_a_detectable_difference_is_found_in_four_of_five_tests(seeds: int) -> None:
    nothing = simulate(seeds, 0.0, 0.0, 400)
    detectable = mean(each.detectable for one in nothing if (each := one.interval()) is not None)
    assert detectable == pytest.approx(2.8 * (1 + 0.25 / seeds) ** 0.5 / 10, rel=0.15)
    found = simulate(seeds, detectable, 0.0, 400)
    assert 0.74 <= mean(each.p_value < 0.05 for each in found if each.p_value is not None) <= 0.88
    false = mean(each.p_value < 0.05 for each in nothing if each.p_value is not None)
    assert 0.02 <= false <= 0.08


def test_a_correlation_has_fishers_interval() -> None:
    first, second = [1.0, 2.0, 3.0, 4.0, 5.0], [1.1, 1.9, 3.2, 3.8, 5.3]
    found = CorrelationEstimate((pearson(first, second),), systems=5).interval()
    assert found is not None and found.method == "Fisher's z over 5 systems"
    z, half = math.atanh(np.corrcoef(first, second)[0, 1]), 1.959964 / 2**0.5
    assert (found.low, found.high) == pytest.approx((math.tanh(z - half), math.tanh(z + half)))
    assert found.detectable == pytest.approx(math.tanh(2.8016 / 2**0.5), rel=1e-3)
    wider = CorrelationEstimate((pearson(first, second),), systems=5).interval(0.01)
    assert wider is not None and wider.low < found.low
    assert CorrelationEstimate((0.5,), systems=3).interval() is None
    with pytest.raises(ValueError, match="the same for all"):
        pearson(first, [1.0] * 5)


def test_repeats_of_systems_that_took_turns_are_drawn_together() -> None:
    repeats = [1.0, 2.0, 5.0, 3.0]
    found = ratio_of_medians(repeats, [2 * each for each in repeats])
    assert found.samples is not None and found.samples == pytest.approx(np.full(1000, 0.5))

"""Intervals and tests: uncertainty from the choice of test sentences and of the seed.

With one seed: the bootstrap over sentences (Koehn, 2004). A test set is resampled `SAMPLES` times,
always in the same way for the same number of sentences, so that every report has the same result
for a score or a pair of scores, and two systems are always compared on the same resamples. The
resampling, the interval and the p-value are exactly those of sacreBLEU.
With several seeds: Student's paired t over seeds.

The counts of each sentence that a measure is a function of are resampled and summed over the
sentences of a resample; see `nat.measures.statistics`.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from sacrebleu.significance import estimate_ci

SAMPLES = 1000
SEED = 12345
METHOD = f"paired bootstrap, {SAMPLES:,} samples"

Value = Callable[[np.ndarray], np.ndarray]
"""A measure as a function of summed counts, [S, K] to [S]."""


@dataclass(frozen=True)
class Resampled:
    """A number of a test set, and the same of resamples of it.

    Attributes:
        value: of the test set.
        samples: of the resamples, [`SAMPLES`].
    """

    value: float
    samples: np.ndarray

    def __sub__(self, other: "Resampled") -> "Resampled":
        """The difference of two numbers of one test set, resample by resample."""
        return Resampled(self.value - other.value, self.samples - other.samples)


@dataclass(frozen=True)
class Interval:
    """A difference, mean or ratio, with its 95% interval and the method that gave it."""

    difference: float
    low: float
    high: float
    method: str


@lru_cache(maxsize=8)
def drawn(sentences: int) -> np.ndarray:
    """How often each sentence is drawn in each resample, float64 [`SAMPLES`, sentences].

    Two test sets of one size are resampled alike; who sets resamples of different test sets beside
    each other pairs the first of one with another than the first of the other.
    """
    numbers = np.random.default_rng(SEED).choice(sentences, size=(SAMPLES, sentences))
    cells = numbers + sentences * np.arange(SAMPLES)[:, None]
    counts = np.bincount(cells.ravel(), minlength=SAMPLES * sentences)
    return counts.reshape(SAMPLES, sentences).astype(np.float64)


def resample(counts: np.ndarray, value: Value) -> Resampled:
    """Compute a measure on a test set and on its resamples.

    Args:
        counts: of each sentence, [n, K].
        value: the measure.
    """
    sums = np.vstack([counts.sum(0, keepdims=True), drawn(len(counts)) @ counts])
    found = value(sums)
    return Resampled(float(found[0]), found[1:])


def interval(found: Resampled) -> tuple[float, float]:
    """Ends of the 95% interval of a score: sacreBLEU's, half the spread around the mean."""
    mean, half = estimate_ci(found.samples)
    return float(mean - half), float(mean + half)


def percentile_interval(difference: Resampled) -> Interval:
    """The middle 95% of resampled differences."""
    low, high = np.percentile(difference.samples, [2.5, 97.5])
    return Interval(difference.value, float(low), float(high), METHOD)


def p_value(difference: Resampled) -> float:
    """The p-value of a difference, as sacreBLEU's `PairedTest` has it.

    The share of resampled differences that are farther from their mean than the difference itself
    is from zero; at least 1 / (`SAMPLES` + 1), and 1 if there is no difference.
    """
    if not round(difference.value, 6):
        return 1.0
    sizes = np.abs(difference.samples)
    farther = int((sizes - sizes.mean() > abs(difference.value)).sum())
    return (farther + 1) / (len(sizes) + 1)


def interval_of_ratio(first: Sequence[float], second: Sequence[float]) -> Interval:
    """The ratio of two medians with its 95% interval, from the repeats of both.

    Args:
        first: repeated measurements of the numerator, all positive.
        second: repeated measurements of the denominator, all positive.
    """
    numbers = np.random.default_rng(SEED)
    medians = [
        np.median(numbers.choice(np.asarray(each), (SAMPLES, len(each))), axis=1)
        for each in (first, second)
    ]
    low, high = np.percentile(medians[0] / medians[1], [2.5, 97.5])
    ratio = float(np.median(first) / np.median(second))
    return Interval(ratio, float(low), float(high), f"bootstrap of repeats, {SAMPLES:,} samples")


def p_value_over_seeds(differences: Sequence[float]) -> float:
    """Student's paired test of differences, one per seed; equal ones give the smallest p-value.

    Raises:
        ValueError: with fewer than two seeds.
    """
    mean, _ = _over_seeds(differences)
    if len(set(differences)) == 1:
        return float(mean == 0)
    from scipy.stats import ttest_1samp  # takes half a second to import

    return float(ttest_1samp(differences, 0.0).pvalue)


def interval_over_seeds(differences: Sequence[float]) -> Interval:
    """Student's interval of the mean difference over seeds.

    Raises:
        ValueError: with fewer than two seeds.
    """
    mean, error = _over_seeds(differences)
    from scipy.stats import t  # takes half a second to import

    half = float(t.ppf(0.975, len(differences) - 1)) * error
    return Interval(mean, mean - half, mean + half, f"Student's t over {len(differences)} seeds")


def _over_seeds(differences: Sequence[float]) -> tuple[float, float]:
    """Mean and its standard error."""
    number = len(differences)
    if number < 2:
        raise ValueError("a test or an interval over seeds needs two of them")
    mean = math.fsum(differences) / number
    variance = math.fsum((value - mean) ** 2 for value in differences) / (number - 1)
    return mean, math.sqrt(variance / number)

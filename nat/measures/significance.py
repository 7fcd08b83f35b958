"""Intervals and tests: uncertainty from the choice of test sentences and of the seed.

docs/measures.md describes them. *Sentences*: the bootstrap (Koehn, 2004), with the resamples of
sacreBLEU, which are the same for all test sets of the same number of sentences. *Seeds*: Student's
t, with the degrees of freedom of Satterthwaite (1946).

All intervals and tests are two-sided, and a p-value is below a level exactly if the interval of
that level excludes zero. sacreBLEU's own paired test is one-sided for a clear difference.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from statistics import NormalDist

import numpy as np
import scipy  # whose part `special` takes long to import, and is imported when it is first used

from nat.measures.results import DIGITS

SAMPLES = 1000
SEED = 12345
LEVEL = 0.05
"""Of tests; intervals have the rest, 95%."""
POWER = 0.8
"""Share of test sets on which a test finds a difference of the size `Interval.detectable`."""

PAIRED, REPEATS = "paired bootstrap", "bootstrap of repeats"
"""Methods that estimate the spread of differences, and that of latencies."""

Value = Callable[[np.ndarray], np.ndarray]
"""A measure as a function of summed counts, [S, K] to [S]."""


@dataclass(frozen=True)
class Interval:
    """The interval of a difference, mean or ratio, and the method that gave it.

    `detectable` is the smallest true difference that the test finds with the probability `POWER`.
    """

    low: float
    high: float
    method: str
    detectable: float


@lru_cache(maxsize=8)
def drawn(sentences: int) -> np.ndarray:
    """Counts of each sentence in each resample, float64 [`SAMPLES`, sentences].

    Test sets of the same size get the same draws, see `Estimate.apart`.
    """
    numbers = np.random.default_rng(SEED).choice(sentences, size=(SAMPLES, sentences))
    cells = numbers + sentences * np.arange(SAMPLES)[:, None]
    counts = np.bincount(cells.ravel(), minlength=SAMPLES * sentences)
    return counts.reshape(SAMPLES, sentences).astype(np.float64)


@dataclass(frozen=True)
class Estimate:
    """A mean over seeds, and what is known of its spread.

    `samples` is the mean on each resample, [`SAMPLES`], `None` if what was measured cannot be
    resampled, and `resampled` the method that made them.
    """

    by_seed: tuple[float, ...]
    samples: np.ndarray | None = None
    resampled: str = PAIRED

    @property
    def value(self) -> float:
        """The mean over the seeds."""
        return math.fsum(self.by_seed) / len(self.by_seed)

    def apart(self, place: int) -> "Estimate":
        """The same with draws that are independent of those at another place.

        Test sets of the same size have the same draws, so the first resample of one goes with the
        second of the next, and so on.
        """
        return self if self.samples is None else replace(self, samples=np.roll(self.samples, place))

    def interval(self, level: float = LEVEL) -> Interval | None:
        """The interval with the confidence 1 - `level`; `None` if nothing is known of the spread.

        With one seed its ends are order statistics of the resamples, infinite if there are too few
        of these for the level.
        """
        samples, seeds = self.samples, len(self.by_seed)
        if self._has_no_spread:
            return None
        bootstrap = [] if samples is None else [f"{self.resampled}, {SAMPLES:,} samples"]
        if seeds > 1:
            error, freedom = self._error()
            half = _quantile(1 - level / 2, freedom) * error
            low, high = self.value - half, self.value + half
            method = " and ".join([f"Student's t over {seeds} seeds", *bootstrap])
        else:
            assert samples is not None
            error, freedom, [method] = float(samples.std(ddof=1)), math.inf, bootstrap
            low, high = -math.inf, math.inf
            if outside := int((len(samples) + 1) * level / 2):
                in_order = np.sort(samples)
                low, high = float(in_order[outside - 1]), float(in_order[-outside])
        power = _quantile(1 - level / 2, freedom) + _quantile(POWER, freedom)
        return Interval(low, high, method, power * error)

    @property
    def p_value(self) -> float | None:
        """Of the hypothesis that the number is zero; `None` if nothing is known of its spread.

        With one seed it is 2 (k + 1) / (`SAMPLES` + 1), where k resamples are on the other side of
        zero or on it: twice Koehn's (2004) share, which is never 0.
        """
        if self._has_no_spread:
            return None
        if len(self.by_seed) > 1:
            error, freedom = self._error()
            if not error:
                return float(self.value == 0)
            return float(2 * scipy.special.stdtr(freedom, -abs(self.value) / error))
        assert self.samples is not None
        fewer = min(int((self.samples <= 0).sum()), int((self.samples >= 0).sum()))
        return min(1.0, 2 * (fewer + 1) / (len(self.samples) + 1))

    @property
    def _has_no_spread(self) -> bool:
        """True without resamples if there is one number, or if all are equal by chance."""
        return self.samples is None and len({round(each, DIGITS) for each in self.by_seed}) == 1

    def _error(self) -> tuple[float, float]:
        """Standard error of the mean over several seeds, and its degrees of freedom."""
        number = len(self.by_seed)
        squares = math.fsum((each - self.value) ** 2 for each in self.by_seed)
        between = squares / (number - 1) / number
        within = 0.0 if self.samples is None else float(self.samples.var(ddof=1))
        total = between + within
        freedom = (number - 1) * (total / between) ** 2 if between else math.inf
        return math.sqrt(total), freedom


def resample(counts: np.ndarray, value: Value) -> Estimate:
    """A measure of the counts of each sentence [n, K], whose spread one sentence does not tell."""
    sums = np.vstack([counts.sum(0, keepdims=True), drawn(len(counts)) @ counts])
    values = value(sums)
    return Estimate((float(values[0]),), values[1:] if len(counts) > 1 else None)


def mean_of(numbers: Sequence[Estimate]) -> Estimate:
    """The mean of numbers that have their resamples in common, as far as all can be resampled."""
    known = [each.samples for each in numbers if each.samples is not None]
    samples = np.mean(known, axis=0) if len(known) == len(numbers) else None
    return Estimate((sum(each.value for each in numbers) / len(numbers),), samples)


def _quantile(probability: float, freedom: float) -> float:
    """A quantile of Student's t; with infinite degrees of freedom of the normal distribution."""
    if math.isinf(freedom):
        return NormalDist().inv_cdf(probability)
    return float(scipy.special.stdtrit(freedom, probability))


def pearson(first: Sequence[float], second: Sequence[float]) -> float:
    """Correlation of two measures over systems, such as L_MPLE and BLEU; -1 to 1.

    MPLE (Huang et al. 2022) prints absolute values: a good system has a low loss and a high BLEU.

    Raises:
        ValueError: if there are fewer than two systems, or all have the same value.
    """
    if not len(first) == len(second) > 1:
        raise ValueError(f"a correlation of {len(first)} and {len(second)} values")
    if np.ptp(first) == 0 or np.ptp(second) == 0:
        raise ValueError("a correlation with a measure that is the same for all systems")
    return float(np.corrcoef(first, second)[0, 1])


@dataclass(frozen=True, kw_only=True)
class CorrelationEstimate(Estimate):
    """Pearson's r over so many systems; with fewer than four it has no interval."""

    systems: int

    def interval(self, level: float = LEVEL) -> Interval | None:
        """The interval over systems, by Fisher's z."""
        if self.systems < 4:
            return None
        value, error = self.value, 1 / math.sqrt(self.systems - 3)
        middle = math.atanh(value) if abs(value) < 1 else math.copysign(math.inf, value)
        outside = _quantile(1 - level / 2, math.inf)
        half, power = outside * error, outside + _quantile(POWER, math.inf)
        method = f"Fisher's z over {self.systems} systems"
        ends = math.tanh(middle - half), math.tanh(middle + half)
        return Interval(*ends, method, math.tanh(power * error))


def resampled_medians(repeats: Sequence[Sequence[float]], together: bool) -> list[Estimate]:
    """The medians of repeated measurements of each system, with resamples of the repeats.

    If the systems were measured by turns, `together`, the same repeats of all of them are drawn, so
    that what slowed down a repeat of all cancels out in a comparison.
    """
    numbers = np.random.default_rng(SEED)
    medians = []
    for each in repeats:
        if together:
            numbers = np.random.default_rng(SEED)
        samples = np.median(numbers.choice(np.asarray(each), (SAMPLES, len(each))), axis=1)
        medians.append(Estimate((float(np.median(each)),), samples, REPEATS))
    return medians


def ratio_of_medians(first: Sequence[float], second: Sequence[float]) -> Estimate:
    """The ratio of the medians of two systems that were measured by turns, with resamples."""
    above, below = resampled_medians([first, second], together=True)
    assert above.samples is not None and below.samples is not None
    return Estimate((above.value / below.value,), above.samples / below.samples, REPEATS)

"""Is the difference between two systems more than the choice of test sentences, or of the seed?

With one seed: paired bootstrap resampling (Koehn, 2004) as implemented by sacreBLEU, where both
systems are scored on the same resampled sentences. With several: Student's paired t over seeds.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from sacrebleu.metrics import BLEU
from sacrebleu.significance import PairedTest, Result

from nat.measures import bleu


@dataclass(frozen=True)
class Comparison:
    """Difference in BLEU of a system to its baseline, with the p-value of the paired test.

    `test` names it, `signature` is that of the metric where it was computed again.
    """

    difference: float
    p_value: float
    test: str
    signature: str = ""


def paired_bootstrap(
    baseline: Sequence[str],
    system: Sequence[str],
    metric: BLEU,
    samples: int = bleu.BOOTSTRAP_SAMPLES,
) -> Comparison:
    """Compare translations of the same sentences.

    Args:
        baseline: translations of the baseline, one for each sentence.
        system: translations of the system under test.
        metric: `bleu.sacrebleu_metric` (detokenised text) or `bleu.tokenised_metric`.
        samples: bootstrap resamples; the smallest p-value is 1 / (samples + 1).

    Raises:
        ValueError: if the numbers of sentences differ.
    """
    bleu.check_counts(metric, baseline)
    bleu.check_counts(metric, system)
    first, second = list(baseline), list(system)
    with bleu.fixed_seed():
        test = PairedTest(
            [("baseline", first), ("system", second)],
            {"BLEU": metric},
            None,
            test_type="bs",
            n_samples=samples,
        )
        signatures, scores = test()
    of_first, of_second = scores["BLEU"]
    assert isinstance(of_first, Result) and isinstance(of_second, Result)
    assert of_second.p_value is not None
    difference = round(of_second.score - of_first.score, bleu.DIGITS)
    # Where samples differ by nothing at all, sacreBLEU takes that for the rarest outcome.
    p_value = of_second.p_value if difference else 1.0
    return Comparison(
        difference=difference,
        p_value=round(p_value, bleu.DIGITS),
        test=f"paired bootstrap, {samples:,} samples",
        signature=str(signatures["BLEU"]),
    )


@dataclass(frozen=True)
class Interval:
    """A difference (or a mean of differences) with its 95% interval and where that is from."""

    difference: float
    low: float
    high: float
    method: str

    def minus(self, number: float) -> "Interval":
        """The interval of the difference to another number."""
        return Interval(
            self.difference - number, self.low - number, self.high - number, self.method
        )


def resampled_differences(
    baseline: Sequence[str],
    system: Sequence[str],
    metric: BLEU,
    samples: int = bleu.BOOTSTRAP_SAMPLES,
    stream: int = 0,
) -> tuple[float, np.ndarray]:
    """BLEU of a system minus that of its baseline, on the test set and on resamples of it.

    Both are scored on the same resampled sentences.

    Args:
        baseline: translations of the baseline, one for each sentence.
        system: translations of the system.
        metric: as for `paired_bootstrap`.
        samples: number of resamples.
        stream: resamples of different streams are independent, as different test sets need.

    Returns:
        The difference, and those of the resamples, [samples].

    Raises:
        ValueError: if the numbers of sentences differ.
    """
    statistics = []
    for translations in (baseline, system):
        bleu.check_counts(metric, translations)
        statistics.append(np.array(metric._extract_corpus_statistics(list(translations), None)))
    sentences = len(statistics[0])
    numbers = np.random.default_rng([bleu.BOOTSTRAP_SEED, stream])
    # How often each sentence is drawn: a product with the statistics is the sum over a resample.
    drawn = numbers.multinomial(sentences, np.full(sentences, 1 / sentences), size=samples)
    first, second = (
        np.array([_value(metric, row) for row in np.vstack([found.sum(0), drawn @ found])])
        for found in statistics
    )
    differences = second - first
    return float(differences[0]), differences[1:]


def resampled_share_differences(
    baseline: str, system: str, samples: int = bleu.BOOTSTRAP_SAMPLES, stream: int = 0
) -> np.ndarray:
    """Percent of sentences that count in a system minus the same of its baseline, resampled.

    Args:
        baseline: a digit per sentence, 1 where it counts.
        system: the same of the system, for the same sentences.
        samples: number of resamples.
        stream: as for `resampled_differences`.

    Raises:
        ValueError: if the numbers of sentences differ.
    """
    hits = [np.array([int(digit) for digit in each]) for each in (baseline, system)]
    if len(hits[0]) != len(hits[1]):
        raise ValueError(f"{len(hits[1])} sentences for {len(hits[0])} of the baseline")
    numbers = np.random.default_rng([bleu.BOOTSTRAP_SEED, stream])
    sentences = len(hits[0])
    drawn = numbers.multinomial(sentences, np.full(sentences, 1 / sentences), size=samples)
    return np.asarray(100.0 * (drawn @ (hits[1] - hits[0])) / sentences)


def percentile_interval(difference: float, resampled: np.ndarray) -> Interval:
    """The middle 95% of resampled differences."""
    low, high = np.percentile(resampled, [2.5, 97.5])
    return Interval(
        difference, float(low), float(high), f"paired bootstrap, {len(resampled):,} samples"
    )


def over_seeds(differences: Sequence[float]) -> Comparison:
    """Student's paired test of the difference, one per seed; equal ones are as sure as can be.

    Raises:
        ValueError: with fewer than two seeds.
    """
    mean, _, method = _over_seeds(differences)
    if len(set(differences)) == 1:
        return Comparison(mean, float(mean == 0), method)
    from scipy.stats import ttest_1samp  # takes half a second to import

    return Comparison(mean, float(ttest_1samp(differences, 0.0).pvalue), method)


def interval_over_seeds(differences: Sequence[float]) -> Interval:
    """Student's interval of the mean difference over seeds.

    Raises:
        ValueError: with fewer than two seeds.
    """
    mean, error, method = _over_seeds(differences)
    from scipy.stats import t  # takes half a second to import

    half = float(t.ppf(0.975, len(differences) - 1)) * error
    return Interval(mean, mean - half, mean + half, method)


def _over_seeds(differences: Sequence[float]) -> tuple[float, float, str]:
    """Mean, its standard error, and what reports call the method."""
    number = len(differences)
    if number < 2:
        raise ValueError("a test or an interval over seeds needs two of them")
    mean = math.fsum(differences) / number
    variance = math.fsum((value - mean) ** 2 for value in differences) / (number - 1)
    return mean, math.sqrt(variance / number), f"Student's t over {number} seeds"


def _value(metric: BLEU, statistics: np.ndarray) -> float:
    return float(metric._compute_score_from_stats(statistics.tolist()).score)

import random

import numpy as np
import pytest
from sacrebleu.metrics import BLEU
from sacrebleu.significance import PairedTest, Result

from nat.measures import bleu, significance
from nat.measures.significance import Resampled, interval_over_seeds, p_value, p_value_over_seeds

NUMBERS = random.Random(5)
REFERENCE = [NUMBERS.choices("abcdefghij", k=10) for _ in range(80)]
REFERENCES = [[" ".join(words)] for words in REFERENCE]


def translations(errors: float, seed: int) -> list[str]:
    numbers = random.Random(seed)
    return [
        " ".join(word if numbers.random() > errors else "z" for word in words)
        for words in REFERENCE
    ]


def resampled(hypotheses: list[str]) -> Resampled:
    counts = bleu.sacrebleu(hypotheses, REFERENCES).sentences
    return significance.resample(counts, bleu.smoothed)


def test_a_large_difference_is_significant_and_a_small_one_is_not() -> None:
    good, similar, bad = (resampled(translations(*each)) for each in ((0.1, 1), (0.1, 2), (0.4, 3)))
    clear = good - bad
    assert clear.value > 0 and p_value(clear) == pytest.approx(1 / 1001)
    found = significance.percentile_interval(clear)
    assert 0 < found.low < found.difference < found.high
    assert p_value(good - similar) > 0.05
    unclear = significance.percentile_interval(good - similar)
    assert unclear.low < 0 < unclear.high
    assert (bad - good).value == -clear.value and p_value(bad - good) == p_value(clear)


@pytest.mark.parametrize("errors", [0.1, 0.13, 0.16, 0.2])
def test_the_p_value_is_that_of_sacrebleu(errors: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SACREBLEU_SEED", str(significance.SEED))
    baseline, system = translations(0.15, 1), translations(errors, 2)
    metric = BLEU(force=True, references=[[line for (line,) in REFERENCES]])
    test = PairedTest(
        [("baseline", baseline), ("system", system)], {"BLEU": metric}, None, test_type="bs"
    )
    its = test()[1]["BLEU"][1]
    assert isinstance(its, Result) and its.p_value is not None
    assert p_value(resampled(system) - resampled(baseline)) == pytest.approx(its.p_value)


def test_resamples_are_those_of_the_counts_themselves() -> None:
    counts = np.random.default_rng(3).integers(0, 9, (7, 2))
    found = significance.resample(counts, lambda sums: sums[:, 0] / sums[:, 1])
    numbers = np.random.default_rng(significance.SEED).choice(7, (significance.SAMPLES, 7))
    naive = [counts[row, 0].sum() / counts[row, 1].sum() for row in numbers]
    assert found.samples == pytest.approx(naive)
    assert found.value == pytest.approx(counts[:, 0].sum() / counts[:, 1].sum())


def test_equal_translations_do_not_differ() -> None:
    found = resampled(translations(0.2, 1)) - resampled(translations(0.2, 1))
    assert (found.value, p_value(found)) == (0, 1)


def test_equal_scores_of_different_translations_do_not_differ() -> None:
    found = resampled(["x y"] * 80) - resampled(["y x z"] * 80)
    assert (found.value, p_value(found)) == (0, 1)


def test_over_seeds() -> None:
    found = interval_over_seeds([1.0, 2.0, 3.0])
    assert found.difference == 2.0 and found.method == "Student's t over 3 seeds"
    # t = 2 / (1 / sqrt(3)) with two degrees of freedom: p = 1 - t / sqrt(t^2 + 2)
    t = 2 * 3**0.5
    assert p_value_over_seeds([1.0, 2.0, 3.0]) == pytest.approx(1 - t / (t**2 + 2) ** 0.5)
    assert p_value_over_seeds([0.0, 0.0]) == 1 and p_value_over_seeds([2.0, 2.0]) == 0
    for over_seeds in (interval_over_seeds, p_value_over_seeds):
        with pytest.raises(ValueError, match="two"):
            over_seeds([1.0])

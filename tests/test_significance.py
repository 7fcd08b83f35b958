import random

import pytest

from nat.measures import bleu
from nat.measures.significance import over_seeds, paired_bootstrap

NUMBERS = random.Random(5)
REFERENCE = [NUMBERS.choices("abcdefghij", k=10) for _ in range(80)]
REFERENCES = [[" ".join(words)] for words in REFERENCE]


def translations(errors: float, seed: int) -> list[str]:
    numbers = random.Random(seed)
    return [
        " ".join(word if numbers.random() > errors else "z" for word in words)
        for words in REFERENCE
    ]


def test_a_large_difference_is_significant_and_a_small_one_is_not() -> None:
    metric = bleu.sacrebleu_metric(REFERENCES, lowercase=False)
    good, similar, bad = translations(0.1, 1), translations(0.1, 2), translations(0.4, 3)
    clear = paired_bootstrap(bad, good, metric, samples=200)
    assert clear.difference > 0 and clear.p_value == pytest.approx(1 / 201, abs=1e-6)
    assert paired_bootstrap(similar, good, metric, samples=200).p_value > 0.05
    assert paired_bootstrap(good, bad, metric, samples=200).difference == -clear.difference


def test_difference_is_that_of_the_scores() -> None:
    good, bad = translations(0.1, 1), translations(0.4, 3)
    metric = bleu.tokenised_metric(REFERENCES)
    found = paired_bootstrap(bad, good, metric, samples=20)
    scores = [bleu.tokenised_bleu(side, REFERENCES, samples=0).value for side in (bad, good)]
    assert found.difference == pytest.approx(scores[1] - scores[0], abs=1e-5)
    assert "bs:20" in found.signature and "tok:none" in found.signature


def test_equal_translations_do_not_differ() -> None:
    metric = bleu.sacrebleu_metric(REFERENCES, lowercase=False)
    found = paired_bootstrap(translations(0.2, 1), translations(0.2, 1), metric, samples=20)
    assert (found.difference, found.p_value) == (0, 1)


def test_equal_scores_of_different_translations_do_not_differ() -> None:
    metric = bleu.sacrebleu_metric(REFERENCES, lowercase=False)
    found = paired_bootstrap(["x y"] * 80, ["y x z"] * 80, metric, samples=20)
    assert (found.difference, found.p_value) == (0, 1)


def test_counts_must_agree() -> None:
    metric = bleu.sacrebleu_metric(REFERENCES, lowercase=False)
    with pytest.raises(ValueError, match="79 hypotheses for 80"):
        paired_bootstrap(translations(0.2, 1), translations(0.2, 1)[:-1], metric)


def test_over_seeds() -> None:
    found = over_seeds([1.0, 2.0, 3.0])
    assert found.difference == 2.0 and found.test == "Student's t over 3 seeds"
    # t = 2 / (1 / sqrt(3)) with two degrees of freedom: p = 1 - t / sqrt(t^2 + 2)
    t = 2 * 3**0.5
    assert found.p_value == pytest.approx(1 - t / (t**2 + 2) ** 0.5)
    assert over_seeds([0.0, 0.0]).p_value == 1 and over_seeds([2.0, 2.0]).p_value == 0
    with pytest.raises(ValueError, match="two"):
        over_seeds([1.0])

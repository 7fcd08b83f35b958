"""Distortion against several references, and the weights of dynamic distillation."""

import itertools

import numpy as np
import pytest
from sacrebleu.metrics import BLEU

from nat.distillation.pairwise_bleu import distortion
from nat.measures.distortion import PairwiseBleu, chosen, pairwise_bleu, tune

CANDIDATES = [
    ["the cat sat on the mat.", "a dog barks"],
    ["a cat sat on a mat.", "the dog barked loudly"],
    ["cats sit on mats.", "a dog barks"],
]
REFERENCES = [["the cat sat on a mat.", "a cat was sitting on the mat."], ["the dog barks"]]


def test_the_distortion_is_the_mean_over_references() -> None:
    weights = [[0.6, 0.2], [7.0]]
    metric = BLEU(effective_order=True)
    expected = [
        np.average(
            [metric.sentence_score(text, [each]).score for each in references],
            weights=weights[number],
        )
        for number, (text, references) in enumerate(zip(CANDIDATES[0], REFERENCES, strict=True))
    ]
    scores = pairwise_bleu([CANDIDATES[0]], REFERENCES, weights).references
    assert scores[:, 0] == pytest.approx(expected, rel=1e-6)


def random_likeness(sentences: int = 40, candidates: int = 3) -> PairwiseBleu:
    numbers = np.random.default_rng(2)
    among = numbers.uniform(0, 100, (sentences, candidates, candidates))
    among[:, range(candidates), range(candidates)] = 100
    return PairwiseBleu(among, numbers.uniform(0, 100, (sentences, candidates)))


def test_the_choice_is_that_of_the_regulariser() -> None:
    found = random_likeness()
    gamma = [0.7, 1.3, 2.0]
    cost = distortion(found.candidates.astype(np.float32), 0.2, gamma)
    assert chosen(found, gamma).tolist() == cost.argmin(1).tolist()


def test_tuned_weights_choose_what_is_near_the_references() -> None:
    found = random_likeness()
    rows = np.arange(40)

    def merit(gamma: tuple[float, ...]) -> float:
        return float(found.references[rows, chosen(found, gamma)].mean())

    grid = (0.5, 1.0, 2.0, 3.0)
    gamma, best = tune(found, grid)
    assert best == pytest.approx(merit(gamma))
    assert best > merit((1.0, 1.0, 1.0))
    for place, value in itertools.product(range(3), grid):  # no single change is better
        assert merit((*gamma[:place], value, *gamma[place + 1 :])) <= best


def test_of_equal_weights_those_at_the_start_are_kept() -> None:
    same = PairwiseBleu(np.ones((4, 3, 3)), np.ones((4, 3)))
    assert tune(same)[0] == (1.0, 1.0, 1.0)

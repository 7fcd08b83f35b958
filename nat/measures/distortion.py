"""Distortion of a text against several references, and weights that predict it (MPLE).

L_target of Huang et al. (2022) is -beta * E S(Y, T), the distance between the targets T that a
model learns and all good translations Y, where S is the sentence BLEU from 0 to 100. As the
training text has only one reference, dynamic distillation uses its candidates Gamma_i instead, each
with a weight gamma_i. The weights are tuned here, on a small text with several references and
without training. The best weights are those whose choice

    argmin over T of -beta * sum over i of gamma_i S(Gamma_i, T)

has the lowest actual distortion. Beta, which is positive, does not affect the choice.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from nat.distillation.pairwise_bleu import sentence_bleu
from nat.measures.bleu import WORDS, split

GRID = tuple(round(0.5 + 0.1 * step, 1) for step in range(26))
"""Weights to try: the paper has 1 to 3 in steps of 0.1, but prints values down to 0.6."""


class PairwiseBleu(NamedTuple):
    """Sentence BLEU on a text with several references, 0 to 100.

    In `candidates` of candidate j against candidate i, [n, C, C]; in `references` of candidate j
    against the references, on (weighted) average, [n, C].
    """

    candidates: np.ndarray
    references: np.ndarray


def pairwise_bleu(
    candidates: Sequence[Sequence[str]],
    references: Sequence[Sequence[str]],
    weights: Sequence[Sequence[float]],
    tokeniser: str = WORDS,
) -> PairwiseBleu:
    """Compare candidates with each other and with several references, by a tokeniser of sacreBLEU.

    Args:
        candidates: versions of a text, detokenised, [C][n].
        references: of each sentence, at least one.
        weights: of these references, such as their probabilities.
    """
    among, against = [], []
    for sentence, its_references in enumerate(references):
        versions = split([version[sentence] for version in candidates], tokeniser)
        both = [*versions, *split(its_references, tokeniser)]
        scores = sentence_bleu(both)[:, : len(versions)]
        among.append(scores[: len(versions)])
        against.append(np.average(scores[len(versions) :], axis=0, weights=weights[sentence]))
    return PairwiseBleu(np.array(among), np.array(against))


def chosen(scores: PairwiseBleu, gamma: Sequence[float]) -> np.ndarray:
    """Candidate that the weights choose for each sentence (the first of equal ones), [n]."""
    weighted = np.einsum("i,nij->nj", np.asarray(gamma, dtype=np.float64), scores.candidates)
    return np.asarray(weighted.argmax(1))


def tune(scores: PairwiseBleu, grid: Sequence[float] = GRID) -> tuple[tuple[float, ...], float]:
    """Find the weights whose choice is closest to the references, and its mean S(Y, T), 0 to 100.

    Starting from ones, each weight in turn is set to the best value of the grid, until no change
    is an improvement. Of equally good values the current one is kept, otherwise the smallest.
    """
    rows = np.arange(len(scores.references))

    def merit(gamma: Sequence[float]) -> float:
        return float(scores.references[rows, chosen(scores, gamma)].mean())

    gamma = [1.0] * scores.references.shape[1]
    best, before = merit(gamma), -np.inf
    while best > before:
        before = best
        for place in range(len(gamma)):
            for value in sorted(grid):
                changed = [*gamma[:place], value, *gamma[place + 1 :]]
                if (reached := merit(changed)) > best:
                    gamma, best = changed, reached
    return tuple(gamma), best

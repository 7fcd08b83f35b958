"""Accuracy of the length predictor of a model.

Norouzi et al. (2022), appendix C, report top-1, top-3 and top-5 accuracy and explain them as
predictions that are exact, off by at most one and off by at most two tokens. That is measured
here: top k counts the sentences whose most probable length is at most (k - 1) / 2 tokens off. The
alternative, that the true length is among the k most probable ones, is not measured.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch

from nat.analyses import analysis
from nat.analyses.analysis import Found, Pairs, Subject
from nat.measures import statistics

TOP = (1, 3, 5)


@analysis.of_splits
def analyse(subject: Subject, pairs: Pairs) -> Found:
    """Measure the length predictor; lengths are those of the raw reference in subwords."""
    differences = length_differences(pairs)
    return {**pairs.counts(len(differences)), "measures": accuracies(differences)}


def accuracies(differences: Mapping[int, int]) -> dict[str, dict[str, Any]]:
    """Percent of these differences, by sentence, of at most (k - 1) / 2 tokens, for k of `TOP`."""
    numbers = {}
    for top in TOP:
        hits = {number: int(abs(off) <= top // 2) for number, off in differences.items()}
        share = statistics.number(np.array([[hit, 1] for hit in hits.values()]), statistics.percent)
        terms = analysis.by_sentence({number: (100 * hit, 1) for number, hit in hits.items()})
        numbers[f"length_accuracy_{top}"] = {**share, "by_sentence": terms}
    return numbers


@torch.no_grad()
def length_differences(pairs: Pairs) -> dict[int, int]:
    """Most probable minus true target length, tokens, of each sentence that can be predicted."""
    model, predictor = pairs.model, pairs.model.length_predictor
    assert predictor is not None
    longest, end = model.architecture.max_positions, int(model.predicts_end)
    differences: dict[int, int] = {}
    for numbers, source in pairs.source_batches():
        encoded = model.encode(source)
        predicted = predictor.candidates(encoded.length_states, encoded.padding, 1, longest)[:, 0]
        for number, length in zip(numbers, predicted.tolist(), strict=True):
            differences[number] = length - end - len(pairs.targets[number])
    return dict(sorted(differences.items()))

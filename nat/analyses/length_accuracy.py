"""Accuracy of the length predictor of a model.

Norouzi et al. (2022), appendix C, report top-1, top-3 and top-5 accuracy and explain them as
predictions that are exact, off by at most one and off by at most two tokens. That is measured
here: top k counts the sentences whose most probable length is at most (k - 1) / 2 tokens off. The
alternative, that the true length is among the k most probable ones, is not measured.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from nat.analyses.analysis import subject, usable_sources
from nat.artifacts import Analysis
from nat.data.batch import source_tensor
from nat.data.binarised import BinarisedText
from nat.decoding.corpus import batches
from nat.job import Job
from nat.measures import bleu, significance, statistics
from nat.transformer.model import Transformer

TOP = (1, 3, 5)


def accuracies(differences: Sequence[int]) -> dict[str, dict[str, Any]]:
    """Percent of predictions that are off by at most (k - 1) / 2 tokens, for each k of `TOP`.

    Args:
        differences: predicted minus true length of each sentence, tokens.

    Returns:
        By measure: the value, its 95% bootstrap interval over sentences, and `hits`, a digit 1 for
        each sentence that counts and 0 for the others.

    Raises:
        ValueError: without sentences.
    """
    number = len(differences)
    if not number:
        raise ValueError("there is no sentence whose length could be predicted")
    found = {}
    for top in TOP:
        hits = [abs(off) <= top // 2 for off in differences]
        resampled = significance.resample(np.array([[hit, 1] for hit in hits]), statistics.percent)
        found[f"length_accuracy_{top}"] = {
            "value": round(resampled.value, bleu.DIGITS),
            **significance.ends(resampled, bleu.DIGITS),
            "unit": "percent",
            "hits": "".join(str(int(hit)) for hit in hits),
        }
    return found


def analyse(job: Job[Analysis]) -> dict[str, Any]:
    """Measure the length predictor of a trained system on every split but the training text.

    Lengths are those of the raw reference in subwords, as the model's canvas has them. Sentences
    without a source, or longer than the model's positions, are not predicted; `left_out` counts
    them.

    Raises:
        UserError: if the model does not fit.
    """
    found = subject(job)
    splits = {}
    for split in found.splits:
        differences = length_differences(
            found.model, split.sources, split.targets, found.batch_tokens
        )
        splits[split.name] = {
            "sentences": len(split.sources),
            "left_out": len(split.sources) - len(differences),
            "measures": accuracies(differences),
        }
    return {"splits": splits}


@torch.no_grad()
def length_differences(
    model: Transformer, sentences: BinarisedText, references: BinarisedText, batch_tokens: int
) -> list[int]:
    """Most probable minus true target length of each sentence that can be predicted, in tokens."""
    predictor = model.length_predictor
    assert predictor is not None
    device = next(model.parameters()).device
    longest = model.architecture.max_positions
    found: dict[int, int] = {}
    for batch in batches(usable_sources(model, sentences), batch_tokens):
        source = source_tensor([sentences[number] for number in batch]).to(device)
        encoded = model.encode(source)
        predicted = predictor.candidates(encoded.source_states, encoded.padding, 1, longest)[:, 0]
        for number, length in zip(batch, predicted.tolist(), strict=True):
            found[number] = length - len(references[number])
    return [found[number] for number in sorted(found)]

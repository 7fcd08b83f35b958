"""Likelihood and BLEU on the plane through three checkpoints (MPLE, Huang et al. 2022, figure 1).

Two models are fine-tuned from the same weights: one by maximum likelihood on the raw text, the
other, which is analysed, by glancing on distilled text. Each point of the plane stands for the
weights

    start + across (maximum likelihood - start) + up (analysed - start).

The validation set is measured at every point of a grid: the log-likelihood of the raw references
under a fully masked input of the reference's length, without the length, and tokenised BLEU of
one pass.
"""

import copy
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from torch import Tensor

from nat.analyses import analysis
from nat.analyses.analysis import Found, Pairs
from nat.analyses.likelihood import losses
from nat.artifacts import Analysis
from nat.data.candidates import RAW, Text
from nat.data.splits import VALID
from nat.data.subwords import merge
from nat.data.vocabulary import Vocabulary
from nat.decoding.corpus import translate
from nat.decoding.one_pass import OnePass
from nat.job import Job
from nat.measures import bleu
from nat.measures.results import DIGITS
from nat.objective.objective import Objective
from nat.registry import Method
from nat.training.model_file import load_model

GRID = tuple(step / 4 for step in range(-1, 6))
"""Places along both directions: 0 is the start, 1 the end of a training."""

MLE, OWN = (1.0, 0.0), (0.0, 1.0)
CORNERS = {"start": (0.0, 0.0), "MLE": MLE, "GLAT + KD": OWN}

Weights = Mapping[str, Tensor]


def analyse(job: Job[Analysis]) -> dict[str, Found]:
    """Measure every point of the grid, and the three corners, on the validation set.

    The ratio of perplexities is the analysed model's over that of maximum likelihood. Raises a
    `UserError` for models that do not belong together.
    """
    subject = analysis.subject(job)
    other = subject.other(job.inputs.other)
    assert other is not None
    [split] = (each for each in subject.splits if each.name == VALID)
    start = load_model(job.inputs.start.weights, split.device).model
    # copies, since the model of the start takes on the weights of every point
    corners = [copy.deepcopy(model.state_dict()) for model in (start, other, subject.model)]
    pairs, target = replace(split, model=start), subject.vocabularies.target
    vanilla = {"text": Text.of(RAW), "input": Method(method="full_mask")}
    training = subject.system.training.model_copy(update=vanilla)
    objective = Objective(training, start, job.artifact.seed, bfloat16=False).eval()
    values = {}
    for up in GRID:
        for across in GRID:
            start.load_state_dict(interpolated(corners, across, up))
            (*_, positions), parts = losses(objective, pairs)
            likelihood = -float(parts["nll"].sum() / positions.sum())
            values[across, up] = likelihood, _bleu(pairs, target, job.corpus.unit)
    measures = {
        "plane_log_likelihood": values[OWN][0],
        "plane_bleu": values[OWN][1],
        "perplexity_ratio": math.exp(values[MLE][0] - values[OWN][0]),
    }
    grid = np.array([[values[across, up] for across in GRID] for up in GRID]).round(DIGITS)
    plane = {
        "across": list(GRID),
        "up": list(GRID),
        "log_likelihood": grid[..., 0].tolist(),
        "bleu": grid[..., 1].tolist(),
        "corners": [{"label": label, "x": x, "y": y} for label, (x, y) in CORNERS.items()],
    }
    numbers = {"sentences": len(pairs.sources), "measures": analysis.measures(measures)}
    return {VALID: {**numbers, "plane": plane}}


def interpolated(corners: Sequence[Weights], across: float, up: float) -> Weights:
    """Weights of the start, the first corner, with these shares of the ways to the other two."""
    start, other, own = corners
    weights = {**start}
    for name, value in start.items():
        if value.is_floating_point():
            origin, right, top = (each[name].double() for each in (start, other, own))
            moved = origin + across * (right - origin) + up * (top - origin)
            weights[name] = moved.to(value.dtype)
    return weights


def _bleu(pairs: Pairs, target: Vocabulary, unit: str) -> float:
    """Tokenised BLEU of one pass over masks, in the units of the corpus."""
    numbers = range(len(pairs.sources))
    translations = translate(pairs.model, OnePass(), pairs.sources, numbers, pairs.batch_tokens)
    texts = [merge(target.decode(each.hypothesis.tokens)) for each in translations]
    references = [merge(target.decode(pairs.targets[number].tolist())) for number in numbers]
    truth = [[line] for line in bleu.split(references, unit)]
    counts = bleu.tokenised_bleu(bleu.split(texts, unit), truth).sentences
    return float(bleu.unsmoothed(counts.sum(0, keepdims=True))[0])

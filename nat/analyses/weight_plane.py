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
from typing import Any

import numpy as np
from torch import Tensor

from nat.analyses import analysis
from nat.analyses.likelihood import losses
from nat.artifacts import Analysis
from nat.data.candidates import RAW, Text
from nat.data.subwords import merge
from nat.decoding.corpus import translate
from nat.decoding.one_pass import OnePass
from nat.job import Job
from nat.measures import bleu
from nat.objective.objective import Objective
from nat.registry import Method
from nat.training.model_file import load_model, matching_model
from nat.transformer.model import Transformer

GRID = tuple(step / 4 for step in range(-1, 6))
"""Places along both directions: 0 is the start, 1 the end of a training."""

SPLIT = "valid"

UNITS = {
    "plane_log_likelihood": "nats per position",
    "plane_bleu": "BLEU",
    "perplexity_ratio": "ratio",
}

Weights = Mapping[str, Tensor]


def interpolated(corners: Sequence[Weights], across: float, up: float) -> Weights:
    """Weights at a point of the plane, in the type of the start's.

    Args:
        corners: the start, the model of maximum likelihood and the analysed model.
        across: share of the way to the second one.
        up: share of the way to the third one.
    """
    start, other, own = corners
    return {
        name: (
            value.double()
            + across * (other[name].double() - value.double())
            + up * (own[name].double() - value.double())
        ).to(value.dtype)
        if value.is_floating_point()
        else value
        for name, value in start.items()
    }


def analyse(job: Job[Analysis]) -> dict[str, Any]:
    """Measure every point of the grid, and the three corners.

    Returns:
        Of the validation set: the measures of the analysed model; under `plane` the grid, the
        values (`None` where they are not finite) and the corners as named points. The ratio of
        perplexities is the analysed model's over that of maximum likelihood.

    Raises:
        UserError: for models that do not belong together.
    """
    found = analysis.subject(job)
    other = matching_model(job.inputs.other, job.configuration, found.vocabularies.sizes)
    start = load_model(job.inputs.start.weights, next(found.model.parameters()).device).model
    # copies, since the model of the start takes on the weights of every point
    corners = [copy.deepcopy(model.state_dict()) for model in (start, other, found.model)]
    split = next(each for each in found.splits if each.name == SPLIT)
    vanilla = {"text": Text.of(RAW), "input": Method(method="full_mask")}
    training = found.training.model_copy(update=vanilla)
    objective = Objective(training, start, job.artifact.seed, bfloat16=False).eval()
    targets = (split.targets[number] for number in range(len(split.targets)))
    references = [[merge(found.vocabularies.target.decode(target.tolist()))] for target in targets]

    def at(across: float, up: float) -> tuple[float, float]:
        start.load_state_dict(interpolated(corners, across, up))
        sums = losses(objective, start, split.sources, split.targets, found.batch_tokens)
        likelihood = -sums.by_position["nll"] / max(sums.positions, 1)
        return likelihood, _bleu(start, split.sources, references, found)

    corners_of = {"start": (0.0, 0.0), "MLE": (1.0, 0.0), "GLAT + KD": (0.0, 1.0)}
    values = {place: at(*place) for place in [(x, y) for y in GRID for x in GRID]}
    own, mle = values[corners_of["GLAT + KD"]], values[corners_of["MLE"]]
    measures = {
        "plane_log_likelihood": own[0],
        "plane_bleu": own[1],
        "perplexity_ratio": math.exp(mle[0] - own[0]),
    }
    return {
        "splits": {
            SPLIT: {
                "sentences": len(split.sources),
                "measures": analysis.measures(measures, UNITS),
                "plane": {
                    "across": list(GRID),
                    "up": list(GRID),
                    "log_likelihood": _matrix(values, 0),
                    "bleu": _matrix(values, 1),
                    "corners": [
                        {"label": label, "x": x, "y": y} for label, (x, y) in corners_of.items()
                    ],
                },
            }
        }
    }


def _bleu(
    model: Transformer,
    sources: analysis.Sentences,
    references: Sequence[Sequence[str]],
    found: analysis.Subject,
) -> float:
    """Tokenised BLEU of one pass over masks."""
    translations = translate(model, OnePass(), sources, range(len(sources)), found.batch_tokens)
    texts = [
        merge(found.vocabularies.target.decode(each.hypothesis.tokens)) for each in translations
    ]
    counts = bleu.tokenised_bleu(texts, references).sentences
    return float(bleu.unsmoothed(counts.sum(0, keepdims=True))[0])


def _matrix(
    values: Mapping[tuple[float, float], tuple[float, float]], which: int
) -> list[list[float | None]]:
    return [
        [
            round(values[x, y][which], bleu.DIGITS) if np.isfinite(values[x, y][which]) else None
            for x in GRID
        ]
        for y in GRID
    ]

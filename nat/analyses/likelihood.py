"""The loss of a trained model's own objective on held-out text, by its parts."""

import math
from typing import Any

import torch

from nat.analyses import analysis
from nat.analyses.analysis import Sentences
from nat.artifacts import Analysis
from nat.data.candidates import RAW, Text
from nat.job import Job
from nat.measures.total_correlation import PARTS
from nat.objective.objective import Objective
from nat.transformer.model import Transformer

LENGTH = "length"
"""Part of the length predictor."""


def analyse(job: Job[Analysis]) -> dict[str, Any]:
    """Mean loss per position of the raw target, as in validation, on every held-out split.

    Inputs and targets are those of the system's own training (masks are those of the first update),
    without dropout and without a teacher. Pairs with an empty side or beyond the model's positions
    are left out and counted.

    Returns:
        For each split: `measures`, each part of the loss in nats per position with a loss,
        and `nll_bits`; `totals`, sums in nats over the split, the length's by sentence; and
        `by_sentence`, the sum of `PARTS` in nats and the tokens of each sentence, in order.

    Raises:
        UserError: if the model does not fit.
    """
    found = analysis.subject(job)
    training = found.training.model_copy(update={"text": Text.of(RAW)})
    objective = Objective(training, found.model, job.artifact.seed, bfloat16=False).eval()
    splits = {}
    for split in found.splits:
        sums = losses(objective, found.model, split.sources, split.targets, found.batch_tokens)
        means = {name: value / max(sums.positions, 1) for name, value in sums.by_position.items()}
        if "nll" in means:
            means["nll_bits"] = means["nll"] / math.log(2)
        units = dict.fromkeys(means, "nats per position") | {"nll_bits": "bits per position"}
        splits[split.name] = {
            "sentences": sums.sentences,
            "left_out": len(split.sources) - sums.sentences,
            "tokens": sums.tokens,
            "positions": sums.positions,
            "measures": analysis.measures(means, units),
            "totals": {name: round(value, 6) for name, value in sums.totals.items()},
            "by_sentence": analysis.by_sentence(sums.of_sentences),
        }
    return {"splits": splits}


class Sums:
    """Sums over a text.

    Attributes:
        sentences: pairs that were measured.
        tokens: target tokens of these, without BOS and EOS.
        positions: those with a loss.
        by_position: each part of the loss as summed in training, nats; that of the length predictor
            is weighted by the number of positions of the sentence.
        totals: each part, nats; the length predictor's once per sentence.
        of_sentences: the sum of `PARTS`, nats, and the tokens of each sentence, by its number.
    """

    def __init__(self) -> None:
        self.sentences = self.tokens = self.positions = 0
        self.by_position: dict[str, float] = {}
        self.totals: dict[str, float] = {}
        self.of_sentences: dict[int, tuple[float, int]] = {}


@torch.no_grad()
def losses(
    objective: Objective,
    model: Transformer,
    sources: Sentences,
    targets: Sentences,
    batch_tokens: int,
) -> Sums:
    """Add up the loss of all usable pairs, see `nat.analyses.analysis.usable`."""
    sums = Sums()
    for batch in analysis.pair_batches(model, sources, targets, batch_tokens):
        loss = objective(model, batch, 0)
        sums.sentences += len(batch.ids)
        sums.tokens += int(batch.target_lengths.sum())
        sums.positions += int(loss.positions.sum())
        nats = torch.zeros_like(loss.value, dtype=torch.float64)
        for name, part in loss.parts.items():
            sums.by_position[name] = sums.by_position.get(name, 0.0) + float(part.sum())
            if name == LENGTH:
                part = part / loss.positions.clamp(min=1)
            if name in PARTS:
                nats += part.double()
            sums.totals[name] = sums.totals.get(name, 0.0) + float(part.double().sum())
        rows = zip(nats.tolist(), batch.target_lengths.tolist(), strict=True)
        sums.of_sentences |= dict(zip(batch.ids.tolist(), rows, strict=True))
    return sums

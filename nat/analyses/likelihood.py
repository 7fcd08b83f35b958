"""The loss of a trained model's own objective on held-out text, by its parts."""

import math
from collections import defaultdict
from dataclasses import dataclass, field

import torch

from nat.analyses import analysis
from nat.analyses.analysis import Found, Pairs, Subject
from nat.data.candidates import RAW, Text
from nat.measures.total_correlation import PARTS
from nat.objective.objective import Objective


@analysis.of_splits
def analyse(subject: Subject, pairs: Pairs) -> Found:
    """Mean loss per position of the raw target, as in validation.

    Inputs and targets are those of the system's own training (masks are those of the first update),
    without dropout and without a teacher. For `totals` and `by_sentence` see `LossSums`.
    """
    training = subject.training.model_copy(update={"text": Text.of(RAW)})
    objective = Objective(training, pairs.model, subject.job.artifact.seed, bfloat16=False).eval()
    sums = losses(objective, pairs)
    means = {name: value / max(sums.positions, 1) for name, value in sums.by_position.items()}
    if "nll" in means:
        means["nll_bits"] = means["nll"] / math.log(2)
    return {
        **pairs.counts(len(sums.of_sentences)),
        "tokens": sums.tokens,
        "positions": sums.positions,
        "measures": analysis.measures(means),
        "totals": {name: round(value, 6) for name, value in sums.totals.items()},
        "by_sentence": analysis.by_sentence(sums.of_sentences),
    }


@dataclass
class LossSums:
    """Sums over a text.

    Attributes:
        tokens: target tokens of the measured pairs, without BOS and EOS.
        positions: those with a loss.
        by_position: each part of the loss as summed in training, nats; that of the length predictor
            is weighted by the number of positions of the sentence.
        totals: each part, nats; the length predictor's once per sentence.
        of_sentences: the sum of `PARTS`, nats, and the tokens of each sentence, by its number.
    """

    tokens: int = 0
    positions: int = 0
    by_position: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))
    totals: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))
    of_sentences: dict[int, tuple[float, int]] = field(default_factory=dict)


@torch.no_grad()
def losses(objective: Objective, pairs: Pairs) -> LossSums:
    """Add up the loss of all usable pairs."""
    sums = LossSums()
    for batch in pairs.batches():
        loss = objective(pairs.model, batch, 0)
        sums.tokens += int(batch.target_lengths.sum())
        sums.positions += int(loss.positions.sum())
        nats = torch.zeros_like(loss.value, dtype=torch.float64)
        for name, part in loss.parts.items():
            sums.by_position[name] += float(part.sum())
            if name == "length":  # weighted by the positions
                part = part / loss.positions.clamp(min=1)
            if name in PARTS:
                nats += part.double()
            sums.totals[name] += float(part.double().sum())
        rows = zip(nats.tolist(), batch.target_lengths.tolist(), strict=True)
        sums.of_sentences |= dict(zip(batch.ids.tolist(), rows, strict=True))
    return sums

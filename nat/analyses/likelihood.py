"""The loss of a trained model's own objective on held-out text, by its parts."""

import math
from collections import defaultdict

import torch
from torch import Tensor

from nat.analyses import analysis
from nat.analyses.analysis import Found, Pairs, Subject
from nat.data.candidates import RAW, Text
from nat.measures.total_correlation import PARTS
from nat.objective.objective import Objective


@analysis.of_splits
def analyse(subject: Subject, pairs: Pairs) -> Found:
    """Mean loss per position of the raw target, as in validation.

    Inputs and targets are those of the system's own training (masks are those of the first update),
    without dropout and without a teacher. In the means, the loss of the length predictor is
    weighted by the positions of its sentence, as in training; `totals` of each part and
    `by_sentence`, the sum of `PARTS` in nats and the tokens, have it once per sentence.
    """
    training = subject.system.training.model_copy(update={"text": Text.of(RAW)})
    objective = Objective(training, pairs.model, subject.job.artifact.seed, bfloat16=False).eval()
    (numbers, tokens, positions), parts = losses(objective, pairs)
    whole = max(int(positions.sum()), 1)
    means = {
        name: float((part * positions if name == "length" else part).sum()) / whole
        for name, part in parts.items()
    }
    if "nll" in means:
        means["nll_bits"] = means["nll"] / math.log(2)
    nats = sum((parts[name] for name in PARTS if name in parts), torch.zeros(len(numbers)))
    rows = zip(nats.tolist(), tokens.tolist(), strict=True)
    return {
        **pairs.counts(len(numbers)),
        "tokens": int(tokens.sum()),
        "positions": int(positions.sum()),
        "measures": analysis.measures(means),
        "totals": {name: round(float(part.sum()), 6) for name, part in parts.items()},
        "by_sentence": analysis.by_sentence(dict(zip(numbers.tolist(), rows, strict=True))),
    }


@torch.no_grad()
def losses(objective: Objective, pairs: Pairs) -> tuple[Tensor, dict[str, Tensor]]:
    """Numbers, target tokens and positions with a loss of all usable pairs, int64 [3, N].

    And each part of the loss of the sentences, nats, float64 [N].
    """
    counts, parts = [torch.empty(3, 0, dtype=torch.long)], defaultdict[str, list[Tensor]](list)
    for batch in pairs.batches():
        loss = objective(pairs.model, batch, 0)
        counts.append(torch.stack((batch.ids, batch.target_lengths, loss.positions)).cpu())
        for name, part in loss.parts.items():
            # training weights the length predictor's by the positions of the sentence
            weights = loss.positions.clamp(min=1) if name == "length" else 1
            parts[name].append((part.double() / weights).cpu())
    return torch.cat(counts, 1), {name: torch.cat(of_batches) for name, of_batches in parts.items()}

"""Cosines between the decoder states of a sentence, and its cross-attention.

Li et al. (2019, "Hints"), figures 1 and 2 and section 3: positions of a NAT with similar states
repeat each other's words; of an AT, 70% of the cosines are below 0.25 and 95% below 0.5. States are
those of the last layer after its feed-forward part; attention is that of the third layer.

Where the paper is ambiguous: the target is given, to an AT as its history and to a NAT as its
length. The position at which an AT predicts EOS counts, too. The paper shows "one" head of one
sentence. Here the sentence is the first of median target length, and the head that which aligns
words best: the one with the largest `coverage` over the split. Of a model that learns from a
teacher's translations it is the teacher's head, so that maps of both are those of the same head.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from nat.analyses import analysis
from nat.artifacts import Analysis
from nat.data.batch import Batch
from nat.data.vocabulary import EOS, MASK, PAD, Vocabularies, Vocabulary
from nat.files import read_json
from nat.inputs.previous_tokens import PreviousTokens
from nat.job import Job
from nat.objective.context import BatchContext
from nat.transformer.model import Transformer
from nat.transformer.trace import DecoderTrace

BELOW = (0.25, 0.5)
ATTENTION_LAYER = 3
"""Layer of the attention map, from 1; the last layer of a model with fewer."""
SHOWN = 4
"""Decimal digits of the maps."""

UNITS = {
    "state_cosine": "cosine",
    "state_cosine_neighbours": "cosine",
    "state_cosine_below_0.25": "percent of pairs",
    "state_cosine_below_0.5": "percent of pairs",
}


class Traced(NamedTuple):
    """States and attention of a decoder on a batch.

    Attributes:
        labels: symbol of each position: of the target, or the most probable one on an upsampled
            canvas or at a blank; PAD at padding, [B, T].
        real: [B, T].
        cosines: between the states of the last layer, [B, T, T].
        attention: cross-attention of `ATTENTION_LAYER`, [B, heads, T, S].
        words: source positions that are neither EOS nor padding, [B, S].
    """

    labels: Tensor
    real: Tensor
    cosines: Tensor
    attention: Tensor
    words: Tensor


def analyse(job: Job[Analysis]) -> dict[str, Any]:
    """Measure cosines over every split but the training text, and draw maps of one sentence.

    Pairs of positions are pooled over a split; those of a position with itself do not count. The
    sentence of the maps has the median target length (of those, it is the first).

    Returns:
        For each split `measures`, `map` and `head`. `map` has `source` and `labels` (subwords),
        `cosines` [T, T], `attention` [heads, T, S] of the layer `attention_layer`, and of the head
        that is shown `alignment` [T, S] and `aligned_by`, its layer and number. `head` has its
        `number` from 0, the system that it was `chosen_by`, and, if that is the system itself, the
        `coverage` of every head.

    Raises:
        UserError: if the model does not fit.
    """
    causal = job.configuration.systems[job.artifact.system].order == "autoregressive"
    found = analysis.subject(job)
    teacher = job.inputs.teacher
    splits = {}
    for split in found.splits:
        numbers = analysis.usable(found.model, split.sources, split.targets)
        values = cosines(found.model, split.sources, split.targets, causal, found.batch_tokens)
        content: dict[str, Any] = {
            "sentences": len(numbers),
            "left_out": len(split.sources) - len(numbers),
            "measures": analysis.measures(values, UNITS),
        }
        if numbers:
            head = None
            if teacher is not None:
                heads = found.model.architecture.heads
                head = _teachers_head(Path(teacher.path), split.name, heads)
            if head is None:
                each = coverage(
                    found.model, split.sources, split.targets, causal, found.batch_tokens
                )
                head = {
                    "number": max(range(len(each)), key=each.__getitem__),
                    "chosen_by": job.artifact.system,
                    "coverage": [round(value, SHOWN) for value in each],
                }
            by_length = sorted(numbers, key=lambda number: (len(split.targets[number]), number))
            middle = len(split.targets[by_length[len(by_length) // 2]])
            chosen = next(n for n in by_length if len(split.targets[n]) == middle)
            batch = Batch.collate([chosen], [split.sources[chosen]], [split.targets[chosen]])
            batch = batch.to(next(found.model.parameters()).device)
            content["head"] = head
            content["map"] = {
                "sentence": chosen,
                **maps(found.model, batch, causal, found.vocabularies, head["number"]),
            }
        splits[split.name] = content
    return {"splits": splits}


def cosines(
    model: Transformer,
    sources: analysis.Sentences,
    targets: analysis.Sentences,
    causal: bool,
    batch_tokens: int,
) -> dict[str, float]:
    """Statistics of the cosines of all pairs of positions; none without a pair."""
    pairs = neighbours = 0
    total = of_neighbours = 0.0
    below = dict.fromkeys(BELOW, 0)
    for traced in _traced(model, sources, targets, causal, batch_tokens):
        both = (traced.real[:, :, None] & traced.real[:, None, :]).triu(1)
        found = traced.cosines[both].double()
        beside = traced.cosines.diagonal(1, 1, 2)[both.diagonal(1, 1, 2)].double()
        pairs, neighbours = pairs + len(found), neighbours + len(beside)
        total, of_neighbours = total + float(found.sum()), of_neighbours + float(beside.sum())
        for limit in BELOW:
            below[limit] += int(found.lt(limit).sum())
    if not pairs:
        return {}
    return {
        "state_cosine": total / pairs,
        "state_cosine_neighbours": of_neighbours / neighbours,
        **{f"state_cosine_below_{limit:g}": 100 * below[limit] / pairs for limit in BELOW},
    }


def coverage(
    model: Transformer,
    sources: analysis.Sentences,
    targets: analysis.Sentences,
    causal: bool,
    batch_tokens: int,
) -> list[float]:
    """How well each head aligns words, from 0 to 1: mean over the sentences of `covered`."""
    found = [covered(traced) for traced in _traced(model, sources, targets, causal, batch_tokens)]
    return [float(value) for value in torch.cat(found).double().mean(0)]


def covered(traced: Traced) -> Tensor:
    """The largest weight that any position gives a source word, mean over the words, [B, heads].

    It is 1 if each word has a position that looks at it alone. It is small for a head whose weights
    are even, and for one that looks at the end of the sentence or at few words only.
    """
    weights = traced.attention.masked_fill(~traced.real[:, None, :, None], 0.0).amax(2)
    words = traced.words[:, None]
    return weights.masked_fill(~words, 0.0).sum(2) / words.sum(2).clamp(min=1)


def _teachers_head(teacher: Path, split: str, heads: int) -> dict[str, Any] | None:
    """The head that the teacher's map shows, from its analysis; None if the student has fewer."""
    head = read_json(teacher)["splits"][split].get("head")
    if head is None or head["number"] >= heads:
        return None
    return {"number": head["number"], "chosen_by": head["chosen_by"]}


def maps(
    model: Transformer, batch: Batch, causal: bool, vocabularies: Vocabularies, head: int
) -> dict[str, Any]:
    """The maps of a batch of one sentence with one of the heads, see `analyse`."""
    traced = trace(model, batch, causal)
    layer = min(ATTENTION_LAYER, model.architecture.decoder_layers)

    def symbols(tokens: Tensor, vocabulary: Vocabulary) -> list[str]:
        return [vocabulary.symbols[token] for token in tokens.tolist()]

    return {
        "source": symbols(batch.source[0], vocabularies.source),
        "labels": symbols(traced.labels[0], vocabularies.target),
        "cosines": _rounded(traced.cosines[0]),
        "attention_layer": layer,
        "attention": _rounded(traced.attention[0]),
        "alignment": _rounded(traced.attention[0, head]),
        "aligned_by": f"layer {layer}, head {head + 1} of {traced.attention.size(1)}",
    }


@torch.no_grad()
def trace(model: Transformer, batch: Batch, causal: bool) -> Traced:
    """Decode a batch whose targets are given, see above."""
    context = BatchContext(model, batch, model.encode(batch.source), seed=0, update=0)
    shown = PreviousTokens()(context) if causal else context.fully_masked_input()
    kept = DecoderTrace()
    states = context.decode(shown, kept)
    real, labels = ~shown.padding, shown.target
    if not causal:
        best = model.output.best(states[real], _never(states))
        labels = torch.full_like(labels, PAD).masked_scatter(real, best.symbols)
    last = F.normalize(kept.states[-1], dim=2)
    layer = min(ATTENTION_LAYER, len(kept.attention)) - 1
    words = batch.source.ne(PAD) & batch.source.ne(EOS)
    return Traced(labels, real, last @ last.mT, kept.attention[layer], words)


def _never(states: Tensor) -> Tensor:
    return torch.tensor([PAD, MASK], device=states.device)


def _traced(
    model: Transformer,
    sources: analysis.Sentences,
    targets: analysis.Sentences,
    causal: bool,
    batch_tokens: int,
) -> Iterator[Traced]:
    for batch in analysis.pair_batches(model, sources, targets, batch_tokens):
        yield trace(model, batch, causal)


def _rounded(values: Tensor) -> Any:
    return (values.double() * 10**SHOWN).round().div(10**SHOWN).tolist()

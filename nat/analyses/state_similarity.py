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

from pathlib import Path
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from nat.analyses import analysis
from nat.analyses.analysis import Found, Pairs, Subject
from nat.data.batch import Batch
from nat.data.vocabulary import EOS, MASK, PAD, Vocabularies
from nat.files import read_json
from nat.inputs.previous_tokens import PreviousTokens
from nat.objective.context import BatchContext
from nat.transformer.layers import DecoderTrace
from nat.transformer.model import Transformer

BELOW = (0.25, 0.5)
ATTENTION_LAYER = 3  # layer of the attention map, from 1; the last layer of a model with fewer
SHOWN = 4  # decimal digits of the maps


class TracedBatch(NamedTuple):
    """States and attention of a decoder on a batch.

    Attributes:
        labels: symbols of the target, or the most probable ones of a NAT; PAD at padding, [B, T].
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


@analysis.of_splits
def analyse(subject: Subject, pairs: Pairs) -> Found:
    """Measure cosines, and draw maps of one sentence, the first of median target length.

    Pairs of positions are pooled over a split; those of a position with itself do not count. `head`
    has the number, from 0, of the head that `alignment` shows.
    """
    causal, numbers = subject.system.training.order == "autoregressive", pairs.usable()
    findings = {
        **pairs.counts(len(numbers)),
        "measures": analysis.measures(cosines(pairs, causal)),
    }
    if not numbers:
        return findings
    teacher, head = subject.job.inputs.teacher, None
    if teacher is not None:  # the head that its map shows, unless the student has fewer
        head = read_json(Path(teacher.path))["splits"][pairs.name].get("head", {}).get("number")
    if head is None or head >= pairs.model.architecture.heads:
        shares = coverage(pairs, causal)
        head = shares.index(max(shares))
    lengths = {number: len(pairs.targets[number]) for number in sorted(numbers)}
    median = sorted(lengths.values())[len(lengths) // 2]
    chosen = next(number for number, length in lengths.items() if length == median)
    shown = maps(pairs.model, pairs.batch([chosen]), causal, subject.vocabularies, head)
    return {**findings, "head": {"number": head}, "map": {"sentence": chosen, **shown}}


def cosines(pairs: Pairs, causal: bool) -> dict[str, float]:
    """Statistics of the cosines of all pairs of positions; none without a pair."""
    of_pairs, of_neighbours = [], []
    for batch in pairs.batches():
        traced = trace(pairs.model, batch, causal)
        both = (traced.real[:, :, None] & traced.real[:, None, :]).triu(1)
        of_pairs.append(traced.cosines[both].double())
        beside = traced.cosines.diagonal(1, 1, 2)[both.diagonal(1, 1, 2)]
        of_neighbours.append(beside.double())
    every, neighbours = (torch.cat(each or [torch.empty(0)]) for each in (of_pairs, of_neighbours))
    if not len(every):
        return {}
    return {
        "state_cosine": float(every.mean()),
        "state_cosine_neighbours": float(neighbours.mean()),
        **{
            f"state_cosine_below_{limit:g}": 100 * float(every.lt(limit).double().mean())
            for limit in BELOW
        },
    }


def coverage(pairs: Pairs, causal: bool) -> list[float]:
    """Coverage of source words by each head, from 0 to 1: mean over the sentences of `covered`."""
    rows = [covered(trace(pairs.model, batch, causal)) for batch in pairs.batches()]
    means: list[float] = torch.cat(rows).double().mean(0).tolist()
    return means


def covered(traced: TracedBatch) -> Tensor:
    """The largest weight that any position gives a source word, mean over the words, [B, heads].

    It is 1 if each word has a position that looks at it alone. It is small for a head whose weights
    are even, and for one that looks at the end of the sentence or at few words only.
    """
    weights = traced.attention.masked_fill(~traced.real[:, None, :, None], 0.0).amax(2)
    words = traced.words[:, None]
    return weights.masked_fill(~words, 0.0).sum(2) / words.sum(2).clamp(min=1)


def maps(
    model: Transformer, batch: Batch, causal: bool, vocabularies: Vocabularies, head: int
) -> dict[str, Any]:
    """The maps of a batch of one sentence: `cosines` [T, T], and `alignment` [T, S] by a head."""
    traced = trace(model, batch, causal)
    layer = min(ATTENTION_LAYER, model.architecture.decoder_layers)
    return {
        "source": [vocabularies.source.symbols[token] for token in batch.source[0].tolist()],
        "labels": [vocabularies.target.symbols[token] for token in traced.labels[0].tolist()],
        "cosines": traced.cosines[0].double().round(decimals=SHOWN).tolist(),
        "alignment": traced.attention[0, head].double().round(decimals=SHOWN).tolist(),
        "aligned_by": f"layer {layer}, head {head + 1} of {traced.attention.size(1)}",
    }


@torch.no_grad()
def trace(model: Transformer, batch: Batch, causal: bool) -> TracedBatch:
    """Decode a batch whose targets are given, see above."""
    context = BatchContext(model, batch, model.encode(batch.source), seed=0, update=0)
    shown = PreviousTokens()(context) if causal else context.fully_masked_input()
    kept = DecoderTrace()
    states = context.decode(shown, kept)
    real, labels = ~shown.padding, shown.target
    if not causal:
        best = model.output.best(states[real], (PAD, MASK))
        labels = torch.full_like(labels, PAD).masked_scatter(real, best.symbols)
    last = F.normalize(kept.states[-1], dim=2)
    layer = min(ATTENTION_LAYER, len(kept.attention)) - 1
    words = batch.source.ne(PAD) & batch.source.ne(EOS)
    return TracedBatch(labels, real, last @ last.mT, kept.attention[layer], words)

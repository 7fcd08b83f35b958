"""The confidence of a parallel model in its translations.

MPLE (Huang et al. 2022), figure 7, sets the confidence I of a model with two decodings, from
masks alone (default) and with input sampling, beside their BLEU, but gives no formula.
Where the paper is ambiguous: I is the mean over positions of the largest log-probability, nats; at
positions revealed by input sampling, that of the token shown. The entropy of the positions is also
reported, as a share of its maximum, log V.
"""

import math
from typing import NamedTuple

import torch

from nat.analyses import analysis
from nat.analyses.analysis import Found, Pairs, Subject
from nat.data.vocabulary import MASK, PAD
from nat.decoding.canvas import canvases_of
from nat.decoding.input_sampling import InputSampling
from nat.transformer.model import Transformer


class ConfidenceSums(NamedTuple):
    """Sums over all positions, of the largest log-probabilities and of the entropies, nats."""

    sentences: int
    positions: int
    confidence: float
    entropy: float


@analysis.of_splits
def analyse(subject: Subject, pairs: Pairs) -> Found:
    """Measure the confidence on the sources; with input sampling of models that learned it."""
    sums = default_confidence(pairs)
    positions = max(sums.positions, 1)
    entropy = sums.entropy / positions / math.log(subject.vocabularies.sizes.target)
    values = {"confidence": sums.confidence / positions, "normalised_entropy": entropy}
    assistant = subject.other(subject.job.inputs.teacher)
    if assistant is not None:
        values["confidence_sampled"] = sampled_confidence(pairs, assistant)
    return {
        **pairs.counts(sums.sentences),
        "positions": sums.positions,
        "measures": analysis.measures(values),
    }


@torch.inference_mode()
def default_confidence(pairs: Pairs) -> ConfidenceSums:
    """Sums of one pass over masks, of the most probable length or of the upsampled source."""
    model = pairs.model
    sentences = positions = 0
    confidence = entropy = 0.0
    for numbers, source in pairs.source_batches():
        encoded = model.encode(source)
        if model.decoder.upsample is None:
            canvases = canvases_of(model, encoded, length_beam=1)
            tokens, padding = canvases.tokens, ~canvases.real
        else:
            padding = model.upsampled_padding(encoded)
            tokens = torch.where(padding, PAD, MASK)
        states = model.decode(tokens, padding, encoded, causal=False)[~padding]
        for logits in model.output.logits(states):
            log_probabilities = logits.log_softmax(1)
            confidence += float(log_probabilities.amax(1).double().sum())
            of_rows = (log_probabilities.exp() * log_probabilities).sum(1)
            entropy -= float(of_rows.double().sum())
        sentences += len(numbers)
        positions += len(states)
    return ConfidenceSums(sentences, positions, confidence, entropy)


def sampled_confidence(pairs: Pairs, assistant: Transformer) -> float:
    """Mean log-probability of the tokens that input sampling decodes, nats per token."""
    total, tokens = 0.0, 0
    for _, source in pairs.source_batches():
        for hypothesis in InputSampling()(pairs.model, source, assistant=assistant):
            total += hypothesis.score * len(hypothesis.tokens)
            tokens += len(hypothesis.tokens)
    return total / max(tokens, 1)

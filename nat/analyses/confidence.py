"""The confidence of a parallel model in its translations.

MPLE (Huang et al. 2022), figure 7, sets the confidence I of a model with two decodings, from
masks alone (default) and with input sampling, beside their BLEU, but gives no formula.
Where the paper is ambiguous: I is the mean over positions of the largest log-probability, nats; at
positions revealed by input sampling, that of the token shown.
"""

import torch

from nat.analyses import analysis
from nat.analyses.analysis import Found, Pairs, Subject
from nat.data.vocabulary import MASK, PAD
from nat.decoding.canvas import canvases_of
from nat.decoding.input_sampling import InputSampling
from nat.transformer.model import Transformer


@analysis.of_splits
def analyse(subject: Subject, pairs: Pairs) -> Found:
    """Measure the confidence on the sources; with input sampling of models that learned it."""
    sentences, positions, confidence = default_confidence(pairs)
    values = {"confidence": confidence / max(positions, 1)}
    assistant = subject.other(subject.job.inputs.teacher)
    if assistant is not None:
        values["confidence_sampled"] = sampled_confidence(pairs, assistant)
    numbers = {"positions": positions, "measures": analysis.measures(values)}
    return pairs.counts(sentences) | numbers


@torch.inference_mode()
def default_confidence(pairs: Pairs) -> tuple[int, int, float]:
    """Sentences, positions, and the sum of their largest log-probabilities, nats.

    They are those of one pass over masks, of the most probable length or the upsampled source.
    """
    model, sentences, positions, confidence = pairs.model, 0, 0, 0.0
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
            confidence += float(logits.log_softmax(1).amax(1).double().sum())
        sentences += len(numbers)
        positions += len(states)
    return sentences, positions, confidence


def sampled_confidence(pairs: Pairs, assistant: Transformer) -> float:
    """Mean log-probability of the tokens that input sampling decodes, nats per token."""
    total, tokens = 0.0, 0
    for _, source in pairs.source_batches():
        for hypothesis in InputSampling()(pairs.model, source, assistant=assistant):
            total += hypothesis.score * len(hypothesis.tokens)
            tokens += len(hypothesis.tokens)
    return total / max(tokens, 1)

"""The confidence of a parallel model in its translations.

MPLE (Huang et al. 2022), figure 7, sets the confidence I of a model with two decodings, from
masks alone (default) and with input sampling, beside their BLEU, but gives no formula.
Where the paper is ambiguous: I is the mean over positions of the largest log-probability, nats; at
positions revealed by input sampling, that of the token shown. The entropy of the positions is also
reported, as a share of its maximum, log V.
"""

import math
from typing import Any, NamedTuple

import torch
from torch import Tensor

from nat.analyses import analysis
from nat.artifacts import Analysis
from nat.data.batch import source_tensor
from nat.data.vocabulary import MASK, PAD
from nat.decoding.canvas import canvases_of
from nat.decoding.corpus import batches
from nat.decoding.input_sampling import InputSampling
from nat.job import Job
from nat.training.model_file import matching_model
from nat.transformer.model import Encoded, Transformer

UNITS = {
    "confidence": "nats per position",
    "confidence_sampled": "nats per position",
    "normalised_entropy": "share of log V",
}


class Sums(NamedTuple):
    """Sums over all positions of a text.

    Attributes:
        sentences: number of decoded sentences.
        positions: number of positions of their canvases.
        confidence: sum of the largest log-probabilities, nats.
        entropy: sum of the entropies, nats.
    """

    sentences: int
    positions: int
    confidence: float
    entropy: float


def analyse(job: Job[Analysis]) -> dict[str, Any]:
    """Measure the confidence of a system on the sources of every split but the training text.

    `confidence_sampled` is only measured for systems with an input predictor.

    Raises:
        UserError: if its files do not belong together.
    """
    found = analysis.subject(job)
    assistant = None
    teacher = job.inputs.teacher
    if teacher is not None:
        assistant = matching_model(teacher, job.configuration, found.vocabularies.sizes)
    splits = {}
    for split in found.splits:
        sums = default_confidence(found.model, split.sources, found.batch_tokens)
        positions = max(sums.positions, 1)
        values = {
            "confidence": sums.confidence / positions,
            "normalised_entropy": sums.entropy
            / positions
            / math.log(found.vocabularies.sizes.target),
        }
        if assistant is not None:
            values["confidence_sampled"] = sampled_confidence(
                found.model, assistant, split.sources, found.batch_tokens
            )
        splits[split.name] = {
            "sentences": sums.sentences,
            "left_out": len(split.sources) - sums.sentences,
            "positions": sums.positions,
            "measures": analysis.measures(values, UNITS),
        }
    return {"splits": splits}


@torch.inference_mode()
def default_confidence(model: Transformer, sources: analysis.Sentences, batch_tokens: int) -> Sums:
    """One pass over masks, of the most probable length or of the upsampled source."""
    device = next(model.parameters()).device
    sentences = positions = 0
    confidence = entropy = 0.0
    for numbers in batches(analysis.usable_sources(model, sources), batch_tokens):
        encoded = model.encode(source_tensor([sources[number] for number in numbers]).to(device))
        tokens, padding = _blank(model, encoded)
        states = model.decode(tokens, padding, encoded, causal=False)[~padding]
        for logits in model.output.logits(states):
            found = logits.log_softmax(1)
            confidence += float(found.amax(1).double().sum())
            entropy -= float((found.exp() * found).sum(1).double().sum())
        sentences += len(numbers)
        positions += len(states)
    return Sums(sentences, positions, confidence, entropy)


def sampled_confidence(
    model: Transformer, assistant: Transformer, sources: analysis.Sentences, batch_tokens: int
) -> float:
    """Mean log-probability of the tokens that input sampling decodes, nats per token."""
    device = next(model.parameters()).device
    total, tokens = 0.0, 0
    for numbers in batches(analysis.usable_sources(model, sources), batch_tokens):
        source = source_tensor([sources[number] for number in numbers]).to(device)
        for hypothesis in InputSampling()(model, source, assistant=assistant):
            total += hypothesis.score * len(hypothesis.tokens)
            tokens += len(hypothesis.tokens)
    return total / max(tokens, 1)


def _blank(model: Transformer, encoded: Encoded) -> tuple[Tensor, Tensor]:
    if model.decoder.upsample is None:
        canvases = canvases_of(model, encoded, length_beam=1)
        return canvases.tokens, ~canvases.real
    padding = model.upsampled_padding(encoded)
    return torch.where(padding, PAD, MASK), padding

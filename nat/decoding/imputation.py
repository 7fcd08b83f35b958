"""Imputation: an alignment is completed block by block (Saharia et al. 2020)."""

import itertools
from collections.abc import Iterator
from typing import NamedTuple

import torch
from torch import Tensor

from nat.alignment.ctc import collapse
from nat.alignment.reveal import most_confident_in_blocks
from nat.data.vocabulary import BLANK, EOS, MASK, PAD
from nat.decoding.hypothesis import Hypothesis
from nat.decoding.network import Network, predict
from nat.decoding.passes import Pass
from nat.transformer.model import Encoded, Transformer
from nat.transformer.output import Output


class Imputed(NamedTuple):
    """Alignments.

    Attributes:
        labels: BLANK or a token, MASK where none is revealed yet, PAD at padding, [B, T].
        log_probabilities: of the labels that were imputed, each from the pass that revealed it,
            nats; zero at the others, [B, T].
        passes: number of decoder passes for each sentence, [B].
    """

    labels: Tensor
    log_probabilities: Tensor
    passes: Tensor


@torch.no_grad()
def imputations(
    model: Network,
    encoded: Encoded,
    tokens: Tensor,
    padding: Tensor,
    steps: int,
    output: Output | None = None,
    blank_penalty: float = 0.0,
) -> Iterator[Imputed]:
    """Replace masks by the most probable labels in several passes (Saharia et al. 2020, sec. 3.3).

    Every pass sees the labels that are revealed already, and reveals the masks that
    `nat.alignment.reveal.most_confident_in_blocks` selects; revealed labels stay. Special symbols
    other than UNK and BLANK are never chosen.

    Args:
        model: predicts labels.
        encoded: encoder states of the sources.
        tokens: labels, MASK where there is none yet, [B, T].
        padding: True at padding, [B, T].
        steps: number of passes, at least 1.
        output: see `nat.decoding.network.predict`.
        blank_penalty: see `nat.decoding.network.predict`.

    Yields:
        The alignments before the first pass and after each one.
    """
    masked = tokens.eq(MASK) & ~padding
    log_probabilities = model.output.weight.new_zeros(tokens.shape)
    passes = torch.zeros_like(tokens[:, 0])
    yield Imputed(tokens, log_probabilities, passes)
    for number in range(1, steps + 1):
        if not masked.any():
            break
        passes = passes + masked.any(1)
        best = predict(model, tokens, padding, encoded, masked, blank_penalty, output)
        labels = best.symbols.masked_fill(best.symbols == EOS, BLANK)
        confidence = torch.zeros_like(log_probabilities)
        confidence[masked] = best.log_probabilities
        revealed = most_confident_in_blocks(confidence, masked, steps, number)
        tokens = torch.where(revealed, tokens.masked_scatter(masked, labels), tokens)
        log_probabilities = torch.where(revealed, confidence, log_probabilities)
        masked = masked & ~revealed
        yield Imputed(tokens, log_probabilities, passes)


def imputed_translations(
    model: Network, encoded: Encoded, steps: int, blank_penalty: float = 0.0
) -> list[Hypothesis]:
    """Collapsed alignments, imputed from masks only, with their mean log-probability per frame."""
    padding = model.upsampled_padding(encoded)
    empty = torch.where(padding, PAD, MASK)
    *_, imputed = imputations(model, encoded, empty, padding, steps, blank_penalty=blank_penalty)
    written = collapse(imputed.labels, padding)
    scores = imputed.log_probabilities.sum(1) / (~padding).sum(1)
    rows = zip(
        written.tokens.tolist(),
        written.lengths.tolist(),
        scores.tolist(),
        imputed.passes.tolist(),
        strict=True,
    )
    return [Hypothesis(tokens[:length], score, passes) for tokens, length, score, passes in rows]


@torch.inference_mode()
def imputed_passes(
    model: Transformer, source: Tensor, steps: int, blank_penalty: float = 0.0
) -> list[list[Pass]]:
    """The passes of `imputed_translations`, with frames for tokens."""
    encoded = model.encode(source)
    padding = model.upsampled_padding(encoded)
    empty = torch.where(padding, PAD, MASK)
    states = list(imputations(model, encoded, empty, padding, steps, blank_penalty=blank_penalty))
    frames = (~padding).sum(1).tolist()
    passes: list[list[Pass]] = [[] for _ in frames]
    for before, after in itertools.pairwise(states):
        masked = before.labels.eq(MASK)
        revealed = masked & after.labels.ne(MASK)
        for row, length in enumerate(frames):
            if revealed[row].any():
                passes[row].append(
                    Pass(
                        after.labels[row, :length].tolist(),
                        revealed[row].nonzero()[:, 0].tolist(),
                        masked[row].nonzero()[:, 0].tolist(),
                        after.log_probabilities[row, :length].tolist(),
                    )
                )
    return passes

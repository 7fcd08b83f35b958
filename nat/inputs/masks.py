"""Masking and revealing, as several proxy inputs do it."""

import torch
from torch import Tensor

from nat.alignment.reveal import least_confident, most_confident
from nat.data.vocabulary import MASK, PAD
from nat.objective.context import BatchContext, DecoderInput


def mask_at_random(context: BatchContext, masks: Tensor) -> DecoderInput:
    """Mask uniformly drawn positions of the target [B, T], which carry the loss.

    Uses stream 1 of the context's random numbers. `masks` is the number of positions of each
    sentence, [B]; an empty target has none.
    """
    target = context.batch.target
    real = target.ne(PAD)
    order = context.uniform(target.size(1), stream=1).masked_fill(~real, 2.0)
    masked = least_confident(order, masks) & real
    return DecoderInput(torch.where(masked, MASK, target), ~real, target, masked)


def reveal(
    canvas: DecoderInput, labels: Tensor, number: Tensor, order: Tensor, upsampled: bool
) -> DecoderInput:
    """Reveal labels on a canvas of masks [B, T].

    If the canvas is as long as the target, at least one position stays hidden, and only hidden
    positions carry loss. An upsampled canvas may be revealed completely, and all of its positions
    carry loss.

    Args:
        labels: of the positions, MASK where there is none, [B, T].
        number: of labels to reveal in each sentence, [B]; at most as many as there are.
        order: values of which the highest mark the labels to reveal, [B, T].
    """
    known = ~canvas.padding & labels.ne(MASK)
    most = known.sum(1)
    if not upsampled:
        most = (most - 1).clamp(min=0)
    revealed = most_confident(order.masked_fill(~known, -torch.inf), number.minimum(most))
    loss_mask = ~canvas.padding if upsampled else ~canvas.padding & ~revealed
    tokens = torch.where(revealed, labels, canvas.tokens)
    return DecoderInput(tokens, canvas.padding, labels, loss_mask)

"""Masking, revealing and chunks, as several proxy inputs have them."""

import torch
from torch import Tensor

from nat.alignment.reveal import least_confident, most_confident
from nat.data.vocabulary import EOS, MASK, PAD
from nat.objective.context import BatchContext, DecoderInput
from nat.objective.first_pass import FirstPass


def mask_at_random(context: BatchContext, masks: Tensor) -> DecoderInput:
    """Mask uniformly drawn positions of the target [B, T], which carry the loss.

    Uses stream 1 of the context's random numbers. `masks` is the number of positions of each
    sentence, [B]; an empty target has none.
    """
    target = context.batch.target
    real = target.ne(PAD)
    masked = least_confident(context.uniform(target.size(1), stream=1), masks, real)
    return DecoderInput(torch.where(masked, MASK, target), ~real, target, masked)


def reveal(first: FirstPass, number: Tensor, order: Tensor) -> DecoderInput:
    """Reveal labels on the canvas of a first pass [B, T].

    If the canvas is as long as the target, at least one position stays hidden, and only hidden
    positions carry loss. An upsampled canvas may be revealed completely, and all of its positions
    carry loss.

    Args:
        number: of labels to reveal in each sentence, [B]; at most as many as there are.
        order: values of which the highest mark the labels to reveal, [B, T].
    """
    canvas, most = first.canvas, first.known.sum(1)
    if not first.upsampled:
        most = (most - 1).clamp(min=0)
    revealed = most_confident(order, number.minimum(most), first.known)
    loss_mask = ~canvas.padding if first.upsampled else ~canvas.padding & ~revealed
    tokens = torch.where(revealed, first.labels, canvas.tokens)
    return DecoderInput(tokens, canvas.padding, first.labels, loss_mask)


def with_ends(target: Tensor, lengths: Tensor, chunk: int) -> tuple[Tensor, Tensor]:
    """Targets padded with EOS to a multiple of the chunk, and where these are no padding, [B, T].

    HRT and SAT learn a chunk of tokens at a time. T is a multiple of it, and larger than the
    longest target. PAD follows the last EOS.
    """
    wholes = (lengths // chunk + 1) * chunk
    width = int(wholes.max()) if len(wholes) else 0
    places = torch.arange(width, device=target.device)
    ended = torch.full((len(target), width), EOS, device=target.device)
    ended[:, : target.size(1)] = torch.where(target.eq(PAD), EOS, target)[:, :width]
    real = places < wholes[:, None]
    return torch.where(real, ended, PAD), real

"""Random masking, shared by the proxy inputs that mask uniformly drawn positions."""

import torch
from torch import Tensor

from nat.alignment.reveal import least_confident
from nat.data.vocabulary import MASK, PAD
from nat.objective.context import BatchContext, DecoderInput


def mask_at_random(context: BatchContext, masks: Tensor) -> DecoderInput:
    """Mask uniformly drawn positions of the target [B, T], which carry the loss.

    Uses stream 1 of the context's random numbers.

    Args:
        context: the forward pass.
        masks: number of positions of each sentence, [B]; an empty target has none.
    """
    target = context.batch.target
    real = target.ne(PAD)
    order = context.uniform(target.size(1), stream=1).masked_fill(~real, 2.0)
    masked = least_confident(order, masks) & real
    return DecoderInput(torch.where(masked, MASK, target), ~real, target, masked)

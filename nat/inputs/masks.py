"""Random masking, shared by the proxy inputs that mask uniformly drawn positions."""

import torch
from torch import Tensor

from nat.data.vocabulary import MASK, PAD
from nat.decoding.reveal import least_confident
from nat.training.step import DecoderInput, Step


def mask_at_random(step: Step, masks: Tensor) -> DecoderInput:
    """Mask uniformly drawn positions of the target [B, T], which carry the loss.

    Uses stream 1 of the step's random numbers.

    Args:
        step: the forward pass.
        masks: number of positions of each sentence, [B]; an empty target has none.
    """
    target = step.batch.target
    real = target.ne(PAD)
    order = step.uniform(target.size(1), stream=1).masked_fill(~real, 2.0)
    masked = least_confident(order, masks) & real
    return DecoderInput(torch.where(masked, MASK, target), ~real, target, masked)

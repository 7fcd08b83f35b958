"""Uniform masking of the conditional masked language model (Ghazvininejad et al. 2019)."""

import torch
from pydantic import ConfigDict
from pydantic.dataclasses import dataclass

from nat.data.vocabulary import MASK, PAD
from nat.decoding.reveal import least_confident
from nat.training.step import DecoderInput, Step


@dataclass(frozen=True, config=ConfigDict(extra="forbid"))
class RandomMask:
    """Mask a uniformly drawn number of tokens, 1 to N, at uniformly drawn positions."""

    reveals_tokens = True

    def __call__(self, step: Step) -> DecoderInput:
        """Mask part of the target [B, T]; the masked positions carry the loss."""
        target = step.batch.target
        real = target.ne(PAD)
        lengths = real.sum(1)
        # at least one: a sentence without a mask would have nothing to learn
        masks = (step.uniform(1)[:, 0] * lengths).long() + 1
        order = step.uniform(target.size(1), stream=1).masked_fill(~real, 2.0)
        masked = least_confident(order, masks) & real
        return DecoderInput(torch.where(masked, MASK, target), target, masked)


METHOD = RandomMask

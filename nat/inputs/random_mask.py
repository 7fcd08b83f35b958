"""Uniform masking of the conditional masked language model (Ghazvininejad et al. 2019)."""

from pydantic import ConfigDict
from pydantic.dataclasses import dataclass

from nat.inputs.masks import mask_at_random
from nat.training.step import DecoderInput, Step


@dataclass(frozen=True, config=ConfigDict(extra="forbid"))
class RandomMask:
    """Mask a uniformly drawn number of tokens, 1 to N, at uniformly drawn positions."""

    reveals_tokens = True
    upsampled = False

    def __call__(self, step: Step) -> DecoderInput:
        """Mask part of the target [B, T]; the masked positions carry the loss."""
        # at least one mask, since a sentence without one has no loss
        masks = (step.uniform(1)[:, 0] * step.batch.target_lengths).long() + 1
        return mask_at_random(step, masks)


METHOD = RandomMask

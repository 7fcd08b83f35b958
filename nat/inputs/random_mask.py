"""Uniform masking of the conditional masked language model (Ghazvininejad et al. 2019)."""

from pydantic import ConfigDict
from pydantic.dataclasses import dataclass

from nat.inputs.masks import mask_at_random
from nat.objective.context import BatchContext, DecoderInput


@dataclass(frozen=True, config=ConfigDict(extra="forbid"))
class RandomMask:
    """Mask a uniformly drawn number of tokens, 1 to N, at uniformly drawn positions."""

    trains_on_partial_targets = True
    upsampled = False

    def __call__(self, context: BatchContext) -> DecoderInput:
        """Mask part of the target [B, T]; the masked positions carry the loss."""
        # at least one mask, since a sentence without one has no loss
        masks = (context.uniform(1)[:, 0] * context.batch.target_lengths).long() + 1
        return mask_at_random(context, masks)


METHOD = RandomMask

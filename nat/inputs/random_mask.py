"""Uniform masking of the conditional masked language model (Ghazvininejad et al. 2019)."""

from nat.inputs.masks import mask_at_random
from nat.inputs.options import RandomMaskOptions
from nat.objective.context import BatchContext, DecoderInput


class RandomMask(RandomMaskOptions):
    """Mask a uniformly drawn number of tokens, 1 to N, at uniformly drawn positions."""

    def __call__(self, context: BatchContext) -> DecoderInput:
        """Mask part of the target [B, T]; the masked positions carry the loss."""
        # at least one mask, since a sentence without one has no loss
        masks = (context.uniform(1)[:, 0] * context.batch.target_lengths).long() + 1
        return mask_at_random(context, masks)


METHOD = RandomMask

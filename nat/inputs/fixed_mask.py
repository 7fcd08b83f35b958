"""Masking with a constant ratio ("CMLM, fixed" of Huang et al. 2022, table 3)."""

from nat.alignment.reveal import share_of
from nat.inputs.masks import mask_at_random
from nat.inputs.options import FixedMaskOptions
from nat.objective.context import BatchContext, DecoderInput


class FixedMask(FixedMaskOptions):
    """Reveal the same share of every target, at uniformly drawn positions.

    Where the paper is ambiguous: revealed * N of N tokens are shown, rounded to the nearest integer
    (halves to the even one), but at most N - 1.
    """

    def __call__(self, context: BatchContext) -> DecoderInput:
        """Mask the rest of the target [B, T]; the masked positions carry the loss."""
        lengths = context.batch.target_lengths
        shown = share_of(lengths, self.revealed).round().long()
        # at least one mask, since a sentence without one has no loss
        return mask_at_random(context, (lengths - shown).clamp(min=1))


METHOD = FixedMask

"""Full mask: the decoder sees only the length of the target (vanilla NAT)."""

from nat.inputs.options import FullMaskOptions
from nat.objective.context import BatchContext, DecoderInput


class FullMask(FullMaskOptions):
    """Every position is MASK and carries loss (Gu et al. 2018, without fertilities)."""

    def __call__(self, context: BatchContext) -> DecoderInput:
        """Masks for all positions of the canvas, [B, T]."""
        return context.fully_masked_input()


METHOD = FullMask

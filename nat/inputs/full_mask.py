"""Full mask: the decoder sees only the length of the target (vanilla NAT)."""

from pydantic import ConfigDict
from pydantic.dataclasses import dataclass

from nat.objective.context import BatchContext, DecoderInput


@dataclass(frozen=True, config=ConfigDict(extra="forbid"))
class FullMask:
    """Every position is MASK and carries loss (Gu et al. 2018, without fertilities)."""

    def __call__(self, context: BatchContext) -> DecoderInput:
        """Masks for all positions of the canvas, [B, T]."""
        return context.fully_masked_input()


METHOD = FullMask

"""Full mask: the decoder sees nothing of the target but its length (vanilla NAT)."""

import torch
from pydantic import ConfigDict
from pydantic.dataclasses import dataclass

from nat.data.vocabulary import MASK, PAD
from nat.training.step import DecoderInput, Step


@dataclass(frozen=True, config=ConfigDict(extra="forbid"))
class FullMask:
    """Every position is MASK and every position is learnt (Gu et al. 2018, without fertility)."""

    def __call__(self, step: Step) -> DecoderInput:
        """Replace the target [B, T] by masks."""
        target = step.batch.target
        real = target.ne(PAD)
        return DecoderInput(torch.where(real, MASK, PAD), target, real)


METHOD = FullMask

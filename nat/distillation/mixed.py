"""Mixed distillation: references or translations of a teacher, drawn anew at each update."""

import torch
from torch import Tensor

from nat.data.vocabulary import PAD
from nat.distillation.options import MixedOptions
from nat.objective.context import BatchContext

STREAM = 2 << 32  # of random numbers; inputs and targets use small numbers


class Mixed(MixedOptions):
    """MixDistill (HRT, Wang et al. 2022, algorithm 1): drawn for each pair at each update."""

    def __call__(self, context: BatchContext) -> Tensor:
        """Numbers of the chosen candidates, [B]; an empty one is replaced by the other."""
        drawn = (context.uniform(1, STREAM)[:, 0] >= self.raw).long()
        assert context.batch.candidates is not None
        empty = context.batch.candidates.ne(PAD).sum(2).eq(0)
        return torch.where(empty.gather(1, drawn[:, None])[:, 0], 1 - drawn, drawn)


METHOD = Mixed

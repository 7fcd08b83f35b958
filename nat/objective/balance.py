"""Weights that scale further terms of a loss to the size of its first term."""

import math
from collections.abc import Mapping, Sequence

import torch
from torch import Tensor, nn


class Balance(nn.Module):
    """A weight for each of some terms, determined by the first batch of a training.

    The weight of a term is the sum of the first term of the loss divided by the sum of this term,
    over the first batch of every device, so that both contribute equally when training starts; it
    is constant from then on. It is 1 where the term is zero.

    Attributes:
        weights: in the order of the names, NaN before the first batch, [n]. They are part of the
            state and therefore of checkpoints.
    """

    weights: Tensor

    def __init__(self, names: Sequence[str]) -> None:
        super().__init__()
        self.names = tuple(names)
        self.register_buffer("weights", torch.full((len(names),), math.nan, dtype=torch.float64))

    @torch.no_grad()
    def forward(self, first: Tensor, terms: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """The weights by name, each [], from the first term of the loss and the others, [B]."""
        if self.weights.isnan().any():
            sums = torch.stack([first.sum(), *(terms[name].sum() for name in self.names)])
            sums = sums.double()
            if torch.distributed.is_initialized():
                torch.distributed.all_reduce(sums)
            self.weights.copy_(torch.where(sums[1:] > 0, sums[0] / sums[1:], 1.0))
        return dict(zip(self.names, self.weights, strict=True))

    def found(self) -> dict[str, float]:
        """The weights as numbers, for the record."""
        return dict(zip(self.names, self.weights.tolist(), strict=True))

"""Dropout with cheap random numbers."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch
import torch.nn.functional as F
from torch import Tensor, nn

LEVELS = 1 << 16
"""Probabilities are rounded to multiples of the reciprocal."""


def dropout(states: Tensor, probability: float, training: bool) -> Tensor:
    """Set each value to zero with `probability` (below one) and scale the others up, if `training`.

    On a CPU, PyTorch draws one number per value sequentially, which takes up to a tenth of a
    training step; here each draw of its generator is used for four values.
    """
    if not training or probability == 0:
        return states
    if states.device.type != "cpu":
        return F.dropout(states, probability)
    dropped = min(round(probability * LEVELS), LEVELS - 1)
    count = states.numel()
    draws = torch.empty((count + 3) // 4, dtype=torch.int64).random_(-(2**63), None)
    levels = draws.view(torch.int16)[:count].view(states.shape)
    kept = levels >= dropped - LEVELS // 2
    return states * kept.to(states.dtype).mul_(LEVELS / (LEVELS - dropped))


@contextmanager
def without_dropout(model: nn.Module) -> Iterator[None]:
    """Put a model into evaluation mode within a block."""
    training = model.training
    model.eval()
    try:
        yield
    finally:
        model.train(training)

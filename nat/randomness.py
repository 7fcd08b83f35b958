"""Random numbers that depend on the sentence, not on the batch it happens to be in.

A number is a hash of (seed, update, sentence number, position, stream). So masks are the same
however a batch is cut: over accumulation steps, over devices, or after a restart.
"""

import math

import torch
from torch import Tensor

# splitmix64 (Steele, Lea and Flood, 2014), as signed 64-bit integers that wrap around.
_GOLDEN = -7046029254386353131
_FIRST = -4658895280553007687
_SECOND = -7723592293110705685


def _shift_right(value: Tensor, bits: int) -> Tensor:
    return (value >> bits) & ((1 << (64 - bits)) - 1)


def _mix(value: Tensor) -> Tensor:
    value = value + _GOLDEN
    value = (value ^ _shift_right(value, 30)) * _FIRST
    value = (value ^ _shift_right(value, 27)) * _SECOND
    return value ^ _shift_right(value, 31)


def uniform(seed: int, update: int, ids: Tensor, width: int, stream: int = 0) -> Tensor:
    """Uniform numbers in [0, 1), one row per sentence, [B, width] float32.

    A longer row begins with the shorter one's numbers.

    Args:
        seed: of the run.
        update: of the training.
        ids: sentence numbers, [B] int64.
        width: numbers per sentence.
        stream: separates independent uses within one update.
    """
    # Mixed before the update joins, or seed 1 would repeat in update 2 what seed 2 did in update 1.
    state = _mix(torch.tensor(seed, dtype=torch.int64, device=ids.device))
    for part in (update, stream):
        state = _mix(state ^ part)
    state = _mix(state ^ ids)
    positions = torch.arange(width, dtype=torch.int64, device=ids.device)
    bits = _mix(_mix(state[:, None] ^ positions[None, :]))
    # 24 bits, so that the quotient is exact in float32 and stays below one
    return _shift_right(bits, 40).to(torch.float32) / (1 << 24)


def normal(seed: int, update: int, ids: Tensor, width: int, stream: int = 0) -> Tensor:
    """Numbers of the standard normal distribution, one row per sentence.

    Box and Muller (1958); arguments and result as those of `uniform`. No number is beyond 5.8.
    """
    radius, angle = uniform(seed, update, ids, 2 * width, stream).unflatten(1, (-1, 2)).unbind(2)
    # 1 - radius is never zero
    return torch.sqrt(-2 * torch.log1p(-radius)) * torch.cos(2 * math.pi * angle)


def numbers_of(tokens: Tensor, padding: Tensor) -> Tensor:
    """A number for each sentence that depends on its tokens only, for `uniform`, [B] int64.

    `tokens` are [B, T], and `padding` is True where one does not count.
    """
    places = torch.arange(tokens.size(1), dtype=torch.int64, device=tokens.device)
    return _mix(_mix(_mix(places) ^ tokens).masked_fill(padding, 0).sum(1))

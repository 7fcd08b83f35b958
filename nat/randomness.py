"""Random numbers that depend on the sentence, not on the batch it happens to be in.

A number is a hash of (seed, update, sentence number, position, stream). So masks are the same
however a batch is cut: over accumulation steps, over devices, or after a restart.
"""

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
    """Uniform numbers in [0, 1), one row per sentence.

    Args:
        seed: seed of the run.
        update: number of the training update.
        ids: sentence numbers, shape [B], int64.
        width: numbers per sentence. A longer row begins with the shorter one's numbers.
        stream: separates independent uses within one update.

    Returns:
        float32 tensor of shape [B, width].
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

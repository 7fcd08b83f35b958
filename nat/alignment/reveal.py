"""Selection of positions by confidence, for iterative decoding and its distillation."""

import torch
import torch.nn.functional as F
from torch import Tensor


def share_of(counts: Tensor, share: float | Tensor) -> Tensor:
    """share * counts in float64, [B], as if the share were the decimal that is written down.

    In float32, and where a share has no finite binary form, a product that is a half or a whole
    number can come out just beside it, and be rounded to another number.
    """
    return (counts.double() * share).round(decimals=9)


def most_confident(confidence: Tensor, number: Tensor, among: Tensor) -> Tensor:
    """Mark the most confident of some positions of each row; ties go to the leftmost.

    Args:
        confidence: [B, T].
        number: of positions that are marked in each row, [B]; all if there are fewer.
        among: True at positions that can be chosen, [B, T].
    """
    confidence = confidence.masked_fill(~among, -torch.inf)
    ranks = confidence.argsort(stable=True, dim=1, descending=True).argsort(1)
    return (ranks < number[:, None]) & among


def least_confident(confidence: Tensor, number: Tensor, among: Tensor) -> Tensor:
    """The same of the least confident."""
    return most_confident(-confidence, number, among)


def most_confident_in_blocks(confidence: Tensor, masked: Tensor, steps: int, number: int) -> Tensor:
    """Mark what pass `number` of `steps` reveals; no two neighbours, unless it is the only pass.

    The positions are divided into blocks of `steps` positions, and each pass reveals one position
    of each block: the first pass the last one, every later pass the most confident of the others
    (the leftmost of equal ones). So the positions that later passes reveal in two neighbouring
    blocks are always separated by one that is known. The first pass reveals nothing in a shorter
    last block; the last pass reveals all that is left.

    `number` counts from 1; `masked` are the positions that are not revealed yet, [B, T].
    """
    if number == steps:
        return masked
    width = masked.size(1)
    last_of_block = torch.arange(width, device=masked.device) % steps == steps - 1
    if number == 1:
        return masked & last_of_block
    missing = -width % steps
    blocks = F.pad(masked, (0, missing)).unflatten(1, (-1, steps))
    scores = F.pad(confidence, (0, missing)).unflatten(1, (-1, steps))
    scores = scores.masked_fill(~blocks, -torch.inf)
    best = scores.argsort(stable=True, dim=2, descending=True)[:, :, :1]
    chosen = torch.zeros_like(blocks).scatter(2, best, True) & blocks
    return chosen.flatten(1)[:, :width]

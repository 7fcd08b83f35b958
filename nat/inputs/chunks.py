"""Targets in chunks of k tokens, as HRT and SAT learn them."""

import torch
from torch import Tensor

from nat.data.vocabulary import EOS, PAD


def with_ends(target: Tensor, lengths: Tensor, chunk: int) -> tuple[Tensor, Tensor]:
    """Targets padded with EOS to a multiple of the chunk, and where these are no padding, [B, T].

    T is a multiple of the chunk and larger than the longest target. PAD follows the last EOS.
    """
    wholes = (lengths // chunk + 1) * chunk
    width = int(wholes.max()) if len(wholes) else 0
    places = torch.arange(width, device=target.device)
    ended = torch.full((len(target), width), EOS, device=target.device)
    ended[:, : target.size(1)] = torch.where(target.eq(PAD), EOS, target)[:, :width]
    real = places < wholes[:, None]
    return torch.where(real, ended, PAD), real

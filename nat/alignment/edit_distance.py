"""Levenshtein distance of token sequences, vectorised over a batch."""

import torch
from torch import Tensor

from nat.data.vocabulary import PAD


def edit_distance(written: Tensor, wanted: Tensor) -> Tensor:
    """Fewest insertions, deletions and substitutions that turn one sequence into the other, [B].

    The dynamic programme loops over the tokens of `written`. Each row takes a few operations for
    the whole batch, since insertions within a row are a cumulative minimum.

    Args:
        written: right-padded with PAD, [B, M].
        wanted: right-padded with PAD, [B, N].
    """
    places = torch.arange(wanted.size(1) + 1, device=wanted.device)
    row = places.expand(wanted.size(0), -1)
    for token in written.unbind(1):
        aligned = row[:, :-1] + token[:, None].ne(wanted)
        best = torch.minimum(row[:, 1:] + 1, aligned)
        best = torch.cat((row[:, :1] + 1, best), 1)
        best = (best - places).cummin(1).values + places
        row = torch.where(token.ne(PAD)[:, None], best, row)
    return row.gather(1, wanted.ne(PAD).sum(1)[:, None])[:, 0]

"""A batch of sentence pairs as tensors."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from nat.data.vocabulary import EOS, PAD


def pad(sequences: Sequence[np.ndarray | Sequence[int]]) -> Tensor:
    """Stack sequences into an int64 tensor [B, longest], padded on the right with PAD."""
    width = max((len(sequence) for sequence in sequences), default=0)
    stacked = torch.full((len(sequences), width), PAD, dtype=torch.int64)
    for row, sequence in enumerate(sequences):
        stacked[row, : len(sequence)] = torch.as_tensor(np.asarray(sequence, dtype=np.int64))
    return stacked


def source_tensor(sentences: Sequence[np.ndarray | Sequence[int]]) -> Tensor:
    """Source sentences [B, S]: tokens, then EOS, then padding (never on the left)."""
    return pad([np.append(np.asarray(sentence, dtype=np.int64), EOS) for sentence in sentences])


@dataclass(frozen=True)
class Batch:
    """Sentence pairs.

    Attributes:
        ids: sentence numbers in the corpus, [B].
        source: tokens + EOS, right-padded, [B, S].
        target: tokens without BOS and EOS, right-padded, [B, T].
    """

    ids: Tensor
    source: Tensor
    target: Tensor

    @classmethod
    def collate(
        cls,
        ids: Sequence[int],
        sources: Sequence[np.ndarray | Sequence[int]],
        targets: Sequence[np.ndarray | Sequence[int]],
    ) -> "Batch":
        """Build a batch from token sequences without BOS and EOS."""
        numbers = torch.as_tensor(np.asarray(ids, dtype=np.int64))
        return cls(numbers, source_tensor(sources), pad(targets))

    @property
    def target_padding(self) -> Tensor:
        """True where the target holds no token, [B, T]."""
        return self.target.eq(PAD)

    @property
    def target_lengths(self) -> Tensor:
        """Number of target tokens, [B]."""
        return self.target.ne(PAD).sum(1)

    def to(self, device: torch.device | str) -> "Batch":
        """The same batch on another device."""
        return replace(
            self,
            ids=self.ids.to(device),
            source=self.source.to(device),
            target=self.target.to(device),
        )

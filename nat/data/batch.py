"""Batches of sentence pairs: how a text is divided into them, and one as tensors."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import torch
from torch import Tensor

from nat.data.vocabulary import EOS, PAD

Tokens = np.ndarray | Sequence[int]


def batches(lengths: Mapping[int, int], batch_tokens: int) -> Iterator[list[int]]:
    """Sentence numbers in batches, longest first, so that memory runs out early or never."""
    in_order = sorted(lengths, key=lambda number: (-lengths[number], number))
    return batches_in_order({number: lengths[number] for number in in_order}, batch_tokens)


def batches_in_order(lengths: Mapping[int, int], batch_tokens: int) -> Iterator[list[int]]:
    """The same in the given order; a sentence has one more token, and is padded in its batch."""
    numbers = [*lengths]
    # one that is longer than a batch is alone in it
    tokens = np.minimum([length + 1 for length in lengths.values()], batch_tokens)
    for start, end in pairwise((0, *batch_ends(tokens, batch_tokens).tolist())):
        yield numbers[start:end]


def batch_ends(tokens: np.ndarray, max_tokens: int) -> np.ndarray:
    """For each batch of consecutive sentences, the number of the sentence after its last, int64.

    As fairseq's `batch_by_size` divides a text: the size of a batch is its number of sentences
    times the length of the longest of them, and each is as large as possible. `tokens` are those of
    each sentence, int64 [n], all positive. Raises a `ValueError` if one takes more than
    `max_tokens`.
    """
    if len(tokens) and tokens.max() > max_tokens:
        raise ValueError(f"a sentence takes {tokens.max()} tokens, a batch at most {max_tokens}")
    ends: list[int] = []
    start = 0
    while start < len(tokens):
        # no batch has more sentences than this, for each takes at least as much as the first
        longest = np.maximum.accumulate(tokens[start : start + max_tokens // int(tokens[start])])
        # strictly ascending, since no longest sentence gets shorter
        taken = longest * np.arange(1, len(longest) + 1)
        start += int(np.searchsorted(taken, max_tokens, side="right"))
        ends.append(start)
    return np.asarray(ends, dtype=np.int64)


def pad(sequences: Sequence[Tokens]) -> Tensor:
    """Stack sequences into an int64 tensor [B, longest], padded on the right with PAD."""
    width = max((len(sequence) for sequence in sequences), default=0)
    stacked = np.full((len(sequences), width), PAD, dtype=np.int64)
    for row, sequence in zip(stacked, sequences, strict=True):
        row[: len(sequence)] = sequence
    return torch.from_numpy(stacked)


def padded_right(source: Tensor) -> Tensor:
    """Sentences that are padded on either side, with all of their padding on the right, [B, S]."""
    order = source.eq(PAD).int().argsort(dim=1, stable=True)
    return source.gather(1, order)


def source_tensor(sentences: Sequence[Tokens]) -> Tensor:
    """Source sentences [B, S]: tokens, then EOS, then padding (never on the left)."""
    return pad([np.append(np.asarray(sentence, dtype=np.int64), EOS) for sentence in sentences])


@dataclass(frozen=True)
class Batch:
    """Sentence pairs."""

    ids: Tensor
    """Sentence numbers in the corpus, [B]."""
    source: Tensor
    """Tokens + EOS, right-padded, [B, S]."""
    target: Tensor
    """Tokens without BOS and EOS, right-padded, [B, T]."""
    candidates: Tensor | None = None
    """Targets of which one is to be chosen, but not an empty one, [B, C, T]; until then, `target`
    is the first that is not empty. None without a choice."""
    regulariser: Tensor | None = None
    """Added to the cost of each candidate in the choice, nats, [B, C], or None."""

    @classmethod
    def collate(
        cls, ids: Sequence[int], sources: Sequence[Tokens], targets: Sequence[Tokens]
    ) -> "Batch":
        """Build a batch from token sequences without BOS and EOS."""
        numbers = torch.as_tensor(np.asarray(ids, dtype=np.int64))
        return cls(numbers, source_tensor(sources), pad(targets))

    @classmethod
    def collate_candidates(
        cls,
        ids: Sequence[int],
        sources: Sequence[Tokens],
        targets: Sequence[Sequence[Tokens]],
        regulariser: np.ndarray | None = None,
    ) -> "Batch":
        """Build a batch with the same number of candidate targets for each source.

        Those that may not be chosen are empty.
        """
        number = len(targets[0]) if targets else 0
        candidates = pad([each for group in targets for each in group])
        candidates = candidates.view(len(targets), number, -1)
        costs = None if regulariser is None else torch.as_tensor(regulariser)
        batch = cls.collate(ids, sources, [()] * len(ids))
        batch = replace(batch, candidates=candidates, regulariser=costs)
        return batch.choose(candidates.ne(PAD).any(2).int().argmax(1))

    def choose(self, chosen: Tensor) -> "Batch":
        """The batch with one candidate of each sentence, by index [B], as its target."""
        assert self.candidates is not None
        rows = torch.arange(len(chosen), device=chosen.device)
        target = self.candidates[rows, chosen]
        longest = int(target.ne(PAD).sum(1).max()) if target.numel() else 0
        return replace(self, target=target[:, :longest])

    @property
    def target_padding(self) -> Tensor:
        """True at padding of the target, [B, T]."""
        return self.target.eq(PAD)

    @property
    def target_lengths(self) -> Tensor:
        """Number of target tokens, [B]."""
        return self.target.ne(PAD).sum(1)

    def to(self, device: torch.device | str) -> "Batch":
        """The same batch on another device."""
        given = {name: value for name, value in vars(self).items() if value is not None}
        return replace(self, **{name: value.to(device) for name, value in given.items()})

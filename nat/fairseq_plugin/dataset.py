"""Sentence pairs, or sources with several candidate targets, as a fairseq data set."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from fairseq.data import FairseqDataset

from nat.checksums import remedy
from nat.data.batch import Batch, batch_ends
from nat.data.binarised import BinarisedText
from nat.errors import UserError
from nat.training.learnable import Objectives

Pair = tuple[int, np.ndarray, list[np.ndarray]]


class TrainingPairs(FairseqDataset):
    """Sentence pairs that a model can learn from, keyed by their number in the corpus.

    Args:
        prefixes: of the binarised source, and of as many target sentences, in one text or in
            several to choose from; a candidate that is empty or too long cannot be chosen.
        longest: most tokens of a source and of a target that the model takes.
        max_tokens: most tokens of a batch.
        name: of the split, for messages.
        first: only so many pairs are used; None for all.
        regulariser: added to the cost of each candidate in a choice, nats, float32 [n, C].
        objectives: of a training, to count what it cannot learn.

    Attributes, of the n pairs that are used:
        ids: their numbers in the corpus, int64 [n].
        usable: which of their candidates can be chosen, [C, n].
        lengths, mean_lengths: tokens of the longest of these, and on average, [n].
        tokens: size in a batch: tokens of the longer side plus one, [n].
        left_out: number of unused pairs, by reason.
        learned: True for those that teach something, [n].
        not_learned: number of used pairs that teach nothing, or not all, by reason.

    Raises:
        UserError: if the texts differ in length, or no pair can be used or learned.
    """

    def __init__(
        self,
        prefixes: Sequence[Path | str],
        longest: tuple[int, int],
        max_tokens: int,
        name: str,
        first: int | None = None,
        regulariser: np.ndarray | None = None,
        objectives: Objectives | None = None,
    ) -> None:
        source, *targets = map(BinarisedText, prefixes)
        for target in targets:
            if len(source) != len(target):
                raise UserError(
                    f"{name}: {len(source)} source and {len(target)} target sentences in "
                    f"{source.path} and {target.path}; {remedy(target.path)}"
                )
        self.source, self.targets, self.regulariser = source, targets, regulariser
        source_lengths = source.lengths[:first]
        lengths = np.stack([target.lengths[:first] for target in targets])
        # with the EOS of the source, and the BOS or EOS of an autoregressive target
        tokens = np.maximum(source_lengths, lengths) + 1
        filled = (source_lengths > 0) & (lengths > 0)
        fits_model = filled & (source_lengths <= longest[0]) & (lengths <= longest[1])
        usable = fits_model & (tokens <= max_tokens)
        any_filled, any_fits, any_usable = (each.any(0) for each in (filled, fits_model, usable))
        self.left_out = {
            "empty": int((~any_filled).sum()),
            "longer_than_positions": int((any_filled & ~any_fits).sum()),
            "longer_than_batch": int((any_fits & ~any_usable).sum()),
        }
        self.ids = np.flatnonzero(any_usable)
        self.usable = usable[:, self.ids]
        self.learned = np.ones(len(self.ids), dtype=bool)
        self.not_learned: dict[str, int] = {}
        if objectives is not None:
            learned, self.not_learned = objectives.of(source, targets, usable)
            self.learned = learned[self.ids]
        lengths = np.where(self.usable, lengths[:, self.ids], 0)
        self.lengths, self.mean_lengths = lengths.max(0), lengths.sum(0) / self.usable.sum(0)
        self.tokens = np.maximum(source_lengths[self.ids], self.lengths) + 1
        if not self.learned.any():
            counts = self.left_out | self.not_learned
            raise UserError(
                f"{name}: none of {len(source)} pairs can be used ({counts}); look at the corpus, "
                "at 'max_positions' of the size, at 'batch_tokens' of the recipe and at 'upsample'"
            )

    def __getitem__(self, index: int) -> Pair:
        """Number, source and targets of a used pair."""
        number = int(self.ids[index])
        targets = [
            text[number] if usable else text[number][:0]
            for text, usable in zip(self.targets, self.usable[:, index], strict=True)
        ]
        return number, self.source[number], targets

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def counts(self) -> dict[str, Any]:
        """The numbers of pairs, JSON-able."""
        counts = {"used": len(self), "left_out": self.left_out}
        return counts | ({"not_learned": self.not_learned} if self.not_learned else {})

    @property
    def mean_difference(self) -> float:
        """Target tokens minus source tokens of the used pairs, on average."""
        return float(self.mean_lengths.mean() - self.source.lengths[self.ids].mean())

    def batches(self, max_tokens: int, seed: int) -> list[np.ndarray]:
        """Divide the pairs into batches of similar lengths of at most `max_tokens` with padding.

        The seed orders pairs of equal lengths. A batch in which nothing is learned would be an
        update without a gradient, so it is none.
        """
        tie = np.random.default_rng(seed).permutation(len(self))
        order = np.lexsort((tie, self.lengths, self.source.lengths[self.ids])).astype(np.int64)
        # fairseq's own batching would need its compiled parts
        ends = batch_ends(self.tokens[order], max_tokens)
        batches = np.split(order, ends[:-1])
        return [batch for batch in batches if self.learned[batch].any()]

    def collater(self, samples: Sequence[Pair]) -> Mapping[str, Batch]:
        """Make a batch, padded on the right."""
        if not samples:
            return {}
        ids, sources, targets = zip(*samples, strict=True)
        if len(self.targets) == 1:
            return {"batch": Batch.collate(ids, sources, [target for [target] in targets])}
        costs = None if self.regulariser is None else self.regulariser[list(ids)]
        return {"batch": Batch.collate_candidates(ids, sources, targets, costs)}


def passes(batches: Sequence[np.ndarray], needed: int, seed: int) -> list[np.ndarray]:
    """Lay out complete passes over batches, each in another order, until there are enough.

    The order is known before training, so that a resumed training finds its place, and updates of
    several batches are not shortened at the end of a pass.
    """
    laid_out: list[np.ndarray] = []
    number = 0
    while len(laid_out) < needed:
        order = np.random.default_rng((seed, number)).permutation(len(batches))
        laid_out.extend(batches[place] for place in order)
        number += 1
    return laid_out

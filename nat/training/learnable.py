"""Pairs of a training text that an objective cannot learn from, or only in part."""

from collections.abc import Mapping

import numpy as np
import torch

from nat.configuration.models import Training
from nat.data.binarised import BinarisedText
from nat.data.flags import counted
from nat.data.vocabulary import UNK
from nat.registry import describe
from nat.transformer.model import Transformer


class Objectives:
    """The needs of a training, of which pairs are counted that do not meet them."""

    def __init__(self, training: Training, model: Transformer) -> None:
        # fairseq's own models have decoders of their own
        upsampled = isinstance(model, Transformer) and model.decoder.upsample is not None
        self._model = model if upsampled else None
        self._fewest: Mapping[str, int] = describe("targets", training.target).fewest_tokens

    def of(
        self, source: BinarisedText, targets: list[BinarisedText], usable: np.ndarray
    ) -> tuple[np.ndarray, dict[str, int]]:
        """True for pairs that teach something, [n], and numbers of pairs by what they lack.

        Of each pair, some of the candidate targets are `usable`, [C, n]. Nothing is learned from a
        target that has no alignment with its upsampled canvas.
        """
        used = usable.any(0)
        aligned = np.stack([self._fits(source, target) for target in targets])
        learned = (usable & aligned).any(0)
        of_source = _sums(source, source.tokens == UNK) == source.lengths
        unknown = np.stack([_sums(each, each.tokens == UNK) == each.lengths for each in targets])
        longest = np.where(usable, np.stack([each.lengths for each in targets]), 0).max(0)
        lacking = {
            "target_longer_than_canvas": used & ~learned,
            "unknown_source": used & of_source,
            "unknown_target": used & (unknown | ~usable).all(0),
            **{f"too_short_for_{name}": used & (longest < n) for name, n in self._fewest.items()},
        }
        return learned, {name: int(each.sum()) for name, each in lacking.items() if each.any()}

    def _fits(self, source: BinarisedText, target: BinarisedText) -> np.ndarray:
        """True for pairs that have an alignment with the canvas of their source, [n]."""
        if self._model is None:
            return np.ones(len(source), dtype=bool)
        repeated = np.zeros(len(target.tokens), dtype=bool)
        repeated[1:] = target.tokens[1:] == target.tokens[:-1]
        repeated[target.starts[target.lengths > 0]] = False  # of the sentence before
        copied = source.lengths + int(self._model.decoder.count_source_end)
        frames = self._model.canvas_lengths(torch.from_numpy(copied))
        return np.asarray(target.lengths + _sums(target, repeated) <= frames.numpy())


def _sums(text: BinarisedText, values: np.ndarray) -> np.ndarray:
    """The sum of values of all tokens over each sentence, int64 [n]."""
    made = np.zeros(len(text), dtype=np.int64)
    filled = text.lengths > 0
    if filled.any():
        made[filled] = np.add.reduceat(values, text.starts[filled], dtype=np.int64)
    return made


def told(used: int, left_out: Mapping[str, int], not_learned: Mapping[str, int]) -> str:
    """Say how many pairs are used, left out and not learned from, and why."""
    why = [f"{n:,} {reason.replace('_', ' ')}" for reason, n in left_out.items() if n]
    said = f"learns from {counted(used, 'pair')}, {sum(left_out.values()):,} are left out"
    said += f" ({', '.join(why)})" if why else ""
    for reason, number in not_learned.items():
        said += f"; nothing, or less, from {counted(number, 'pair')}: {reason.replace('_', ' ')}"
    return said

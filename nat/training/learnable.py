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

NO_ALIGNMENT = "target_longer_than_canvas"
"""Pairs whose target has no alignment with an upsampled canvas: nothing is learned from them."""

_SAID = {
    NO_ALIGNMENT: "nothing is learned, since the target does not fit its canvas (see 'upsample')",
    "unknown_source": "the source is of unknown words alone",
    "unknown_target": "the target is of unknown words alone",
}


class Objectives:
    """The needs of a training, of which pairs are counted that do not meet them."""

    def __init__(self, training: Training, model: Transformer) -> None:
        # fairseq's own models have decoders of their own
        upsampled = isinstance(model, Transformer) and model.decoder.upsample is not None
        self._model = model if upsampled else None
        self.fewest: Mapping[str, int] = describe("targets", training.target).fewest_tokens

    def fits(self, source: BinarisedText, target: BinarisedText) -> np.ndarray:
        """True for pairs that have an alignment with the canvas of their source, [n]."""
        if self._model is None:
            return np.ones(len(source), dtype=bool)
        repeated = np.zeros(len(target.tokens), dtype=bool)
        repeated[1:] = target.tokens[1:] == target.tokens[:-1]
        repeated[target.starts[target.lengths > 0]] = False  # of the sentence before
        copied = source.lengths + int(self._model.decoder.count_source_end)
        frames = self._model.canvas_lengths(torch.from_numpy(copied))
        return np.asarray(target.lengths + sums(target, repeated) <= frames.numpy())

    def counts(
        self, source: BinarisedText, targets: list[BinarisedText], usable: np.ndarray
    ) -> dict[str, int]:
        """Numbers of pairs, of which some targets are `usable` [C, n], by what they lack."""
        used = usable.any(0)
        of_source = sums(source, source.tokens == UNK) == source.lengths
        unknown = np.stack([sums(each, each.tokens == UNK) == each.lengths for each in targets])
        longest = np.where(usable, np.stack([each.lengths for each in targets]), 0).max(0)
        lacking = {
            "unknown_source": of_source & used,
            "unknown_target": (unknown | ~usable).all(0) & used,
            **{f"too_short_for_{name}": used & (longest < n) for name, n in self.fewest.items()},
        }
        return {name: number for name, each in lacking.items() if (number := int(each.sum()))}


def sums(text: BinarisedText, values: np.ndarray) -> np.ndarray:
    """The sum of values of all tokens over each sentence, int64 [n]."""
    made = np.zeros(len(text), dtype=np.int64)
    filled = text.lengths > 0
    if filled.any():
        made[filled] = np.add.reduceat(values, text.starts[filled], dtype=np.int64)
    return made


def told(used: int, left_out: Mapping[str, int], not_learned: Mapping[str, int]) -> str:
    """Say how many pairs are used, left out and not learned from, and why."""
    why = [
        f"{number:,} {reason.replace('_', ' ')}" for reason, number in left_out.items() if number
    ]
    said = f"learns from {counted(used, 'pair')}, {sum(left_out.values()):,} are left out"
    said += f" ({', '.join(why)})" if why else ""
    for reason, number in not_learned.items():
        said += f"; of {counted(number, 'pair')} "
        said += _SAID.get(reason) or f"the target is {reason.replace('_', ' ')}"
    return said

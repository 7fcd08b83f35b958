"""The translation of a sentence, as every decoding method returns it."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

from torch import Tensor

from nat.data.vocabulary import BLANK, EOS, PAD


@dataclass(frozen=True)
class Hypothesis:
    """A translation.

    Attributes:
        tokens: ids of its subwords; may be empty; never one of `NEVER_WRITTEN`.
        score: the value by which the method ranks hypotheses, nats; defined in its docstring.
        steps: number of decoder passes for this sentence.
    """

    tokens: list[int]
    score: float
    steps: int

    def scored(self, score: float) -> "Hypothesis":
        """The same with the score of another model; NaN if its own is not finite.

        So a failed decoding is reported as such, whatever the other model's score is.
        """
        return replace(self, score=score if math.isfinite(self.score) else math.nan)


NOTHING = Hypothesis([], 0.0, 0)
"""The translation of a sentence that could not be decoded."""


def written(tokens: Tensor, scores: Tensor, steps: Tensor) -> list[Hypothesis]:
    """Hypotheses of symbols [B, T], without PAD, BLANK and EOS; scores and steps are [B]."""
    rows = zip(tokens.tolist(), scores.tolist(), steps.tolist(), strict=True)
    return [
        Hypothesis([token for token in row if token not in (PAD, BLANK, EOS)], score, passes)
        for row, score, passes in rows
    ]


def most_probable(candidates: Sequence[Hypothesis]) -> Hypothesis:
    """That with the highest score, the first of equal ones; NaN counts as less than any score."""
    return max(candidates, key=lambda each: (not math.isnan(each.score), each.score))


def deduplicated(made: Iterable[Hypothesis]) -> list[Hypothesis]:
    """The same, with tokens that repeat the one before dropped."""
    return [replace(each, tokens=[token for token, _ in groupby(each.tokens)]) for each in made]


def hypotheses(
    method: Callable[[Any, Tensor], list[Hypothesis]], model: Any, source: Tensor
) -> list[Hypothesis]:
    """Translate a batch [B, S] in which sentences may be empty: `NOTHING` is their translation.

    An empty sentence is EOS alone, which decoding methods do not take.
    """
    filled = source.ne(PAD).sum(1) > 1
    made = iter(method(model, source[filled]) if filled.any() else [])
    return [next(made) if each else NOTHING for each in filled.tolist()]

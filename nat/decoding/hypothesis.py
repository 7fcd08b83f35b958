"""The translation of a sentence, as every decoding method returns it."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass


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


def deduplicated(hypotheses: Sequence[Hypothesis]) -> list[Hypothesis]:
    """The same without tokens that equal the one before."""
    return [
        Hypothesis([token for token, _ in itertools.groupby(each.tokens)], each.score, each.steps)
        for each in hypotheses
    ]

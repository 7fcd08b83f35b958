"""What every decoding method returns for a sentence."""

from dataclasses import dataclass

from nat.data.vocabulary import BLANK, BOS, EOS, MASK, PAD

NEVER_WRITTEN = (PAD, BOS, EOS, MASK, BLANK)
"""Symbols that no translation holds. UNK is a prediction like any other."""


@dataclass(frozen=True)
class Hypothesis:
    """A translation.

    Attributes:
        tokens: ids of its subwords; may be empty; never one of `NEVER_WRITTEN`.
        score: what the method ranks hypotheses by, nats; its docstring says which.
        steps: decoder passes that this sentence took.
    """

    tokens: list[int]
    score: float
    steps: int

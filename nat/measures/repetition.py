"""Repeated tokens, the mark of a model that cannot coordinate its positions."""

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Repetition:
    """How many of `tokens` words equal the word directly before them in the same sentence."""

    repeated: int
    tokens: int

    @property
    def percent(self) -> float:
        """Share of repeated words in percent of all words; 0 for an empty text."""
        return 100.0 * self.repeated / self.tokens if self.tokens else 0.0


def repeated_tokens(sentences: Iterable[str]) -> Repetition:
    """Count repeated words of tokenised sentences (words between blanks, subwords joined).

    A word is repeated if it equals its left neighbour, so "a a a b" holds 2 repeated words of 4.
    References hold some too ("had had"), so compare with the reference's own share.
    """
    repeated = tokens = 0
    for sentence in sentences:
        words = sentence.split()
        tokens += len(words)
        repeated += sum(left == right for left, right in zip(words, words[1:], strict=False))
    return Repetition(repeated, tokens)

"""Repeated and missing words, errors of models that do not coordinate their positions."""

from collections import Counter
from collections.abc import Iterable, Sequence
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

    A word is repeated if it equals its left neighbour, so "a a a b" has 2 repeated words of 4.
    References also have some ("had had"), so compare with the share of the reference.
    """
    repeated = tokens = 0
    for sentence in sentences:
        words = sentence.split()
        tokens += len(words)
        repeated += len(repeated_positions(words))
    return Repetition(repeated, tokens)


def repeated_positions(words: Sequence[str]) -> list[int]:
    """Positions of the words that equal the word directly before them."""
    return [at for at in range(1, len(words)) if words[at] == words[at - 1]]


def missing_words(words: Sequence[str], reference: Sequence[str]) -> list[str]:
    """Words of the reference that a translation lacks, with their multiplicity, in order.

    If the reference contains a word more often, its last occurrences are the missing ones.
    """
    left = Counter(words)
    missing = []
    for word in reference:
        if left[word]:
            left[word] -= 1
        else:
            missing.append(word)
    return missing

"""Repeated and missing words, errors of models that do not coordinate their positions."""

from collections import Counter
from collections.abc import Sequence


def repeated_positions(words: Sequence[str]) -> list[int]:
    """Positions of the words that equal the word directly before them.

    References also have some ("had had"), so compare with the share of the reference.
    """
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

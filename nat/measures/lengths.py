"""Test sentences by their length, for BLEU of short and long ones."""

from collections.abc import Sequence

BUCKETS = 5
"""Equally large parts of a test set by target length (Norouzi et al. 2022, figure 5)."""

LONG = 40
"""Number of words from which a source sentence is long (Li et al. 2019, table 2)."""


def word_counts(sentences: Sequence[str]) -> list[int]:
    """Number of space-separated words of each sentence."""
    return [len(sentence.split()) for sentence in sentences]


def equal_buckets(lengths: Sequence[int]) -> list[list[int]]:
    """Cut sentences into `BUCKETS` parts by length, the shortest first.

    The parts differ by at most one sentence in size, so that sentences of one length may lie on
    both sides of a border; they are ordered as in the test set.

    Returns:
        Sentence numbers of each part, ascending.

    Raises:
        ValueError: if there are fewer sentences than parts.
    """
    if len(lengths) < BUCKETS:
        raise ValueError(f"{len(lengths)} sentences cannot fill {BUCKETS} buckets")
    order = sorted(range(len(lengths)), key=lambda sentence: (lengths[sentence], sentence))
    borders = [len(order) * part // BUCKETS for part in range(BUCKETS + 1)]
    return [sorted(order[start:end]) for start, end in zip(borders, borders[1:], strict=False)]


def long_sentences(lengths: Sequence[int]) -> list[int]:
    """Numbers of the sentences of at least `LONG` words."""
    return [sentence for sentence, length in enumerate(lengths) if length >= LONG]

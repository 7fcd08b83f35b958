"""Parts of a test set by length."""

import random

import pytest

from nat.measures.statistics import BUCKET, LONG, sentences_by_length


def buckets(lengths: list[int]) -> list[list[int]]:
    found = sentences_by_length(["w " * length for length in lengths], None)
    assert list(found) == [f"{BUCKET}{number}" for number in range(1, 6)]
    return list(found.values())


@pytest.mark.parametrize("number", [5, 7, 23, 100])
def test_buckets_hold_every_sentence_once_from_short_to_long(number: int) -> None:
    lengths = random.Random(number).choices(range(1, 9), k=number)
    parts = buckets(lengths)
    assert sorted(sentence for part in parts for sentence in part) == list(range(number))
    sizes = [len(part) for part in parts]
    assert max(sizes) - min(sizes) <= 1
    for shorter, longer in zip(parts, parts[1:], strict=False):
        assert max(lengths[each] for each in shorter) <= min(lengths[each] for each in longer)
        assert shorter == sorted(shorter)


def test_of_equal_lengths_the_order_decides() -> None:
    assert buckets([3] * 10) == [[0, 1], [2, 3], [4, 5], [6, 7], [8, 9]]
    assert sentences_by_length(["a"] * 4, ["a"] * 4) == {}


def test_long_sentences_are_those_of_the_source() -> None:
    sources = [" w " * length for length in (39, 40, 5, 41)]
    assert sentences_by_length(["a"] * 4, sources) == {LONG: [1, 3]}

import random

from nat.measures.lengths import equal_buckets, long_sentences, word_counts
from tests.messages import told


def test_buckets_hold_every_sentence_once_and_are_equal() -> None:
    for number in (5, 7, 23, 100):
        counts = random.Random(number).choices(range(1, 9), k=number)
        buckets = equal_buckets(counts)
        assert sorted(sentence for bucket in buckets for sentence in bucket) == list(range(number))
        sizes = [len(bucket) for bucket in buckets]
        assert len(sizes) == 5 and max(sizes) - min(sizes) <= 1


def test_buckets_go_from_short_to_long() -> None:
    counts = random.Random(1).choices(range(1, 40), k=57)
    buckets = equal_buckets(counts)
    for shorter, longer in zip(buckets, buckets[1:], strict=False):
        assert max(counts[each] for each in shorter) <= min(counts[each] for each in longer)
        assert shorter == sorted(shorter)


def test_of_equal_lengths_the_order_decides() -> None:
    assert equal_buckets([3] * 10) == [[0, 1], [2, 3], [4, 5], [6, 7], [8, 9]]


def test_too_few_sentences() -> None:
    with told("4 sentences", "5 buckets", error=ValueError):
        equal_buckets([1, 2, 3, 4])


def test_long_sentences() -> None:
    assert word_counts(["a b", "", " a  b c "]) == [2, 0, 3]
    assert long_sentences([39, 40, 5, 41]) == [1, 3]

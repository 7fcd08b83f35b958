"""Numbers of counts, and parts of a test set by length."""

import random

import numpy as np
import pytest

from nat.measures import bleu
from nat.measures.significance import Value
from nat.measures.statistics import (
    BUCKET,
    LONG,
    MEASURED,
    TranslatedText,
    number,
    percent,
    ratio,
    sentences_by_length,
)
from tests.made_up_corpus import as_corpus

CORPUS = as_corpus({"source": "xx", "target": "yy"})


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


NEARLY_ALL = [[1, 1]] * 19 + [[0, 1]]
SHORT = [[8, 9, *[8, 7, 6, 5] * 2], *[[9, 9, *[9, 8, 7, 6] * 2]] * 19]
"""Counts of BLEU: a sentence that lacks a word at its end, and perfect ones."""


@pytest.mark.parametrize(
    ("counts", "value", "lowest", "least", "most"),
    [
        (NEARLY_ALL, percent, 0, 0, 100),
        ([[0, 1]] * 19 + [[1, 1]], percent, 0, 0, 100),
        (SHORT, bleu.smoothed, 0, 0, 100),
        (SHORT, bleu.unsmoothed, 0, 0, 100),
        (SHORT, bleu.brevity_penalty, 0, 0, 1),
        ([[9, 9, 9] * 6] * 19 + [[9, 9, 8] * 6], bleu.chrf_score, 0, 0, 100),
        ([[1, 1]] * 19 + [[2, 1]], ratio, 1, 1, 2),
    ],
)
def test_intervals_end_where_measures_do(
    counts: list[list[int]], value: Value, lowest: float, least: float, most: float
) -> None:
    of_all = number(np.array(counts), value, lowest)
    assert least <= of_all["low"] < of_all["value"] < of_all["high"] <= most


def test_words_are_counted_by_their_place_in_the_translation() -> None:
    translations = ["a b b c d e f g x a", "", "y y"]
    several = {0: ["q q q", "a b c d e f g h"], 2: ["z", "y z"]}
    text = TranslatedText(CORPUS, [], translations, [], ["q", "z", "z"], several, several)
    counted = {
        name: [MEASURED[f"{name}_place_{place}"].counts(text) for place in range(1, 6)]
        for name in ("repeated_tokens", "wrong_tokens")
    }
    # of ten words two are in each fifth; of two, one in the first and one in the third
    words = [[2, 2, 2, 2, 2], [0, 0, 0, 0, 0], [1, 0, 1, 0, 0]]
    repeated = [[0, 1, 0, 0, 0], [0] * 5, [0, 0, 1, 0, 0]]
    wrong = [[0, 1, 0, 0, 2], [0] * 5, [0, 0, 1, 0, 0]]  # the second b and y, x, and the second a
    for name, marked in (("repeated_tokens", repeated), ("wrong_tokens", wrong)):
        for place, counts in enumerate(counted[name]):
            expected = [[marked[n][place], words[n][place]] for n in range(3)]
            assert counts.sentences.tolist() == expected, (name, place)


def test_wrong_words_are_counted_by_the_confidence_in_their_translation() -> None:
    words = ["a b", "a x", "x", "", "a b c", "z z", "q"]
    rows = [{"score": score} for score in (-1.0, -3.0, -2.0, 0.0, -1.0, -2.0, -9.0)]
    text = TranslatedText(CORPUS, rows, words, [], ["a b c"] * 7, {}, {})
    # by score 6, 1 | 2, 5 | 0 | 4 | 3: the first two fifths have one more
    fifths = [{6: [1, 1], 1: [1, 2]}, {2: [1, 1], 5: [2, 2]}, {0: [0, 2]}, {4: [0, 3]}, {}]
    for fifth, own in enumerate(fifths, 1):
        counts = MEASURED[f"wrong_tokens_confidence_{fifth}"].counts(text)
        assert counts.sentences.tolist() == [own.get(number, [0, 0]) for number in range(7)]

import pytest

from nat.measures.repetition import missing_words, repeated_positions


@pytest.mark.parametrize(
    ("sentence", "positions"),
    [("a a a b", [1, 2]), ("a b a b", []), ("A a", []), ("", [])],
)
def test_words_that_equal_their_left_neighbour(sentence: str, positions: list[int]) -> None:
    assert repeated_positions(sentence.split()) == positions


def test_missing_words_keep_their_multiplicity() -> None:
    assert missing_words(["b", "a"], ["a", "b", "a", "c"]) == ["a", "c"]

import pytest

from nat.measures.repetition import repeated_tokens


@pytest.mark.parametrize(
    ("sentences", "repeated", "tokens"),
    [
        (["a a a b"], 2, 4),
        (["a b a b"], 0, 4),
        (["a b", "b c"], 0, 4),  # not across sentences
        (["A a"], 0, 2),
        (["", "a"], 0, 1),
        (["  a  a "], 1, 2),
    ],
)
def test_words_that_equal_their_left_neighbour(
    sentences: list[str], repeated: int, tokens: int
) -> None:
    found = repeated_tokens(sentences)
    assert (found.repeated, found.tokens) == (repeated, tokens)
    assert found.percent == pytest.approx(100 * repeated / tokens)


def test_empty_text_has_no_repetition() -> None:
    assert repeated_tokens([]).percent == 0

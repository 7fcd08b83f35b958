"""The passes of a decoding, as figures and tables show them."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from nat.data.vocabulary import BLANK, MASK, Vocabulary


class Pass(NamedTuple):
    """What a decoder pass did to a sentence.

    Attributes:
        tokens: after the pass, MASK where none is chosen yet.
        chosen: positions whose tokens it chose.
    """

    tokens: list[int]
    chosen: list[int]


def described(sentence: Sequence[Pass], vocabulary: Vocabulary) -> list[dict[str, Any]]:
    """Passes as figures of kind `steps` read them; an empty token is an empty word."""

    def word(token: int) -> str | None:
        if token == MASK:
            return None
        return "" if token == BLANK else vocabulary.symbols[token]

    return [
        {"tokens": [word(token) for token in tokens], "predicted": chosen}
        for tokens, chosen in sentence
    ]

"""What differs between the published checkpoints of two papers."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from torch import Tensor

from nat.configuration.models import Training

FAIRSEQ_PAD, FAIRSEQ_EOS, FAIRSEQ_UNK = 1, 2, 3
"""Rows of the embedding in fairseq."""


class Form(NamedTuple):
    """The checkpoints of a paper.

    Attributes:
        paper: its name.
        architecture: name in fairseq.
        first_word: row of the embedding of the dictionary's first symbol.
        after_words: rows after those of the dictionary.
        left_out: beginnings of the names of weights that are not needed.
        special_rows: row of each special symbol of this project, by options and the row after the
            dictionary.
        renamed: weights by the names that fairseq 0.9 gives them.
        differences: of a checkpoint's options from a training, as far as weights do not show them.
    """

    paper: str
    architecture: str
    first_word: int
    after_words: int
    left_out: tuple[str, ...]
    special_rows: Callable[[Mapping[str, Any], int], dict[int, int]]
    renamed: Callable[[Mapping[str, Tensor]], dict[str, Tensor]]
    differences: Callable[[Mapping[str, Any], Training], list[str]]

"""Preparation of a test set with the subwords learned from the training text."""

from pathlib import Path

from nat.data.binarised import binarise_folder
from nat.data.bpe import apply_bpe
from nat.data.clean import clean_folder
from nat.data.corpus import Corpus
from nat.data.splits import part_of
from nat.data.tokenise import tokenise_folder


def prepare_test_set(corpus: Corpus, split: str, folder: Path, learned: Path) -> None:
    """Write the folders `clean`, `tokens`, `bpe` and `binarised` of a test set.

    Each has the same files as that of the training text; the vocabularies are copies.

    Args:
        corpus: the corpus.
        split: name of the test set.
        folder: of the test set, with its `text`.
        learned: the folder `bpe` of the training text.

    Raises:
        UserError: if the sides differ in length, or a number of pairs is not the expected one.
    """
    part = part_of(corpus, [split])
    clean_folder(part, folder / "text", folder / "clean")
    tokenise_folder(part, folder / "clean", folder / "tokens")
    apply_bpe(part, folder / "tokens", learned, folder / "bpe")
    binarise_folder(part, folder / "bpe", folder / "binarised")

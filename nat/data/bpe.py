"""Byte pair encoding (Sennrich et al. 2016) with joint codes, and the joined dictionary."""

import contextlib
import io
import re
from collections.abc import Iterable, Mapping
from itertools import chain
from pathlib import Path
from typing import Any

from subword_nmt.apply_bpe import BPE
from subword_nmt.learn_bpe import learn_bpe

from nat.data.text import (
    TRAIN,
    check_count,
    count_lines,
    read_lines,
    sides,
    split_names,
    write_lines,
)
from nat.data.vocabulary import Vocabulary
from nat.errors import UserError
from nat.files import atomic_directory

_NO_CODES = "#version: 0.2\n"
_CONTINUED = re.compile(r"@@(?: |$)")


def learn(lines: Iterable[str], merges: int) -> str:
    """Learn `merges` merge operations (fewer if no pair is left that occurs twice; 0: none).

    Args:
        lines: tokenised text of both languages.
        merges: number of merge operations.

    Returns:
        The codes in the format of subword-nmt.

    Raises:
        UserError: if there is nothing to merge.
    """
    if merges == 0:
        return _NO_CODES
    codes = io.StringIO()
    # subword-nmt draws its own progress bar on standard error.
    with contextlib.redirect_stderr(io.StringIO()):
        try:
            learn_bpe(lines, codes, merges)
        except ValueError as error:  # the largest of no pairs
            raise UserError("no word of the training text has two letters to merge") from error
    if codes.getvalue() == _NO_CODES:
        raise UserError("no pair of letters occurs twice in the training text; give more text")
    return codes.getvalue()


class Segmenter:
    """Splits tokens into subwords; a subword that is not the last of its token ends in `@@`.

    Codes without any merge (`bpe_merges: 0`) leave the tokens whole.
    """

    def __init__(self, codes: str) -> None:
        self._bpe = BPE(io.StringIO(codes)) if codes != _NO_CODES else None

    @classmethod
    def load(cls, path: Path | str) -> "Segmenter":
        """Read the codes that `bpe_folder` wrote."""
        try:
            return cls(Path(path).read_text(encoding="utf-8"))
        except FileNotFoundError as error:
            raise UserError(f"the BPE codes {path} do not exist; make the corpus again") from error

    def split(self, line: str) -> str:
        """Subwords of a tokenised line, joined by spaces."""
        return str(self._bpe.segment(line)) if self._bpe is not None else line


def merge(line: str) -> str:
    """Join subwords to tokens: `Segmenter.split` backwards.

    A model may end a sentence with a subword that asks to be continued; its mark goes as well.
    """
    return _CONTINUED.sub("", line)


def bpe_folder(corpus: Mapping[str, Any], tokens: Path, output: Path) -> None:
    """Learn codes on both sides of the training text and apply them to all splits.

    Writes `codes`, `{split}.{lang}` and `vocabulary.txt` (of the training text, both languages)
    to the folder `output`.

    Raises:
        UserError: if nothing can be learned from the training text.
    """

    def training(folder: Path) -> Iterable[str]:
        return chain.from_iterable(read_lines(folder / f"{TRAIN}.{side}") for side in sides(corpus))

    with atomic_directory(output) as folder:
        codes = learn(training(tokens), corpus["preprocessing"]["bpe_merges"])
        (folder / "codes").write_text(codes, encoding="utf-8", newline="\n")
        segmenter = Segmenter(codes)
        for split in split_names(corpus):
            for language in sides(corpus):
                name = f"{split}.{language}"
                write_lines(folder / name, map(segmenter.split, read_lines(tokens / name)))
                check_count(folder / name, count_lines(tokens / name))
        Vocabulary.from_lines(training(folder)).save(folder / "vocabulary.txt")

"""The `tokens` folder of a corpus, and the way back from tokens to text.

Moses tokens are not escaped for XML (`&`, `<`, `|`, quotes and brackets stay themselves), so that
detokenised output is compared with references as people wrote them.
"""

import multiprocessing
from collections.abc import Iterable, Iterator, Mapping
from functools import cache, partial
from itertools import islice
from pathlib import Path
from typing import Any

from sacremoses import MosesDetokenizer, MosesTokenizer

from nat.data.text import check_count, count_lines, read_lines, sides, split_names, write_lines
from nat.errors import UserError
from nat.files import atomic_directory

TOKENISERS = ("moses", "none")

_CHUNK = 2000  # lines that a process takes at once


@cache
def _moses(language: str) -> MosesTokenizer:
    return MosesTokenizer(language)


@cache
def _moses_back(language: str) -> MosesDetokenizer:
    return MosesDetokenizer(language)


def tokenise(line: str, language: str, tokeniser: str) -> str:
    """Split a line into tokens joined by single spaces.

    Args:
        line: one line of text.
        language: code of its language.
        tokeniser: `moses`, or `none` for text whose words are already separate.

    Raises:
        UserError: for another tokeniser.
    """
    if tokeniser == "moses":
        return " ".join(_moses(language).tokenize(line, escape=False))
    _check(tokeniser)
    return " ".join(line.split())


def detokenise(line: str, language: str, tokeniser: str) -> str:
    """Join the tokens of a line to text as a person would write it: `tokenise` backwards.

    It is exact but for what the tokens do not tell (99.7 % of the lines of Multi30k, English and
    German; the rest are stray spaces and single quotes).

    Raises:
        UserError: for an unknown tokeniser.
    """
    if tokeniser == "moses":
        return str(_moses_back(language).detokenize(line.split(), unescape=False))
    _check(tokeniser)
    return " ".join(line.split())


def _check(tokeniser: str) -> None:
    if tokeniser not in TOKENISERS:
        raise UserError(
            f"preprocessing.tokeniser is '{tokeniser}'; it must be one of {', '.join(TOKENISERS)}"
        )


def tokenise_folder(corpus: Mapping[str, Any], clean: Path, output: Path, threads: int = 1) -> None:
    """Write the tokens of all splits, `{split}.{lang}`, to the folder `output`.

    Args:
        corpus: the corpus as its configuration file gives it.
        clean: folder of the cleaned text.
        output: folder to make; it appears whole or not at all.
        threads: processes to share the work.
    """
    with atomic_directory(output) as folder:
        for split in split_names(corpus):
            for language in sides(corpus):
                name = f"{split}.{language}"
                work = partial(
                    _tokenise_lines,
                    language=language,
                    tokeniser=corpus["preprocessing"]["tokeniser"],
                )
                write_lines(folder / name, _in_order(work, read_lines(clean / name), threads))
                check_count(folder / name, count_lines(clean / name))


def _tokenise_lines(lines: list[str], language: str, tokeniser: str) -> list[str]:
    return [tokenise(line, language, tokeniser) for line in lines]


def _in_order(work: "partial[list[str]]", lines: Iterator[str], threads: int) -> Iterator[str]:
    chunks: Iterable[list[str]] = iter(lambda: list(islice(lines, _CHUNK)), [])
    if threads <= 1:
        for chunk in chunks:
            yield from work(chunk)
        return
    with multiprocessing.Pool(threads) as pool:
        for result in pool.imap(work, chunks):
            yield from result

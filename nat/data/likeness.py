"""Flags of prepared text: what fits neither the training text nor the subwords nor the other side.

Every split is looked at, and translations from elsewhere, whoever has prepared them. Up to 100,000
pairs of each are read, evenly spread.
"""

import re
from collections.abc import Callable, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, Literal, NamedTuple
from unicodedata import is_normalized

import numpy as np

from nat.data.corpus import Corpus
from nat.data.flags import TextFlags
from nat.data.lines import count_lines, read_lines
from nat.data.raw_text import merge
from nat.data.vocabulary import Vocabularies
from nat.files import read_json, write_json

REPORT = "bpe.json"
"""File of the folder `bpe`: flags of its splits, and the look at the first of them."""

MOST_UNKNOWN = 0.01
"""Share of the subwords of a text that a vocabulary may lack."""

_MOST_PAIRS = 100_000
_ENOUGH = 50  # pairs whose correlation is judged
_LEAST = 0.3  # correlation in the training text, and share of it, with which others are compared
_PART = 200  # pairs in a row, at least, that are compared with the others of a training text
_PARTS = 20  # at most
_VARIED = 0.5  # share of the deviation of lengths below which such pairs are not judged
_AGREED = 0.6  # share of the agreement of numbers in the training text
_UNKNOWN = 10  # subwords that are flagged
_FEW = 30  # pairs with numbers, or lines with composed letters, of which shares are compared
_ESCAPED = 0.01  # share of lines that is flagged
_SPACED = 0.1
_FORMS = 0.25  # difference of shares

_NUMBER = re.compile(r"\d+")
_ENTITY = re.compile("& ?(?:amp|lt|gt|quot|apos|#124|#91|#93) ?;")
_SPACE = re.compile(r"\S [.,](?: |$)")
_NO_SPACE = re.compile(r"\w[.,](?: |$)")


class Look(NamedTuple):
    """Counts of the pairs of a split, which those of another one should resemble.

    Attributes:
        pairs: that were looked at.
        correlation: of the logarithms of their lengths; 0 if all are equal.
        numbers: pairs with a number on the source side, and those whose target has it, too.
        forms: for each side, lines with letters that can be composed, and those not in NFC.
    """

    pairs: int
    correlation: float
    numbers: list[int]
    forms: list[list[int]]


def write_report(
    corpus: Corpus, folder: Path, vocabularies: Vocabularies, training: Look | None = None
) -> None:
    """Look at the splits in a folder `bpe`; the first is the training text if no other is given."""
    flags = TextFlags()
    for split in corpus.split_names:
        files = [folder / f"{split}.{language}" for language in corpus.sides]
        others = corpus.is_segmented(split)
        looked = look_at(corpus, split, files, vocabularies, training, others, flags)
        training = training or looked
    report = {} if training is None else {"training": training._asdict()}
    write_json(folder / REPORT, report | flags.as_written)


def look_of(bpe: Path) -> Look | None:
    """The look at the training text; None if its folder was made before there was one."""
    path = bpe / REPORT
    return Look(**read_json(path)["training"]) if path.exists() else None


def look_at(
    corpus: Corpus,
    split: str,
    files: Sequence[Path],
    vocabularies: Vocabularies,
    training: Look | None,
    segmented: bool,
    flags: TextFlags,
) -> Look:
    """Look at files of subwords of source and target, and add their flags to others.

    They are compared with the `training` text, if it is not they. Others may have prepared them
    (`segmented`, see `nat.data.origins.Split`).
    """
    step = 1 + count_lines(files[0]) // _MOST_PAIRS
    subwords = [[*islice(read_lines(path), 0, None, step)] for path in files]
    sentences = [[*map(merge, lines)] for lines in subwords]
    looked = _look(sentences)

    def add(kind: str, remedy: str, count: int, number: int, *sides: Sequence[str]) -> None:
        where = f"line {1 + step * number} of {split}"
        flags.add(kind, split, remedy, where, *(lines[number] for lines in sides), count=count)

    def add_lines(
        kind: str, remedy: str, lines: Sequence[str], odd: Callable[[str], Any], share: float = 0
    ) -> None:
        numbers = [number for number, line in enumerate(lines) if odd(line)]
        if numbers and len(numbers) >= share * len(lines):
            add(kind, remedy, len(numbers), numbers[0], lines)

    for side, (language, vocabulary) in enumerate(zip(corpus.sides, vocabularies, strict=True)):
        own, lines, of_lines = subwords[side], sentences[side], f"lines of '{language}'"
        unknown = [sum(each not in vocabulary.ids for each in line.split()) for line in own]
        share = sum(unknown) / max(1, sum(len(line.split()) for line in own))
        if share > MOST_UNKNOWN and sum(unknown) >= _UNKNOWN:
            kind = f"subwords of '{language}' that the vocabulary lacks ({share:.1%} of all)"
            remedy = "they must belong to each other and to the tokeniser"
            add(kind, remedy, sum(unknown), int(np.argmax(unknown)), own)
        if segmented and not corpus.preprocessing.escaped:
            remedy = "set 'escaped: true' in 'preprocessing'"
            add_lines(f"{of_lines} with XML escapes", remedy, lines, _ENTITY.search, _ESCAPED)
        if training is not None and min(looked.forms[side][0], training.forms[side][0]) >= _FEW:
            here, there = (each.forms[side][1] / each.forms[side][0] for each in (looked, training))
            if abs(here - there) > _FORMS:
                kind = f"{of_lines} in another Unicode form than the training text"
                odd = partial(_is_not, "NFC" if here > there else "NFD")
                add_lines(kind, "put all text into one form, such as NFC", lines, odd)
        if corpus.preparation(language).tokeniser == "none" and tokenised(lines):
            kind = f"{of_lines} with spaces before punctuation, as if it was tokens"
            add_lines(kind, "give text as it is written", lines, _SPACE.search)
    lengths = _logarithms(sentences)
    start, apart, differs = 0, lengths, _unlike(looked, training)
    if training is None and not differs:
        part, differs = unlike_others(lengths)
        start, apart = part.start or 0, lengths[:, part]
        differs = differs and f"from line {1 + step * start}: {differs}"
    if differs:
        kind = f"pairs that seem not to belong together ({differs})"
        remedy = "look for lines that are missing, doubled or in another order"
        difference = abs(apart[0] - apart[1])
        add(kind, remedy, len(difference), start + int(np.argmax(difference)), *sentences)
    return looked


def _is_not(form: Literal["NFC", "NFD"], line: str) -> bool:
    return not is_normalized(form, line)


def _look(sentences: Sequence[Sequence[str]]) -> Look:
    """Count the lines of two sides."""
    correlation = round(_correlation(_logarithms(sentences)), 6)
    numbers = ([{*_NUMBER.findall(line)} for line in lines] for lines in sentences)
    same = [bool(one & other) for one, other in zip(*numbers, strict=True) if one]
    forms = []
    for lines in sentences:
        apart = [_is_not("NFC", line) for line in lines]
        either = [_is_not("NFD", line) or each for line, each in zip(lines, apart, strict=True)]
        forms.append([sum(either), sum(apart)])
    return Look(len(sentences[0]), correlation, [len(same), sum(same)], forms)


def _logarithms(sentences: Sequence[Sequence[str]]) -> np.ndarray:
    """Logarithms of the lengths of both sides, float64 [2, n]."""
    return np.log1p([[*map(len, lines)] for lines in sentences])


def _correlation(lengths: np.ndarray) -> float:
    """Of the lengths of both sides [2, n]; 0 if all of a side are equal."""
    varied = lengths.size and lengths.std(1).all()
    return float(np.corrcoef(lengths)[0, 1]) if varied else 0.0


def tokenised(lines: Sequence[str]) -> int:
    """The number of lines with a space before a full stop or comma, if most of these have one."""
    number = sum(bool(_SPACE.search(line)) for line in lines)
    others = sum(bool(_NO_SPACE.search(line)) for line in lines)
    return number if number > others and number >= _SPACED * len(lines) else 0


def unlike_others(lengths: np.ndarray) -> tuple[slice, str]:
    """Find pairs of a training text whose lengths do not correlate, while those of others do.

    Args:
        lengths: logarithms of the lengths of both sides, [2, n].

    Returns:
        From the first such pair to the last, and why they are suspected; "" if there are none.
    """
    size = max(_PART, -(-lengths.shape[1] // _PARTS))
    parts = [slice(at, at + size) for at in range(0, lengths.shape[1] - size + 1, size)]
    found = [_correlation(lengths[:, part]) for part in parts]
    due, error = max(found, default=0.0), 3 / size**0.5
    enough = _VARIED * lengths.std(1)
    low = [
        number
        for number, part in enumerate(parts)
        if found[number] < min(_LEAST * due, error) and (lengths[:, part].std(1) > enough).all()
    ]
    if due < 2 * error or not low:
        return slice(0), ""
    of_low = max(found[number] for number in low)
    told = f"their lengths correlate by at most {of_low:.2f}, those of others by up to {due:.2f}"
    return slice(parts[low[0]].start, parts[low[-1]].stop), told


def _unlike(looked: Look, training: Look | None) -> str:
    """Say why the sides of a split seem to be shifted or in different orders; "" if they do not."""
    error = 3 / max(1, looked.pairs) ** 0.5
    told = f"their lengths correlate by {looked.correlation:.2f}"
    if training is None:
        is_low = looked.pairs >= 4 * _ENOUGH and looked.correlation < error
        return told if is_low else ""
    due = training.correlation
    is_low = looked.correlation < min(_LEAST * due, due - error)
    if is_low and due > _LEAST and looked.pairs >= _ENOUGH:
        return f"{told}, those of the training text by {due:.2f}"
    if min(looked.numbers[0], training.numbers[0]) >= _FEW:
        own, due = (its.numbers[1] / its.numbers[0] for its in (looked, training))
        if own < _AGREED * due:
            return f"{own:.0%} of those with numbers share one, {due:.0%} in the training text"
    return ""

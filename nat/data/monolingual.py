"""Sentences of the source language without translations, which a teacher translates for students.

A student that learns from translations needs no references, so any text of the source language is
training text for it (U-DiMS, Norouzi et al. 2022, section 4.5). The sentences are prepared as the
training text is, with its subwords and vocabulary.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from nat.data.binarised import BinarisedText, write_binarised, write_ids
from nat.data.clean import Seen, digest_of, fault
from nat.data.corpus import Corpus, Preprocessing
from nat.data.lines import in_order, read_lines
from nat.data.raw_text import Preparation
from nat.data.splits import MONOLINGUAL, TRAIN
from nat.data.subwords import split_lines, subwords_file
from nat.data.translations import OK, by_reason, read_in_order
from nat.data.vocabulary import UNK, Vocabularies
from nat.errors import UserError
from nat.files import atomic_directory, write_json

KINDS = {
    "empty": "without text",
    "too_long": "longer than 'max_tokens'",
    "duplicate": "repeated, or in the training text",
}
"""The reasons why a sentence cannot be used."""


def _prepared(
    lines: list[str], how: Preparation, options: Preprocessing
) -> list[tuple[str, str | None]]:
    """The tokens of each line, and the reason why it cannot be used for training, if any."""
    rows = []
    for clean in map(how.normalised, lines):
        tokens = how.tokens(clean)
        reason = fault(clean, clean, options, "clean") or fault(tokens, tokens, options, "tokens")
        rows.append((tokens, reason))
    return rows


def prepare_monolingual(
    corpus: Corpus, text: Path, bpe: Path, output: Path, processes: int = 1
) -> dict[str, Any]:
    """Write the ids of the sentences that can be used to the folder `output`, and a report.

    Those that are empty, longer than `max_tokens`, repeated, or in the training text already, are
    left out. Raises a `UserError` if none is left.

    Args:
        text: folder with the raw sentences.
        bpe: folder of the subwords and vocabularies of the training text.
        output: folder `binarised`; the report, which is returned, lies in it.
        processes: number of them that share the work.
    """
    name, dropped, seen = f"{MONOLINGUAL}.{corpus.source}", Counter[str](), Seen()
    vocabularies = Vocabularies.load(bpe)
    prepare = partial(
        _prepared, how=corpus.preparation(corpus.source), options=corpus.preprocessing
    )
    split = partial(split_lines, path=subwords_file(bpe, "source"))

    def usable() -> Iterator[str]:
        for tokens, reason in in_order(prepare, read_lines(text / name), processes):
            if reason is None:
                yield tokens
            else:
                dropped[reason] += 1

    def new() -> Iterator[str]:
        for line in read_lines(bpe / f"{TRAIN}.{corpus.source}"):
            seen.add(digest_of(line, ""))
        for line in in_order(split, usable(), processes):
            if seen.add(digest_of(line, "")):
                dropped["duplicate"] += 1
            else:
                yield line

    with atomic_directory(output) as folder:
        kept = write_binarised(new(), vocabularies.source, folder / name)
        if kept == 0:
            raise UserError(f"{text / name}: no sentence can be used for training; give more text")
        vocabularies.save(folder)
        ids = BinarisedText(folder / name).tokens
        report = {
            "read": kept + dropped.total(),
            "kept": kept,
            "dropped": dict(dropped),
            "tokens": len(ids),
            "unknown_tokens": int(np.count_nonzero(ids == UNK)),
        }
        write_json(folder / f"{MONOLINGUAL}.json", report)
    return report


def add_monolingual(
    corpus: Corpus,
    binarised: Path,
    distilled: Path,
    monolingual: Path,
    translations: Path,
    output: Path,
) -> dict[str, Any]:
    """Write both sides of a training text: the distilled one, then the monolingual sentences.

    A sentence that the teacher could not translate, or whose translation is empty, is left out.
    The report is written and returned. Raises a `UserError` if the translations do not belong to
    the monolingual sentences.

    Args:
        binarised: folder of the ids of the corpus.
        distilled: folder of the ids of the distilled text.
        monolingual: folder that `prepare_monolingual` wrote.
        translations: the teacher's translations of the monolingual sentences.
        output: folder with the ids of `train`.
    """
    vocabularies = Vocabularies.load(binarised)
    source, target = (f"{TRAIN}.{side}" for side in corpus.sides)
    sentences = BinarisedText(monolingual / f"{MONOLINGUAL}.{corpus.source}")
    left_out: dict[str, list[int]] = {}
    kept: list[int] = []

    def translated() -> Iterator[list[int]]:
        for row in read_in_order(translations, sentences=len(sentences)):
            ids, reason = vocabularies.target.encode(row["tokens"]), row["status"]
            if reason == OK and not ids:
                reason = "empty translation"
            if reason == OK:
                kept.append(row["id"])
                yield ids
            else:
                left_out.setdefault(reason, []).append(row["id"])

    def write(name: str, first: BinarisedText, more: Iterable[Any]) -> int:
        ids = (first[number].tolist() for number in range(len(first)))
        size = len(vocabularies.target if name == target else vocabularies.source)
        return write_ids(chain(ids, more), size, folder / name)

    with atomic_directory(output) as folder:
        pairs = write(target, BinarisedText(distilled / target), translated())
        chosen = (sentences[number].tolist() for number in kept)
        write(source, BinarisedText(binarised / source), chosen)
        vocabularies.save(folder)
        report = {
            "translations": str(translations),
            "pairs": pairs,
            "monolingual": len(kept),
            "left_out": by_reason(left_out),
        }
        write_json(folder / f"{MONOLINGUAL}.json", report)
    return report

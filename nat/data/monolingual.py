"""Sentences of the source language without translations, which a teacher translates for students.

A student that learns from translations needs no references, so any text of the source language is
training text for it (U-DiMS, Norouzi et al. 2022, section 4.5). The sentences are prepared as the
training text is, with its subwords and vocabulary.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from nat.data.binarised import BinarisedText, write_binarised, write_ids
from nat.data.clean import Seen, digest_of, fault
from nat.data.corpus import Corpus, Preprocessing
from nat.data.distilled import of_teacher
from nat.data.lines import in_order, read_lines
from nat.data.raw_text import Preparation
from nat.data.splits import MONOLINGUAL, TRAIN
from nat.data.subwords import split_lines, subwords_file
from nat.data.translations import EMPTY_TRANSLATION, by_reason
from nat.data.vocabulary import UNK, Vocabularies
from nat.errors import UserError
from nat.files import atomic_directory, write_json

KINDS = {
    "empty": "without text",
    "too_long": "longer than 'max_tokens'",
    "duplicate": "repeated, or in the training text",
}
"""The reasons why a sentence cannot be used."""


def _subwords(
    lines: list[str], how: Preparation, options: Preprocessing, path: Path
) -> list[tuple[str, str | None]]:
    """The subwords of each line, and the reason why it cannot be used for training, if any."""
    clean = [*map(how.normalised, lines)]
    tokens = [*map(how.tokens, clean)]
    reasons = [
        fault(line, line, options, "clean") or fault(own, own, options, "tokens")
        for line, own in zip(clean, tokens, strict=True)
    ]
    return [*zip(split_lines(tokens, path), reasons, strict=True)]


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
    how, path = corpus.preparation(corpus.source), subwords_file(bpe, "source")
    work = partial(_subwords, how=how, options=corpus.preprocessing, path=path)

    def usable() -> Iterator[str]:
        for line in read_lines(bpe / f"{TRAIN}.{corpus.source}"):
            seen.add(digest_of(line, ""))
        for line, reason in in_order(work, read_lines(text / name), processes):
            if reason is None and seen.add(digest_of(line, "")):
                reason = "duplicate"
            if reason is None:
                yield line
            else:
                dropped[reason] += 1

    with atomic_directory(output) as folder:
        kept = write_binarised(usable(), vocabularies.source, folder / name)
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
    kept: list[int] = []
    left_out = defaultdict[str, list[int]](list)

    def translated() -> Iterator[list[int]]:
        for number, (line, reason) in enumerate(of_teacher(translations, len(sentences))):
            if line and reason is None:
                kept.append(number)
                yield vocabularies.target.encode(line)
            else:
                left_out[reason or EMPTY_TRANSLATION].append(number)

    with atomic_directory(output) as folder:
        # the target first, which decides which of the sentences follow on the source side
        targets: Iterator[Any] = chain(BinarisedText(distilled / target), translated())
        pairs = write_ids(targets, len(vocabularies.target), folder / target)
        sources = chain(BinarisedText(binarised / source), map(sentences.__getitem__, kept))
        write_ids(sources, len(vocabularies.source), folder / source)
        vocabularies.save(folder)
        report = {
            "translations": str(translations),
            "pairs": pairs,
            "monolingual": len(kept),
            "left_out": by_reason(left_out),
        }
        write_json(folder / f"{MONOLINGUAL}.json", report)
    return report

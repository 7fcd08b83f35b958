"""Sequence-level distillation (Kim and Rush 2016): a teacher's translations as training targets.

Only the target side is new: the source and the vocabularies are those of the raw corpus.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from nat.data.binarised import BinarisedText, write_binarised
from nat.data.bpe import segments_of
from nat.data.corpus import Corpus
from nat.data.lines import count_lines, read_lines, write_lines
from nat.data.splits import TRAIN, sides
from nat.data.tokenise import tokens_of
from nat.data.translations import OK, Reasons, read_in_order
from nat.data.vocabulary import UNK, Vocabularies, copy_vocabularies
from nat.errors import UserError
from nat.files import atomic_directory, write_json

EMPTY_TRANSLATION = "empty translation"


def distil(
    corpus: Corpus,
    bpe: Path,
    translations: Path,
    text: Path,
    binarised: Path,
    report: Path,
    made_by: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """Write the distilled target side of the training text, aligned with the raw one.

    A sentence that the teacher could not translate, or whose translation is empty, keeps its raw
    reference; the report lists it.

    Args:
        corpus: the corpus.
        bpe: folder of its subwords and vocabularies.
        translations: of the source side of the training text, in order.
        text: folder to make, with `train.{target}` (subwords).
        binarised: folder to make, with the ids of the same and copies of the vocabularies.
        report: JSON file to write.
        made_by: what the report says of the decoding.

    Returns:
        The report: lines; which were replaced by the reference, by reason; subwords, also of the
        reference, and those that are unknown to the vocabulary.

    Raises:
        UserError: if the translations do not belong to the training text, line by line.
    """

    def given() -> Iterator[tuple[str, str | None]]:
        for translation in read_in_order(translations):
            status = translation["status"]
            subwords = " ".join(translation["tokens"].split())  # no end of a line is among them
            yield subwords, None if status == OK else status

    remedy = "remove the translations and translate again"
    outputs = text, binarised, report
    return _write(corpus, bpe, given(), translations, remedy, *outputs, made_by or {})


def distil_published(
    corpus: Corpus,
    bpe: Path,
    published: Path,
    segmented: bool,
    text: Path,
    binarised: Path,
    report: Path,
) -> dict[str, Any]:
    """The same with translations that the corpus has from elsewhere.

    They are prepared in the same way as the training text.

    Args:
        corpus: the corpus.
        bpe: folder of its subwords.
        published: translation of the source side of the training text, line by line.
        segmented: whether its lines consist of subwords, see `nat.data.corpus.Split`.
        text: folder to make, as for `distil`.
        binarised: folder to make.
        report: JSON file to write.

    Returns:
        The report of `distil`.

    Raises:
        UserError: if it does not have a line for each pair of the training text.
    """
    prepared = tokens_of(corpus, corpus.target, segmented)
    split = segments_of(bpe, "target").split
    given = ((split(prepared(line)), None) for line in read_lines(published))
    remedy = (
        "give a text that belongs to the training text line by line, and 'max_tokens', "
        "'max_ratio' and 'drop_duplicates' of 'preprocessing' with which no pair is left out"
    )
    return _write(corpus, bpe, given, published, remedy, text, binarised, report, {})


def _write(
    corpus: Corpus,
    bpe: Path,
    given: Iterator[tuple[str, str | None]],
    origin: Path,
    remedy: str,
    text: Path,
    binarised: Path,
    report: Path,
    made_by: Mapping[str, str],
) -> dict[str, Any]:
    """`distil` of subwords and, where a sentence was not translated, the reason."""
    _, target = sides(corpus)
    name = f"{TRAIN}.{target}"
    reference = bpe / name
    vocabulary = Vocabularies.load(bpe).target
    replaced = Reasons()
    reference_tokens = 0

    def chosen() -> Iterator[str]:
        nonlocal reference_tokens
        pairs = zip(read_lines(reference), given, strict=True)
        for number, (line, (tokens, reason)) in enumerate(pairs):
            reference_tokens += len(line.split())
            if reason is None and not tokens.strip():
                reason = EMPTY_TRANSLATION
            if reason is not None:
                replaced.add(reason, number)
            yield tokens if reason is None else line

    with atomic_directory(text) as folder:
        try:
            lines = write_lines(folder / name, chosen())
        except ValueError as error:
            raise UserError(
                f"{origin} has {count_lines(origin)} translations but {reference} has "
                f"{count_lines(reference)} lines; {remedy}"
            ) from error
    with atomic_directory(binarised) as folder:
        write_binarised(read_lines(text / name), vocabulary, folder / name)
        ids = BinarisedText(folder / name)
        copy_vocabularies(bpe, folder)
        tokens, unknown = len(ids.tokens), int(np.count_nonzero(ids.tokens == UNK))
    found = {
        "translations": str(origin),
        **made_by,
        "lines": len(ids),
        "translated": lines - replaced.total,
        "replaced_by_reference": replaced.as_dict(),
        "tokens": tokens,
        "reference_tokens": reference_tokens,
        "mean_length": tokens / lines,
        "mean_reference_length": reference_tokens / lines,
        "unknown_tokens": unknown,
    }
    write_json(report, found)
    return found

"""Sequence-level distillation (Kim and Rush 2016): a teacher's translations as training targets.

Only the target side is new: the source and the vocabulary are those of the raw corpus.
"""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from nat.data.binarised import BinarisedText, write_binarised
from nat.data.corpus import Corpus
from nat.data.lines import check_count, count_lines, read_lines, write_lines
from nat.data.splits import TRAIN, sides
from nat.data.translations import OK, Reasons, read_in_order
from nat.data.vocabulary import UNK, Vocabulary
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
) -> dict[str, Any]:
    """Write the distilled target side of the training text, aligned with the raw one.

    A sentence that the teacher could not translate, or whose translation is empty, keeps its raw
    reference; the report lists it.

    Args:
        corpus: the corpus.
        bpe: folder of its subwords, with `vocabulary.txt`.
        translations: of the source side of the training text, in order.
        text: folder to make, with `train.{target}` (subwords).
        binarised: folder to make, with the ids of the same and a copy of the vocabulary.
        report: JSON file to write.

    Returns:
        The report: lines; which were replaced by the reference, by reason; subwords, also of the
        reference, and those that are unknown to the vocabulary.

    Raises:
        UserError: if the translations do not belong to the training text, line by line.
    """
    _, target = sides(corpus)
    name = f"{TRAIN}.{target}"
    reference = bpe / name
    vocabulary = Vocabulary.load(bpe / "vocabulary.txt")
    replaced = Reasons()
    reference_tokens = 0

    def chosen() -> Iterator[str]:
        nonlocal reference_tokens
        pairs = zip(read_lines(reference), read_in_order(translations), strict=True)
        for number, (line, translation) in enumerate(pairs):
            reference_tokens += len(line.split())
            if translation["status"] != OK:
                replaced.add(translation["status"], number)
                yield line
            elif not translation["tokens"].strip():
                replaced.add(EMPTY_TRANSLATION, number)
                yield line
            else:
                yield translation["tokens"]

    with atomic_directory(text) as folder:
        try:
            lines = write_lines(folder / name, chosen())
        except ValueError as error:
            raise UserError(
                f"{translations} has {count_lines(translations)} translations but {reference} has "
                f"{count_lines(reference)} lines; remove the translations and translate again"
            ) from error
        check_count(folder / name, lines)
    with atomic_directory(binarised) as folder:
        write_binarised(read_lines(text / name), vocabulary, folder / name)
        ids = BinarisedText(folder / name)
        shutil.copyfile(bpe / "vocabulary.txt", folder / "vocabulary.txt")
        tokens, unknown = len(ids.tokens), int(np.count_nonzero(ids.tokens == UNK))
    found = {
        "translations": str(translations),
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

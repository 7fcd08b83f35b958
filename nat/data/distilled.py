"""Sequence-level distillation (Kim and Rush 2016): a teacher's translations as training targets.

Only the target side is new: the source and the vocabularies are those of the raw corpus.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from nat.data.binarised import BinarisedText, write_binarised
from nat.data.corpus import Corpus
from nat.data.flags import TextFlags
from nat.data.likeness import look_at, look_of
from nat.data.lines import count_lines, read_lines, write_lines
from nat.data.splits import TRAIN
from nat.data.subwords import joined, splitter_at, subwords_file
from nat.data.translations import EMPTY_TRANSLATION, OK, by_reason, read_in_order
from nat.data.vocabulary import UNK, Vocabularies
from nat.errors import UserError
from nat.files import atomic_directory, write_json


def of_teacher(
    translations: Path, sentences: int | None = None
) -> Iterator[tuple[str, str | None]]:
    """The subwords of a system's translations, and why a sentence has none (None: it has)."""
    for row in read_in_order(translations, sentences=sentences):
        subwords = " ".join(row["tokens"].split())  # no end of a line is among them
        yield subwords, None if row["status"] == OK else row["status"]


def of_published(
    translations: Path, corpus: Corpus, bpe: Path, segmented: bool
) -> Iterator[tuple[str, str | None]]:
    """The subwords of translations from elsewhere, which are prepared as the training text is."""
    how = corpus.preparation(corpus.target, segmented)
    split = splitter_at(subwords_file(bpe, "target"))
    for line in read_lines(translations):
        words = joined(line, corpus.in_pieces) if segmented else line
        yield split(how.prepared(words)), None


def distil(
    corpus: Corpus,
    bpe: Path,
    translations: Iterable[tuple[str, str | None]],
    origin: Path,
    output: Path,
    made_by: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """Write the distilled target side of the training text, aligned with the raw one.

    A sentence that the teacher could not translate, or whose translation is empty, keeps its raw
    reference. The report is written and returned. Raises a `UserError` if the translations do not
    belong to the training text, line by line.

    Args:
        bpe: folder of its subwords and vocabularies.
        translations: by `of_teacher` or `of_published`, from the file `origin`.
        output: folder with `text`, `binarised` and the report.
        made_by: facts of the decoding, for the report; translations from elsewhere have none, and
            are looked at as a split of the corpus is.
    """
    name = f"{TRAIN}.{corpus.target}"
    reference = bpe / name
    replaced: defaultdict[str, list[int]] = defaultdict(list)

    def chosen() -> Iterator[str]:
        pairs = zip(read_lines(reference), translations, strict=True)
        for number, (line, (subwords, reason)) in enumerate(pairs):
            if reason is None and not subwords.strip():
                reason = EMPTY_TRANSLATION
            if reason is not None:
                replaced[reason].append(number)
            yield subwords if reason is None else line

    with atomic_directory(output / "text") as folder:
        try:
            lines = write_lines(folder / name, chosen())
        except ValueError as error:
            raise UserError(
                f"{origin} has {count_lines(origin)} translations but {reference} has "
                f"{count_lines(reference)} lines; translate again, or let 'max_tokens', "
                "'max_ratio', 'drop_duplicates' and 'every' leave out no pair"
            ) from error
    with atomic_directory(output / "binarised") as folder:
        vocabularies = Vocabularies.load(bpe)
        write_binarised(read_lines(output / "text" / name), vocabularies.target, folder / name)
        vocabularies.save(folder)
        ids = BinarisedText(folder / name).tokens
        tokens, unknown = len(ids), int(np.count_nonzero(ids == UNK))
    reference_tokens = sum(len(line.split()) for line in read_lines(reference))
    files = [bpe / f"{TRAIN}.{corpus.source}", output / "text" / name]
    flags = TextFlags()
    if made_by is None:
        look_at(corpus, origin.stem, files, vocabularies, look_of(bpe), True, flags)
    # what is said of the source is said of the training text already
    own = [each for each in flags.listed if f"'{corpus.source}'" not in each["kind"]]
    report = {
        "translations": str(origin),
        **(made_by or {}),
        "lines": lines,
        "translated": lines - sum(map(len, replaced.values())),
        "replaced_by_reference": by_reason(replaced),
        "tokens": tokens,
        "reference_tokens": reference_tokens,
        "mean_length": tokens / lines,
        "mean_reference_length": reference_tokens / lines,
        "unknown_tokens": unknown,
        **({"flags": own} if own else {}),
    }
    write_json(output / "distillation.json", report)
    return report

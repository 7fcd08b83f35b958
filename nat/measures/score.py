"""All measures of the translations of one test set.

A score is a JSON object and, beside it, the counts of each sentence that its measures are functions
of (`nat.measures.statistics`). The translations are compared line by line with the corpus; a
missing, repeated or shifted line is an error, and a sentence that could not be decoded counts as an
empty translation.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from nat import artifacts
from nat.checksums import sha256_of
from nat.data.corpus import Corpus
from nat.data.flags import counted
from nat.data.likeness import tokenised
from nat.data.lines import read_lines
from nat.data.references import read_references, references_path
from nat.data.splits import PERFECT, folder_of
from nat.data.subwords import merge
from nat.data.translations import OK, read_in_order
from nat.data.vocabulary import SPECIALS, UNK
from nat.errors import UserError
from nat.files import read_json, write_json
from nat.job import Job
from nat.measures import bleu, statistics
from nat.measures.results import COLLAPSED, NOT_AVAILABLE, check_names, missing
from nat.measures.statistics import MEASURED, PART, TranslatedText

FEW_MARKED = 0.01
"""Share of the translations that may have unknown words or marks, besides those of references."""

_UNKNOWN, _MARKS = re.compile(re.escape(SPECIALS[UNK])), re.compile(r"@@(?: |$)|[\u2581\uffed]")

FEW_DISTINCT = 0.5
"""Distinct translations per distinct reference below which they count as few."""


def reference_files(folder: Path, corpus: Corpus, split: str, several: bool) -> dict[str, Path]:
    """The files of the reference side of a split in its folder.

    They are the raw text, `reference`, the same in `tokens`, several `references` of its sentences,
    if there are `several`, the tokenised source, by which sentences count as long, and the score of
    a `perfect` translation, if it is there.
    """
    name, tokens = f"{split}.{corpus.target}", folder / "tokens"
    files = {"reference": folder / "text" / name, "tokens": tokens / name}
    if several:
        files["references"] = references_path(folder / "references", split, corpus.target)
    files["source_tokens"] = tokens / f"{split}.{corpus.source}"
    if (tokens / PERFECT).exists():
        files["perfect"] = tokens / PERFECT
    return files


def score_translations(job: Job[artifacts.Score]) -> None:
    """Measure the translations of a split and write the score; raises as `score`."""
    artifact, inputs = job.artifact, job.inputs
    folder, several = folder_of(artifact.corpus, artifact.split), inputs.references is not None
    files = reference_files(folder, job.corpus, artifact.split, several)
    record = Path(inputs.training.path)
    training = read_json(record)
    check_names(record, training, vars(artifact))
    # the fingerprint of the training covers its configuration, seed and data
    model = {"path": str(record.parent), "fingerprint": str(training.get("fingerprint"))}
    report, counts = score(Path(artifact.translations.path), files, job.corpus)
    report["flags"] += training.get("flags", [])
    names = {name: each for name, each in vars(artifact).items() if name != "run"}
    write(job.path, names | {"model": model} | report, counts)


def write(path: Path, report: Mapping[str, Any], counts: Mapping[str, np.ndarray]) -> None:
    """Write the counts of sentences beside `path`, `{split}.json`, and then the report to it."""
    arrays = path.with_suffix(".npz")
    statistics.write(arrays, counts)
    more = {statistics.CHECKSUM: sha256_of(arrays), "measures": {path.stem: report["measures"]}}
    write_json(path, {**report, **more})


def score(
    hypotheses: Path, files: Mapping[str, Path], corpus: Corpus
) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Measure the translations in `hypotheses` (JSON lines, see `nat.data.translations`).

    They are compared with `files`, see `reference_files`. Measures are only there if the corpus has
    what they need: several references, long sentences, or enough of them to fill buckets.

    Returns:
        A report, JSON-able, whose `measures` have the number of each (`nat.measures.results`), for
        BLEU with its parts, and whose `flags` say what makes the translations suspicious; and the
        arrays that measures are functions of, by name (`nat.measures.statistics`).

    Raises:
        UserError: if files are missing, or lines are missing, repeated, shifted or unreadable;
            names the file and the first wrong line.
    """
    text = translated(list(read_in_order(hypotheses)), hypotheses, files, corpus)
    counts = statistics.counted(text)
    arrays = {name: each.sentences for name, each in counts.items()}
    of_source = files.get("source_tokens")
    source = None if of_source is None else _lines(of_source, hypotheses, len(text.rows))
    parts = statistics.sentences_by_length(text.tokens, source)
    arrays |= {PART + name: np.array(chosen) for name, chosen in parts.items()}
    numbers: dict[str, dict[str, Any]] = {}
    for name, known in MEASURED.items():
        if (own := statistics.counts_of(name, arrays)) is None:
            # to be told from measures that did not exist yet
            numbers |= missing([name], NOT_AVAILABLE)
            continue
        numbers[name] = {**statistics.number(own, known.value, known.lowest)}
        if len(own) < len(text.rows):
            numbers[name]["sentences"] = len(own)
        origin = statistics.counted_as(name)
        if known.value is MEASURED[origin].value and (signature := counts[origin].signature):
            numbers[name]["signature"] = signature
        if known.value in (bleu.smoothed, bleu.unsmoothed):
            numbers[name] |= bleu.parts(own.sum(0), smooth=known.value is bleu.smoothed)
    statuses = Counter(row["status"] for row in text.rows)
    report: dict[str, Any] = {
        "sentences": len(text.rows),
        "not_decoded": len(text.rows) - statuses[OK],
        "statuses": dict(sorted(statuses.items())),
        "distinct": {"translations": len({*text.text}), "references": len({*text.reference})},
        "flags": flags(text.text, text.reference),
        "lowercase": text.lowercase,
        "measures": numbers,
        "files": {
            name: {"path": str(path), "sha256": sha256_of(path)}
            for name, path in {"hypotheses": hypotheses, **files}.items()
        },
    }
    if "perfect" in files:
        report["perfect"] = read_json(files["perfect"])
        report["flags"] = [*dict.fromkeys(report["flags"] + report["perfect"]["flags"])]
    return report, arrays


def translated(
    rows: Sequence[Mapping[str, Any]], hypotheses: Path, files: Mapping[str, Path], corpus: Corpus
) -> TranslatedText:
    """Translations, which are those of a file, with their references; raises as `score`."""

    def split(tokens: Iterable[str]) -> list[str]:
        return bleu.split(tokens, corpus.unit)

    read = read_references(files["references"], len(rows)) if "references" in files else {}
    several = {number: texts for number, (texts, _) in sorted(read.items())}
    tokenise = corpus.preparation(corpus.target).prepared
    return TranslatedText(
        corpus=corpus,
        rows=rows,
        words=split(merge(row["tokens"]) for row in rows),
        reference=_lines(files["reference"], hypotheses, len(rows)),
        tokens=split(_lines(files["tokens"], hypotheses, len(rows))),
        several=several,
        several_tokens={n: split(map(tokenise, own)) for n, own in several.items()},
    )


def _lines(path: Path, hypotheses: Path, translations: int) -> list[str]:
    """The lines of a file of the test set, as many as there are translations."""
    lines = list(read_lines(path))
    if len(lines) != translations:
        raise UserError(
            f"{hypotheses} has {translations} translations but {path} has {len(lines)} sentences; "
            "remove the translations and decode again"
        )
    return lines


def flags(translations: Sequence[str], references: Sequence[str]) -> list[str]:
    """Reasons to suspect translations, each as the end of a sentence.

    A model that has learned nothing of its source writes the same few sentences whatever it is.
    Text with words that are unknown, marks of subwords or spaces between words and punctuation was
    prepared otherwise than what it is compared with.
    """
    reasons = []
    distinct, due = len(set(translations)), len(set(references))
    if distinct < FEW_DISTINCT * due:
        reasons.append(f"{COLLAPSED}: {distinct} for {due} distinct references")
    for what, marks in (("unknown words", _UNKNOWN), ("marks of subwords", _MARKS)):
        number, usual = (sum(map(bool, map(marks.search, x))) for x in (translations, references))
        if number - usual > FEW_MARKED * len(translations):
            reasons.append(f"{what} in {counted(number, 'translation')}")
    for what, lines in (("translations", translations), ("references", references)):
        if number := tokenised(lines):
            reasons.append(f"{number} {what} look tokenised, with spaces before punctuation")
    return reasons

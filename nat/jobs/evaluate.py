"""Translating a split with one model by several decodings, and scoring the translations of each.

What was made of the same files with the same options is kept, whatever else is asked for, so one
more decoding is the only one that runs, and translations stay if only what they are compared with
has changed, or the measures that there are. The summary of the translations, `{split}.json`, is
written last and has fingerprints of these files and options.

Snakemake removes what a job is to make before it starts it, and what a failed job has made. So all
that is finished has second names in a folder of its own, which is no output.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from nat.artifacts import Model, Ngrams, Score, TunedOptions
from nat.checksums import is_intact, sha256_of
from nat.configuration import fingerprint
from nat.data.binarised import files_of
from nat.data.splits import prepared_as, sides
from nat.data.translations import MADE_WITH, write_translations
from nat.data.vocabulary import vocabulary_files
from nat.files import link, read_json, write_json
from nat.job import Job
from nat.jobs.translate import Shared, Translator
from nat.measures import statistics
from nat.measures.score import reference_files, score_translations
from nat.program import Progress

TRANSLATED_FROM, SCORED_FROM = "translated_from", "scored_from"
"""Keys of the summary."""

SUMMARY = "summary.json"
"""The name of the summary aside; it is written last there, too."""


class MadeFrom(NamedTuple):
    """Hashes of what a decoding is made from.

    Attributes:
        translations: of the options of the decoding and of all files that it reads.
        score: of all files that the translations are compared with, and the names of the measures.
    """

    translations: str
    score: str


def evaluate(jobs: Sequence[Job[Score]]) -> None:
    """Make scores, and the translations that they are about.

    Args:
        jobs: for scores of one model on one split, one for each decoding.

    Raises:
        UserError: if something is missing or does not belong together; what was finished before
            stays.
    """
    due: list[tuple[Job[Score], MadeFrom]] = []
    for job in jobs:
        score, made_from = job.artifact, _made_from(job)
        said = "kept, for nothing that it is made of changed"
        _put_back(score)
        if not _is_made(score, made_from):
            if not _is_translated(score, made_from):
                due.append((job, made_from))
                continue
            _score_again(job, made_from)
            said = "translations kept, scored again"
        if len(jobs) > 1:
            Progress(_name(score), 1, "split").say(said)
    if due:
        translator, shared = Translator(jobs[0], jobs[0].artifact.split), Shared()
        for job, made_from in due:
            _make(job, translator, shared, made_from)


def _make(job: Job[Score], translator: Translator, shared: Shared, made_from: MadeFrom) -> None:
    score, ids = job.artifact, range(translator.sentences)
    method = translator.method(score.decoding, job.inputs, shared)
    lines = translator.translate(method, ids, _name(score))
    translations = score.translations
    # without its summary, nothing of a decoding counts as made
    Path(translations.summary).unlink(missing_ok=True)
    summary = write_translations(Path(translations.path), lines)
    score_translations(job)
    made_with = {
        "decoding": _options(job),
        "corpus": prepared_as(job.corpus, score.split),
    }
    write_json(translations.summary, {**summary, MADE_WITH: made_with, **_recorded(made_from)})
    _put_aside(score)


def _score_again(job: Job[Score], made_from: MadeFrom) -> None:
    """Score translations that stay."""
    score_translations(job)
    path = job.artifact.translations.summary
    write_json(path, {**read_json(path), **_recorded(made_from)})
    _put_aside(job.artifact)


def _recorded(made_from: MadeFrom) -> dict[str, str]:
    """What the summary says about what a decoding is made from."""
    return {TRANSLATED_FROM: made_from.translations, SCORED_FROM: made_from.score}


def _options(job: Job[Score]) -> dict[str, Any]:
    """All options of a decoding, JSON-able."""
    return job.configuration.decodings[job.artifact.decoding].method.as_json()


def _made_from(job: Job[Score]) -> MadeFrom:
    """What a decoding and its score are made from.

    Raises:
        UserError: if a file is missing.
    """
    read, compared = dict(_read(job)), dict(_compared(job))
    return MadeFrom(
        fingerprint(
            {
                "decoding": _options(job),
                "files": {name: sha256_of(path) for name, path in read.items()},
            }
        ),
        fingerprint(
            {
                "measures": sorted(statistics.MEASURED),
                "files": {name: sha256_of(path) for name, path in compared.items()},
            }
        ),
    )


def _read(job: Job[Score]) -> Iterator[tuple[str, Path]]:
    """The files that a decoding reads, by what they are."""
    inputs = job.inputs
    folder = Path(inputs.corpus.path)
    for path in files_of(folder / f"{job.artifact.split}.{sides(job.corpus)[0]}"):
        yield path.name, path
    for path in dict.fromkeys(vocabulary_files(folder)):
        yield path.stem, path
    for name, artifact in inputs.items():
        # the others are compared with, or are folders, of which only some files are read
        if isinstance(artifact, Model | Ngrams | TunedOptions):
            yield name, Path(artifact.path)
    if inputs.converted is not None:
        converted = Path(inputs.converted.path)
        files = converted.rglob("[!.]*") if converted.is_dir() else [converted]
        for path in sorted(each for each in files if not each.is_dir()):
            yield f"converted {path.relative_to(converted)}", path


def _compared(job: Job[Score]) -> Iterator[tuple[str, Path]]:
    """The files that translations are compared with, and the record of their model."""
    score, several = job.artifact, job.inputs.references is not None
    yield "training", Path(job.inputs.training.path)
    yield from reference_files(score.corpus, job.corpus, score.split, several).files.items()


def _name(score: Score) -> str:
    return f"translate {score.split} of {score.corpus} with {score.system}, {score.decoding}"


def _files(score: Score) -> dict[str, Path]:
    """What is made, the summary last, by the name that it has aside."""
    translations = score.translations
    return {
        "translations.jsonl": Path(translations.path),
        "score.json": Path(score.path),
        "statistics.npz": Path(score.statistics.path),
        SUMMARY: Path(translations.summary),
    }


def _is_made(score: Score, made_from: MadeFrom) -> bool:
    if not all(path.exists() and is_intact(path) for path in _files(score).values()):
        return False
    summary = read_json(score.translations.summary)
    return all(summary.get(key) == value for key, value in _recorded(made_from).items())


def _is_translated(score: Score, made_from: MadeFrom) -> bool:
    paths = Path(score.translations.path), Path(score.translations.summary)
    if not all(path.exists() and is_intact(path) for path in paths):
        return False
    return bool(read_json(paths[1]).get(TRANSLATED_FROM) == made_from.translations)


def _aside(score: Score) -> Path:
    """The folder with the second names of a decoding that is finished."""
    return Path(score.translations.path).with_name(f".{score.split}.finished")


def _put_aside(score: Score) -> None:
    (_aside(score) / SUMMARY).unlink(missing_ok=True)
    for name, path in _files(score).items():
        link(path, _aside(score) / name)


def _put_back(score: Score) -> None:
    """Put what Snakemake has removed of a finished decoding in its place."""
    files = _files(score)
    kept = {name: _aside(score) / name for name in files}
    if not files[SUMMARY].exists() and all(
        path.exists() and is_intact(path) for path in kept.values()
    ):
        for name, path in files.items():
            link(kept[name], path)

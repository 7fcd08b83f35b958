"""Translating a split with one model by several decodings, and scoring the translations of each.

What was made of the same files with the same options is kept, whatever else is asked for, so one
more decoding is the only one that runs, and translations stay if only what they are compared with
has changed, or the measures that there are. The summary of the translations, `{split}.json`, is
written last and has fingerprints of these files and options.

Snakemake removes what a failed job has made. So a decoding that is finished is also copied aside
until the job ends, and the next attempt does not repeat it.
"""

import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from nat.artifacts import Model, Ngrams, Score, TunedOptions, is_sharded
from nat.checksums import is_intact, sha256_of
from nat.configuration import Configuration, fingerprint
from nat.data.binarised import files_of
from nat.data.splits import prepared_as, sides
from nat.data.translations import MADE_WITH, write_translations
from nat.data.vocabulary import vocabulary_files
from nat.errors import UserError
from nat.files import atomic_path, copy, read_json, write_json
from nat.jobs.translate import Shared, Translator
from nat.measures import statistics
from nat.measures.score import reference_files, score_translations
from nat.program import Progress

TRANSLATED_FROM, SCORED_FROM = "translated_from", "scored_from"
"""Keys of the summary."""


class MadeFrom(NamedTuple):
    """Hashes of what a decoding is made from.

    Attributes:
        translations: of the options of the decoding and of all files that it reads.
        score: of all files that the translations are compared with, and the names of the measures.
    """

    translations: str
    score: str


def evaluate(configuration: Configuration, wanted: Sequence[Score]) -> None:
    """Make scores, and the translations that they are about.

    Args:
        configuration: as it holds on the corpus.
        wanted: scores of one model on one split, one for each decoding.

    Raises:
        UserError: if something is missing or does not belong together; what was finished before
            stays.
    """
    if is_sharded(configuration, wanted[0].split):
        raise UserError(
            f"--split: several jobs translate '{wanted[0].split}'; run 'snakemake {wanted[0].path}'"
        )
    due: dict[Score, MadeFrom] = {}
    for score in wanted:
        made_from = _made_from(configuration, score)
        said = "kept, for nothing that it is made of changed"
        if not (_is_made(_files(score), made_from) or _put_back(score, made_from)):
            if not _is_translated(score, made_from):
                due[score] = made_from
                continue
            _score_again(configuration, score, made_from)
            said = "translations kept, scored again"
        if len(wanted) > 1:
            Progress(_job(score), 1, "split").say(said)
    if due:
        first, last = wanted[0], list(due)[-1]
        model = first.inputs(configuration).model
        translator, shared = Translator(configuration, model, first.split), Shared()
        for score, made_from in due.items():
            _make(configuration, translator, shared, score, made_from)
            if score is not last:
                _put_aside(score)
    for score in wanted:
        shutil.rmtree(_aside(score), ignore_errors=True)


def _make(
    configuration: Configuration,
    translator: Translator,
    shared: Shared,
    score: Score,
    made_from: MadeFrom,
) -> None:
    inputs, ids = score.inputs(configuration), range(translator.sentences)
    lines = translator.translate(score.decoding, inputs, ids, _job(score), shared)
    translations = score.translations
    # without its summary, nothing of a decoding counts as made
    Path(translations.summary).unlink(missing_ok=True)
    summary = write_translations(Path(translations.path), lines)
    score_translations(configuration, score)
    made_with = {
        "decoding": configuration.decoding(score.decoding).as_json(),
        "corpus": prepared_as(configuration.corpus(score.corpus), score.split),
    }
    write_json(translations.summary, {**summary, MADE_WITH: made_with, **_recorded(made_from)})


def _score_again(configuration: Configuration, score: Score, made_from: MadeFrom) -> None:
    """Score translations that stay."""
    score_translations(configuration, score)
    summary = read_json(score.translations.summary)
    write_json(score.translations.summary, {**summary, **_recorded(made_from)})


def _recorded(made_from: MadeFrom) -> dict[str, str]:
    """What the summary says about what a decoding is made from."""
    return {TRANSLATED_FROM: made_from.translations, SCORED_FROM: made_from.score}


def _made_from(configuration: Configuration, score: Score) -> MadeFrom:
    """What a decoding and its score are made from.

    Args:
        configuration: as it holds on the corpus.
        score: of the decoding.

    Raises:
        UserError: if a file is missing.
    """
    read, compared = dict(_read(configuration, score)), dict(_compared(configuration, score))
    return MadeFrom(
        fingerprint(
            {
                "decoding": configuration.decoding(score.decoding).as_json(),
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


def _read(configuration: Configuration, score: Score) -> Iterator[tuple[str, Path]]:
    """The files that a decoding reads, by what they are."""
    inputs = score.inputs(configuration)
    description = configuration.corpus(score.corpus)
    folder = Path(inputs.corpus.path)
    for path in files_of(folder / f"{score.split}.{sides(description)[0]}"):
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


def _compared(configuration: Configuration, score: Score) -> Iterator[tuple[str, Path]]:
    """The files that translations are compared with, and the record of their model."""
    inputs = score.inputs(configuration)
    yield "training", Path(inputs.training.path)
    description, several = configuration.corpus(score.corpus), inputs.references is not None
    yield from reference_files(score.corpus, description, score.split, several).files.items()


def _job(score: Score) -> str:
    return f"translate {score.split} of {score.corpus} with {score.system}, {score.decoding}"


def _files(score: Score) -> dict[str, Path]:
    """What is made, the summary last, by the name that it has aside."""
    translations = score.translations
    return {
        "translations.jsonl": Path(translations.path),
        "score.json": Path(score.path),
        "statistics.npz": Path(score.statistics.path),
        "summary.json": Path(translations.summary),
    }


def _is_made(files: dict[str, Path], made_from: MadeFrom) -> bool:
    if not all(path.exists() and is_intact(path) for path in files.values()):
        return False
    summary = read_json(files["summary.json"])
    return all(summary.get(key) == value for key, value in _recorded(made_from).items())


def _is_translated(score: Score, made_from: MadeFrom) -> bool:
    paths = Path(score.translations.path), Path(score.translations.summary)
    if not all(path.exists() and is_intact(path) for path in paths):
        return False
    return bool(read_json(paths[1]).get(TRANSLATED_FROM) == made_from.translations)


def _aside(score: Score) -> Path:
    """Where the job keeps a decoding that is finished."""
    return Path(score.translations.path).with_name(f".{score.split}.finished")


def _put_aside(score: Score) -> None:
    for name, path in _files(score).items():
        _copy(path, _aside(score) / name)


def _put_back(score: Score, made_from: MadeFrom) -> bool:
    """Put what was kept aside in its place, if it is made from the same."""
    files = _files(score)
    kept = {name: _aside(score) / name for name in files}
    if not _is_made(kept, made_from):
        return False
    for name, path in files.items():
        _copy(kept[name], path)
    return True


def _copy(path: Path, to: Path) -> None:
    with atomic_path(to) as temporary:
        copy(path, temporary)

"""Translating a split with one model by several decodings, and scoring the translations of each.

What was made of the same files with the same options is kept, whatever else is asked for, so one
more decoding is the only one that runs, and translations stay if only what they are compared with
has changed, or the code that measures them. The summary of the translations, `{split}.json`, is
written last and has fingerprints of all that counts.
"""

import importlib.metadata
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from nat.artifacts import Model, Ngrams, Score, TunedOptions
from nat.checksums import sha256_of
from nat.configuration import fingerprint
from nat.data.binarised import files_of
from nat.data.corpus_parts import prepared_as
from nat.data.splits import folder_of
from nat.data.translations import MADE_WITH, SHA256, write_translations
from nat.data.vocabulary import vocabulary_files
from nat.files import are_intact, link_all, read_json, write_json
from nat.job import Job
from nat.jobs.translate import Translator
from nat.measures import bleu, results, score, significance, statistics
from nat.measures.results import check_names
from nat.program import Progress
from nat.training.model_file import check_weights

TRANSLATED_FROM, SCORED_FROM = "translated_from", "scored_from"
"""Keys of the summary."""

TRANSLATIONS, SUMMARY = "translations.jsonl", "summary.json"
"""Second names of the translations and of their summary."""

MEASURED_BY = (score, statistics, bleu, significance, results)
"""The modules, besides the package sacrebleu, that decide what is in a score."""


def evaluate(jobs: Sequence[Job[Score]]) -> None:
    """Make scores of one model on one split, a job for each decoding, and the translations.

    If one fails, those before it stay.
    """
    made_from = [fingerprints(job) for job in jobs]
    translator: Translator | None = None
    for job, origin in zip(jobs, made_from, strict=True):
        wanted = job.artifact
        # by their second names, the summary last
        files = {
            TRANSLATIONS: Path(wanted.translations.path),
            "score.json": Path(wanted.path),
            "statistics.npz": Path(wanted.statistics.path),
            SUMMARY: Path(wanted.translations.summary),
        }
        aside = files[SUMMARY].with_name(f".{wanted.split}.finished")
        kept = {name: aside / name for name in files}
        if not files[SUMMARY].exists() and are_intact(kept):
            link_all(kept, files)
        name = f"score {wanted.split} of {wanted.corpus} with {wanted.system}, {wanted.decoding}"
        progress = Progress(name, 1, "split")
        translated = {each: files[each] for each in (TRANSLATIONS, SUMMARY)}
        if _are_from(files, origin):
            progress.say("unchanged, kept")
            continue
        if _are_from(translated, {TRANSLATED_FROM: origin[TRANSLATED_FROM]}):
            score.score_translations(job)
            summary = read_json(files[SUMMARY])
            progress.say("translations kept, scored again")
        else:
            translator = translator or Translator(jobs[0], wanted.split, known={})
            lines = translator.translate(job)
            # without its summary, nothing of a decoding counts as made
            files[SUMMARY].unlink(missing_ok=True)
            summary = write_translations(files[TRANSLATIONS], lines)
            score.score_translations(job)
            prepared = prepared_as(job.corpus, wanted.split)
            made_with = {"decoding": _options(job), "corpus": prepared}
            summary = {**summary, MADE_WITH: made_with}
        write_json(files[SUMMARY], {**summary, **origin})
        link_all(files, kept)


def fingerprints(job: Job[Score]) -> dict[str, str]:
    """Hashes of what a decoding and its score are made from, by their keys in the summary."""
    wanted, several = job.artifact, job.inputs.references is not None
    folder = folder_of(wanted.corpus, wanted.split)
    references = score.reference_files(folder, job.corpus, wanted.split, several)
    record = Path(job.inputs.training.path)
    training = read_json(record)
    check_names(record, training, vars(wanted))
    check_weights(record, Path(job.inputs.model.path))
    scored_from = {
        "references": {name: sha256_of(path) for name, path in references.items()},
        "training": [training.get(key) for key in ("fingerprint", "flags")],  # not its times
        "code": [sha256_of(str(module.__file__)) for module in MEASURED_BY],
        "sacrebleu": [importlib.metadata.version("sacrebleu"), job.corpus.counted_as],
    }
    read = {name: sha256_of(path) for name, path in _read(job)}
    return {
        TRANSLATED_FROM: fingerprint({"decoding": _options(job), "files": read}),
        SCORED_FROM: fingerprint(scored_from),
    }


def _options(job: Job[Score]) -> dict[str, Any]:
    """All options of a decoding, JSON-able."""
    return job.configuration.decodings[job.artifact.decoding].method.as_json()


def _read(job: Job[Score]) -> Iterator[tuple[str, Path]]:
    """The files that a decoding reads, by what they are."""
    inputs = job.inputs
    folder = Path(inputs.corpus.path)
    for path in files_of(folder / f"{job.artifact.split}.{job.corpus.sides[0]}"):
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


def _are_from(files: Mapping[str, Path], origin: Mapping[str, str]) -> bool:
    if not are_intact(files):
        return False
    summary = read_json(files[SUMMARY])
    is_its = summary.get(SHA256) in (None, sha256_of(files[TRANSLATIONS]))
    return is_its and origin.items() <= summary.items()

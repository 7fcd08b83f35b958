"""Fingerprints of all that a result depends on: configuration, code of reports, other results."""

import json
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import nat
from nat import artifacts
from nat.artifact import Artifact
from nat.checksums import sha256_of
from nat.configuration import Configuration, fingerprint
from nat.data.corpus import Corpus
from nat.data.corpus_parts import has_references, listed_references, prepared_as, text_part
from nat.data.splits import MONOLINGUAL, TRAIN, together_with
from nat.job import record_of
from nat.measures.known import TOYS
from nat.papers import reports
from nat.papers.reports import Report

CODE_OF_REPORTS = ("measures", "figures", "papers", "report")
"""The packages of nat/ that compute, draw and write reports."""


@cache
def code_of_reports() -> str:
    """A fingerprint of the code by which reports are made; they are made again when it changes.

    They take seconds. A change of the code that trains, translates or scores makes nothing again by
    itself, since it would throw away what took days.
    """
    root = Path(nat.__file__).parent
    files = (path for name in CODE_OF_REPORTS for path in sorted((root / name).rglob("[!.]*.*")))
    own = (path for path in files if path.parent.name != "__pycache__")
    return fingerprint([path.read_text("utf-8") for path in own])


@cache
def depends_on(configuration: Configuration, artifact: Artifact) -> str:
    """A fingerprint of what a job depends on besides its inputs; it runs again on a change.

    Of files that a user keeps, the content counts, whatever their times say.
    """
    own = _depends_on(configuration, artifact)
    kept = (configuration.root / each.path for each in artifact.inputs(configuration).files)
    contents = [content_of(path) for path in kept if path.is_file()]
    return fingerprint([own, contents] if contents else own)


def _depends_on(configuration: Configuration, artifact: Artifact) -> Any:
    if isinstance(artifact, artifacts.CorpusStep):
        return _preparation(configuration, artifact)
    if isinstance(artifact, artifacts.OfTraining):
        return configuration.training(artifact.corpus, artifact.system).as_json()
    if isinstance(artifact, artifacts.Analysis):
        # the toy of an objective is trained by the analysis
        is_toy = artifact.analysis in TOYS
        training = configuration.training(artifact.corpus, artifact.system)
        return training.as_json() if is_toy else None
    if isinstance(artifact, artifacts.Latency):
        there = configuration.on(artifact.corpus)
        decodings = [there.decoding(each.decoding).as_json() for each in artifact.timed]
        return artifact.names, decodings, there.scale_settings.latency.model_dump()
    if isinstance(artifact, Report):
        resolved = reports.resolve(configuration, artifact)
        return resolved.model_dump_json(), code_of_reports()
    if not isinstance(artifact, artifacts.Decoded | artifacts.TunedOptions):
        return []
    there = configuration.on(artifact.corpus)
    parts: list[Any] = [there.decoding(artifact.decoding).as_json()]
    if isinstance(artifact, artifacts.Evaluated | artifacts.TunedOptions):
        parts += filter(None, [_scored_as(configuration.corpus(artifact.corpus))])
    if isinstance(artifact, artifacts.TunedOptions):
        tried, tuning = there.decoding_file(artifact.decoding).tuning, there.scale_settings.tuning
        parts += [tried, tuning.model_dump()]
    if isinstance(artifact, artifacts.Trace):
        parts.append(there.scale_settings.browser.sentences)
    return parts


def _scored_as(corpus: Corpus) -> dict[str, Any]:
    """The keys of a corpus that scores depend on, where they are given."""
    return {key: value for key, value in corpus.as_written().items() if key == "bleu_tokeniser"}


def _preparation(configuration: Configuration, artifact: artifacts.CorpusStep) -> Any:
    # all steps after the text share one fingerprint, that of the whole `preprocessing`
    description = configuration.corpus(artifact.corpus)
    if artifact.step == "references":
        return [
            [(number, part.as_written()) for number, part in listed_references(description, split)]
            for split in together_with(artifact.split)
            if has_references(description, split)
        ]
    if artifact.step != "text":
        prepared = description.preprocessing.as_written()
        own = {} if artifact.split in (TRAIN, MONOLINGUAL) else _scored_as(description)
        return prepared | own
    text = prepared_as(description, artifact.split)
    for split in text.get("splits", {}).values():
        split.pop("references", None)
    part = text_part(description, artifact.split)
    # A split that is cut out of the training text depends on what cleaning will keep.
    if not any(part.is_cut_out(split) for split in part.split_names):
        del text["preprocessing"]
    return text


KNOWN = Path(".snakemake/nat_files.json")
"""Contents of files that users keep, so that no start reads those that have not changed."""


def content_of(path: Path) -> str:
    """SHA-256 of a file, which is read again only if the file system says that it has changed."""
    own = path.stat()
    state = [own.st_size, own.st_mtime_ns, own.st_ctime_ns, own.st_ino]
    known: dict[str, Any] = {}
    with suppress(OSError, ValueError):  # not there, or damaged
        known = json.loads(KNOWN.read_text(encoding="utf-8"))
    before = known.get(str(path), [])
    if before[:-1] == state:
        return str(before[-1])
    digest = sha256_of(path)
    with suppress(OSError):  # nobody may write here
        KNOWN.write_text(json.dumps({**known, str(path): [*state, digest]}), encoding="utf-8")
    return digest


# What is equal in two runs


@cache
def identity(configuration: Configuration, artifact: Artifact) -> str:
    """A fingerprint of all that decides about a result, from the text on, but not of its run."""
    names = {name: value for name, value in vars(artifact).items() if name != "run"}
    inputs = artifact.inputs(configuration)
    read = [identity(configuration, each) for each in inputs.artifacts()]
    kind, own = type(artifact).__name__, depends_on(configuration, artifact)
    return fingerprint([kind, names, own, list(inputs), read])


MADE_ALONE = (
    *("Analysis", "Comparison", "Converted", "Distilled"),
    *("Model", "Ngrams", "Score", "TunedGamma", "WithMonolingual"),
)
"""Kinds that one run can take from another, each made by a job that records its identity."""
MADE_WITH = {
    **{"DistilledText": "Distilled", "Statistics": "Score"},
    **dict.fromkeys(("KeptModel", "TrainingCurve", "TrainingRecord"), "Model"),
}
"""Kinds that the same job makes, with those by which they are known."""


def taken_over(configuration: Configuration, results: Iterable[Artifact]) -> dict[str, str]:
    """Paths of results that a scale has already, by those of equal results of its named run.

    A result of its own that a run has already stays.
    """
    links = {}
    for artifact in results:
        kind = MADE_WITH.get(type(artifact).__name__, type(artifact).__name__)
        own, there = artifact.kinds[kind].of(vars(artifact)), Path(artifact.path)
        if kind in MADE_ALONE and (there.is_symlink() or not there.exists()):
            of_scale = {"run": configuration.scale}
            theirs, path = (replace(each, **of_scale).path for each in (own, artifact))
            record = record_of(theirs)
            recorded = record.read_text("utf-8").strip() if record.exists() else ""
            if Path(path).exists() and recorded == identity(configuration, own):
                links[artifact.path] = path
    return links

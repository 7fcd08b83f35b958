"""Specifications of the jobs of a run, files that their programs are called with.

    python workflow_scripts/train.py results/jobs/train/1f3a5c7e9b2d4f60.json

The name of a file is a fingerprint of its content, so a file never changes, and a job that failed
is repeated by hand with the line that its log begins with.
"""

import hashlib
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from nat.artifact import Artifact
from nat.artifacts import Analysis, DistilledText, Latency, OfTraining, published_by
from nat.configuration import Configuration
from nat.configuration.reading import read_snapshot, write_snapshot
from nat.files import atomic_write_text
from nat.job import (
    FOLDER,
    Job,
    JobConfiguration,
    JobDecoding,
    JobSettings,
    JobSystem,
    Processes,
    write_jobs,
)
from nat.papers.reports import Report, Site, resolve
from nat.workflow.cluster import needs, read_cluster
from nat.workflow.dependence import MADE_ALONE, identity


class Specification:
    """The argument of a program; its file is written when a command is made that names it.

    Only then `find` makes the jobs; it is None in a dry run, which writes no file.
    """

    def __init__(self, program: str, find: Callable[[], list[Job[Any]]] | None) -> None:
        self.program, self.find = program, find

    def __str__(self) -> str:
        if self.find is None:
            return "SPEC"
        content = write_jobs(self.find())
        name = hashlib.sha256(content.encode()).hexdigest()[:16]
        path = FOLDER / self.program / f"{name}.json"
        if not path.exists():
            atomic_write_text(path, content)
        return str(path)

    def __format__(self, form: str) -> str:
        return str(self)


def job(configuration: Configuration, artifact: Artifact, processes: int = 1) -> Job[Any]:
    """Specify the job that makes a result."""
    return jobs(configuration, [artifact], processes)[0]


def jobs(
    configuration: Configuration, artifacts: Sequence[Artifact], processes: int = 1
) -> list[Job[Any]]:
    """Specify a job that makes several results by the same program.

    A job that measures latencies is also told what each system reads that is timed.
    """
    wanted = list(artifacts)
    for each in artifacts:
        wanted += each.timed if isinstance(each, Latency) else []
    read = [each.inputs(configuration) for each in wanted]
    part = _part(configuration, [*wanted, *(one for inputs in read for one in inputs.artifacts())])
    identities = [
        identity(configuration, made) if isinstance(made, MADE_ALONE) else "" for made in wanted
    ]
    together = zip(wanted, read, identities, strict=True)
    return [Job(made, inputs, part, processes, own) for made, inputs, own in together]


def _part(configuration: Configuration, artifacts: Sequence[Artifact]) -> JobConfiguration:
    """The part of a configuration that says all about some results, or shows them."""
    first, settings = artifacts[0], _settings(configuration)
    if isinstance(first, Report):
        report = resolve(configuration, first.target).as_written()
        return JobConfiguration(settings=settings, report=report)
    if isinstance(first, Site):
        return JobConfiguration(settings=settings, whole=str(_written(configuration)))
    corpora, systems, decodings, published = {}, {}, {}, None
    for artifact in dict.fromkeys(artifacts):
        names = vars(artifact)
        if (corpus := names.get("corpus")) is None:
            continue
        there = configuration.on(corpus)
        corpora[corpus] = configuration.corpus(corpus)
        if isinstance(artifact, OfTraining | Analysis):
            systems[artifact.system] = _system(there, corpus, artifact.system)
        if (decoding := names.get("decoding")) is not None:
            decodings[decoding] = _decoding(there, decoding)
        if isinstance(artifact, DistilledText):
            published = published or published_by(configuration, corpus, artifact.system)
    return JobConfiguration(
        settings=settings,
        corpora=corpora,
        systems=systems,
        decodings=decodings,
        published=published,
    )


_written = cache(write_snapshot)


def whole(job: Job[Any]) -> Configuration:
    """The whole configuration of the run that a job belongs to."""
    return read_snapshot(Path(str(job.configuration.whole)))


@cache
def _system(configuration: Configuration, corpus: str, system: str) -> JobSystem:
    size = configuration.system(system).size
    return JobSystem(
        training=configuration.training(corpus, system),
        tokens_per_device=configuration.scale_settings.tokens_on_device(size),
        order=configuration.methods(system).order,
        refines=configuration.methods(system).refines,
    )


@cache
def _decoding(configuration: Configuration, decoding: str) -> JobDecoding:
    tried = configuration.decoding_file(decoding).tuning
    return JobDecoding(method=configuration.decoding(decoding), tried=tried)


@cache
def _settings(configuration: Configuration) -> JobSettings:
    scale, need = configuration.scale_settings, needs(configuration, "train")
    mirror = configuration.settings.mirror
    return JobSettings(
        scale=configuration.scale,
        threads=configuration.settings.threads,
        mirror=mirror and str(configuration.root / Path(mirror).expanduser()),
        logger=configuration.settings.logger,
        decoding_tokens=scale.decoding_tokens,
        latency=scale.latency,
        tuning=scale.tuning,
        traced=scale.browser.sentences,
        processes=Processes(
            nodes=scale.nodes,
            devices=scale.devices,
            cores=need.cores,
            gpus=read_cluster(configuration).gpu if need.gpu else None,
        ),
    )

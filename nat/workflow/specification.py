"""Specifications of the jobs of a run, files that their programs are called with.

    python workflow_scripts/train.py results/jobs/train/1f3a5c7e9b2d4f60.json

The name of a file is a fingerprint of its content, so a file never changes, and a job that failed
is repeated by hand with the line that its log begins with.
"""

from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from nat.artifact import Artifact
from nat.artifacts import Analysis, DistilledText, Latency, OfTraining
from nat.configuration import Configuration
from nat.configuration.reading import write_snapshot
from nat.configuration.runnable import published_by
from nat.files import write_by_content
from nat.job import FOLDER, Job, JobConfiguration, JobDecoding, JobSystem, write_jobs
from nat.papers.reports import Report, Site, resolve
from nat.workflow.cluster import read_cluster
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
        return str(write_by_content(FOLDER / self.program, write_jobs(self.find())))


def jobs(
    configuration: Configuration, artifacts: Sequence[Artifact], processes: int = 1
) -> list[Job[Any]]:
    """Specify a job that makes one or several results by the same program.

    A job that measures latencies is also told what each system reads that is timed.
    """
    wanted = list(artifacts)
    for each in artifacts:
        wanted += each.timed if isinstance(each, Latency) else []
    read = [each.inputs(configuration) for each in wanted]
    part = _part(configuration, [*wanted, *(one for inputs in read for one in inputs.artifacts())])
    made = []
    for each, inputs in zip(wanted, read, strict=True):
        is_known = type(each).__name__ in MADE_ALONE
        own = identity(configuration, each) if is_known else ""
        made.append(Job(each, inputs, part, processes, own))
    return made


def _part(configuration: Configuration, artifacts: Sequence[Artifact]) -> JobConfiguration:
    """The part of a configuration that says all about some results, or shows them."""
    first, shared = artifacts[0], _shared(configuration)
    if isinstance(first, Report):
        report = resolve(configuration, first).as_written()
        return shared.model_copy(update={"report": report})
    if isinstance(first, Site):
        return shared.model_copy(update={"whole": str(write_snapshot(configuration))})
    corpora, systems, decodings, published = {}, {}, {}, None
    for artifact in dict.fromkeys(artifacts):
        names = vars(artifact)
        if (corpus := names.get("corpus")) is None:
            continue
        there = configuration.on(corpus)
        corpora[corpus] = configuration.corpus(corpus)
        if isinstance(artifact, OfTraining | Analysis):
            system = artifact.system
            size = there.system(system).size
            systems[system] = JobSystem(
                training=there.training(corpus, system),
                tokens_per_device=there.scale_settings.tokens_on_device(size),
                refines=there.methods(system).refines,
            )
        if (name := names.get("decoding")) is not None:
            tried = there.decoding_file(name).tuning
            decodings[name] = JobDecoding(method=there.decoding(name), tried=tried)
        if isinstance(artifact, DistilledText):
            published = published or published_by(configuration, corpus, artifact.system)
    own = {"corpora": corpora, "systems": systems, "decodings": decodings, "published": published}
    return shared.model_copy(update=own)


@cache
def _shared(configuration: Configuration) -> JobConfiguration:
    """What all jobs of a run are told."""
    settings, scale = configuration.settings, configuration.scale
    mirror = settings.mirror and str(configuration.root / Path(settings.mirror).expanduser())
    return JobConfiguration(
        settings=settings.model_copy(update={"scale": scale, "mirror": mirror}),
        scale=configuration.scale_settings,
        gpus=read_cluster(configuration).gpu,
    )

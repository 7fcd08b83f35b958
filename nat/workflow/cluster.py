"""Requests of each job to a cluster, by stage and scale; on one machine they have no effect.

A scale says what its jobs need (`stages`, `devices`, `nodes`), `config/cluster.yaml` the names and
limits of the cluster.
"""

import math
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from nat.configuration.configuration import Configuration
from nat.configuration.files import file_of, read_yaml
from nat.configuration.models import read_model
from nat.configuration.scales import Cluster, Needs
from nat.data.corpus import SizeAbout, Step
from nat.data.splits import MONOLINGUAL, TRAIN
from nat.errors import UserError
from nat.files import read_json

CLUSTER = "config/cluster.yaml"
Resource = int | str | Callable[..., int]

# most steps of a stage that share a Slurm job (`group` of their rules), one after the other
IN_TURN = {"prepare": 5, "distil": 2, "score": 2}
ATTEMPTS = 4  # of a job: the first, and the `retries` of slurm/config.yaml


def read_cluster(configuration: Configuration) -> Cluster:
    """`config/cluster.yaml`; without the file, the defaults of the cluster apply."""
    if not (configuration.root / CLUSTER).exists():
        return Cluster()
    return read_model(Cluster, read_yaml(configuration.root, CLUSTER), CLUSTER)


def resources(
    configuration: Configuration, cluster: Cluster, stage: str, times: int = 1
) -> dict[str, Resource]:
    """The `resources` of the rules of a stage, under the names of Snakemake's Slurm executor.

    Attempt n requests n times the memory and minutes of the first, up to the cluster's limits. For
    steps that share a job Snakemake sums up the minutes, so each may only request its share. The
    job takes several `times` the minutes of its stage.
    """
    scale = configuration.scale_settings
    need: Needs = getattr(scale.stages, stage)
    kind = cluster.gpu if need.gpu else cluster.cpu
    most_minutes = kind.most_minutes and max(1, kind.most_minutes // IN_TURN.get(stage, 1))
    if scale.nodes > 1 and scale.devices is None:
        raise UserError(
            f"{file_of('scales', configuration.scale)}: 'nodes' is {scale.nodes}, but 'devices' is "
            "missing; say how many processes a training has on each node"
        )
    nodes, here = 1, 1
    if stage == "train":
        # without GPUs, as many as any of its trainings has
        most = 1 if need.gpu else max(scale.processes.values(), default=1)
        nodes, here = scale.nodes, scale.devices or most
    asked: dict[str, Resource | None] = {
        "mem_mb": growing(need.memory_mb, kind.most_memory_mb),
        "runtime": growing(need.minutes * times, most_minutes),
        # with several nodes, the program itself calls srun, which starts one process per task
        "cpus_per_task": need.cores * (here if nodes == 1 else 1),
        "slurm_account": cluster.account,
        "qos": cluster.qos,
        "slurm_partition": kind.partition,
        # other jobs on the same node would slow a measurement down
        "slurm_extra": "--exclusive" if stage.endswith("latency") else None,
        "nodes": nodes if nodes * here > 1 else None,
    }
    if nodes > 1:
        asked |= {"mpi": "srun", "tasks": here * nodes}
        # otherwise the executor requests one or more tasks per GPU
        asked["tasks_per_gpu"] = 0 if need.gpu else None
    if need.gpu and cluster.gpu.request == "gres":  # the GPUs of each node
        asked["gres"] = ":".join(filter(None, ["gpu", cluster.gpu.type, str(here)]))
    elif need.gpu:
        asked |= {"gpu": here * nodes, "gpu_model": cluster.gpu.type}
    return {key: value for key, value in asked.items() if value is not None}


def growing(first: int, most: int | None) -> Callable[..., int]:
    """A resource that grows with the attempts of a job."""

    def grow(wildcards: Any, attempt: int) -> int:
        return first * attempt if most is None else min(first * attempt, most)

    return grow


def in_shards(configuration: Configuration, corpus: str, split: str, decodings: int) -> int:
    """Time of translating a split in that of a shard of the training text, rounded up.

    `decodings` is the number of decodings by which it is translated.
    """
    shard = sentences(configuration, corpus, TRAIN) / configuration.scale_settings.shards.train
    work = sentences(configuration, corpus, split) * decodings
    return max(1, math.ceil(work / shard)) if shard else 1


def sentences(configuration: Configuration, corpus: str, split: str) -> int:
    """Sentences of a split: counted where the corpus is made, else as its file says.

    They are 0 if unknown.
    """
    with suppress(UserError, KeyError):  # not made, or damaged: what makes it again must start
        made = read_json(configuration.root / f"results/corpora/{corpus}/corpus.json")
        return int(made["splits"][split]["pairs"])
    description = configuration.corpus(corpus)
    if split == MONOLINGUAL:
        return (description.monolingual and description.monolingual.sentences) or 0
    if description.generator is not None:
        return description.generator.pairs.get(split, 0)
    steps: tuple[Step, ...] = ("tokens", "clean", "text")
    for sizes in (description.expected.get(step, {}) for step in steps):
        if split in sizes:
            size = sizes[split]
            return size.about if isinstance(size, SizeAbout) else size
    return (description.splits[split].pairs or 0) if split in description.splits else 0

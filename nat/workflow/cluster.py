"""What each job requests from a cluster, by stage and scale.

A scale says what its jobs need (`stages`, `devices`, `nodes`); `config/cluster.yaml` contains the
names and limits of the cluster. On a single machine, neither has an effect.
"""

import math
from collections.abc import Callable
from typing import Any

from nat.configuration.configuration import Configuration
from nat.configuration.file_names import file_of
from nat.configuration.models import Cluster, GpuNodes, Needs, Stage, read_model
from nat.configuration.yaml_file import read_yaml
from nat.data.corpus import number_of
from nat.data.splits import TRAIN
from nat.errors import UserError
from nat.files import read_json

CLUSTER = "config/cluster.yaml"
Resource = int | str | Callable[..., int]

DEFAULT_NEEDS: dict[Stage, Needs] = {
    "prepare": Needs(memory_mb=3000, minutes=20),
    "train": Needs(memory_mb=4000, minutes=240),
    "convert": Needs(memory_mb=3000, minutes=30),
    "translate": Needs(memory_mb=3000, minutes=60),
    "distil": Needs(memory_mb=3000, minutes=60),
    "compare": Needs(memory_mb=3000, minutes=60),
    "ngrams": Needs(memory_mb=3000, minutes=30),
    "score": Needs(memory_mb=2000, minutes=15),
    "latency": Needs(memory_mb=3000, minutes=60),
    "report": Needs(memory_mb=2000, minutes=15),
}
"""What a job needs if the scale does not say; sufficient for `demo` and `small`."""

IN_TURN: dict[Stage, int] = {"prepare": 5, "distil": 2, "score": 2}
"""Most steps of a stage that share a Slurm job (`group` of their rules), one after the other."""

ATTEMPTS = 4
"""Of a job: the first, and the `retries` of slurm/config.yaml."""


def needs(configuration: Configuration, stage: Stage) -> Needs:
    """What a job of a stage needs at the configuration's scale."""
    default = DEFAULT_NEEDS[stage]
    said = configuration.scale_settings.stages.get(stage, Needs())
    return default.model_copy(update=said.model_dump(exclude_unset=True))


def devices(configuration: Configuration) -> int | None:
    """Processes of a training on each node; None for as many as it sees GPUs."""
    return configuration.scale_settings.devices


def nodes(configuration: Configuration) -> int:
    """Nodes of a training."""
    return configuration.scale_settings.nodes


def hours_of_attempts(configuration: Configuration, stage: Stage) -> list[float]:
    """Hours that a job of a stage has in each of its attempts on the cluster."""
    need, cluster = needs(configuration, stage), read_cluster(configuration)
    grow = _growing(need.minutes, (cluster.gpu if need.gpu else cluster.cpu).most_minutes)
    return [grow(None, attempt) / 60 for attempt in range(1, ATTEMPTS + 1)]


def read_cluster(configuration: Configuration) -> Cluster:
    """`config/cluster.yaml`; without the file, the defaults of the cluster apply.

    Raises:
        UserError: for anything wrong in it.
    """
    if not (configuration.root / CLUSTER).exists():
        return Cluster()
    return read_model(Cluster, read_yaml(configuration.root, CLUSTER), CLUSTER)


def resources(
    configuration: Configuration, cluster: Cluster, stage: Stage, times: int = 1
) -> dict[str, Resource]:
    """The `resources` of the rules of a stage, under the names of Snakemake's Slurm executor.

    Attempt n requests n times the memory and minutes of the first, up to the cluster's limits. For
    steps that share a job Snakemake sums up the minutes, so each may only request its share.

    Args:
        configuration: of the run.
        cluster: names and limits.
        stage: of the jobs.
        times: factor of the minutes that the stage has.

    Raises:
        UserError: if the scale uses several nodes for a training without giving `devices`.
    """
    need = needs(configuration, stage)
    kind = cluster.gpu if need.gpu else cluster.cpu
    most_minutes = kind.most_minutes and max(1, kind.most_minutes // IN_TURN.get(stage, 1))
    found: dict[str, Resource] = {
        "mem_mb": _growing(need.memory_mb, kind.most_memory_mb),
        "runtime": _growing(need.minutes * times, most_minutes),
        "cpus_per_task": need.cores,
    }
    named = {
        "slurm_account": cluster.account,
        "qos": cluster.qos,
        "slurm_partition": kind.partition,
    }
    found |= {key: value for key, value in named.items() if value is not None}
    if stage == "latency":  # other jobs on the same node would slow it down
        found["slurm_extra"] = "--exclusive"
    each, several = devices(configuration), nodes(configuration)
    if several > 1 and each is None:
        raise UserError(
            f"{file_of('scales', configuration.scale)}: 'nodes' is {several}, but 'devices' is "
            "missing; say how many processes a training has on each node"
        )
    here, everywhere = (each or 1, several) if stage == "train" else (1, 1)
    if here * everywhere > 1:
        found["nodes"] = everywhere
    if everywhere > 1:  # the program itself calls srun, which starts one process per task
        found |= {"mpi": "srun", "tasks": here * everywhere}
        if need.gpu:
            found["tasks_per_gpu"] = 0  # otherwise the executor requests one or more tasks per GPU
    elif here > 1:
        found["cpus_per_task"] = need.cores * here
    if need.gpu:
        found |= _gpus(cluster.gpu, here, everywhere)
    return found


def in_shards(configuration: Configuration, corpus: str, split: str, decodings: int) -> int:
    """How many times as long as a shard of the training text a job may take, at least 1.

    Args:
        configuration: of the run.
        corpus: corpus with the split.
        split: split that the job translates.
        decodings: number of decodings by which it does.
    """
    shard = sentences(configuration, corpus, TRAIN) / configuration.shards[TRAIN]
    work = sentences(configuration, corpus, split) * decodings
    return max(1, math.ceil(work / shard)) if shard else 1


def sentences(configuration: Configuration, corpus: str, split: str) -> int:
    """Pairs of a split: counted where the corpus is made, else as its file says; 0 if unknown."""
    made = configuration.root / f"results/corpora/{corpus}/corpus.json"
    if made.exists():
        counted = read_json(made).get("splits", {}).get(split, {}).get("pairs")
        if isinstance(counted, int):
            return counted
    found = configuration.corpus(corpus)
    if found.generator is not None:
        return found.generator.pairs.get(split, 0)
    for sizes in (found.expected.tokens, found.expected.clean, found.expected.text):
        if split in sizes:
            return number_of(sizes[split])
    return (found.splits[split].pairs or 0) if split in found.splits else 0


def _gpus(kind: GpuNodes, here: int, everywhere: int) -> dict[str, Resource]:
    """`gres` counts the GPUs of each node, `gpu` those of the job."""
    if kind.request == "gres":
        return {"gres": ":".join(filter(None, ["gpu", kind.type, str(here)]))}
    found: dict[str, Resource] = {"gpu": here * everywhere}
    return found if kind.type is None else {**found, "gpu_model": kind.type}


def _growing(first: int, most: int | None) -> Callable[..., int]:
    def grow(wildcards: Any, attempt: int) -> int:
        return first * attempt if most is None else min(first * attempt, most)

    return grow

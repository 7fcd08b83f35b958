"""The typed models of scales, of a cluster, and of what a plan assumes."""

from typing import Annotated, Any, Literal

from pydantic import Field

from nat.options import Count, OrAbsent, Positive, Seeds, StrictModel, Text, Unique
from nat.transformer.architecture import Architecture

ByTask = dict[str, dict[str, Any]]
"""What is different on the corpus of a task, by task."""


Variants = dict[str, dict[str, Any]]
"""Several, by name, each with what differs from the file."""


class Inheriting(StrictModel):
    """A file that may be like another one; `nat.configuration.families` resolves this key.

    Attributes:
        like: the name of another one, from which missing keys are inherited.
    """

    like: OrAbsent[str] = None


# config/scales

Stage = Literal[
    "prepare",
    "train",
    "convert",
    "translate",
    "distil",
    "compare",
    "ngrams",
    "score",
    "latency",
    "report",
]


class Needs(StrictModel):
    """What one job needs.

    Attributes:
        gpu: whether it needs a GPU; a training, one for each of its processes.
        cores: of the processor; of a training with several processes, for each.
        memory_mb: of a node.
        minutes: time limit of the first attempt.
    """

    gpu: bool = False
    cores: Count = 1
    memory_mb: Count = 2000
    minutes: Count = 60


class Shards(StrictModel):
    """Jobs that decode one split."""

    train: Count
    valid: Count
    test: Count

    def of(self, split: str) -> int:
        """Number of jobs that decode a split."""
        return int(getattr(self, split, self.test))


class LatencyOptions(StrictModel):
    """How latencies are measured."""

    sentences: Count | None = None
    repeats: int = Field(default=5, ge=5)
    most_repeats: Count = 15
    threads: Count | None = None


class Tuning(StrictModel):
    """How options of decodings are tuned."""

    sentences: Count | None = None


class Browser(StrictModel):
    """What the sentence browser of the report shows."""

    sentences: Count = 200
    steps: Annotated[list[str], Unique] = []


class TaskCorpus(StrictModel):
    """A task of a scale with its own heading."""

    corpus: str
    heading: Text


class Scale(Inheriting):
    """A file of `config/scales`: how large a run is; docs/configuration.md has its keys."""

    description: Text
    seeds: Seeds
    tasks: dict[str, TaskCorpus | str] = Field(min_length=1)
    sizes: dict[str, Architecture] = Field(min_length=1)
    recipes: ByTask
    shards: Shards
    decoding_tokens: Count
    parts: dict[str, dict[str, Any]] = {}
    regulariser: dict[str, Any] = {}
    latency: LatencyOptions = LatencyOptions()
    tuning: Tuning = Tuning()
    browser: Browser = Browser()
    tokens_per_device: Count | None = None
    devices: OrAbsent[Count] = None
    nodes: Count = 1
    stages: dict[Stage, Needs] = {}

    def heading(self, task: str) -> str | None:
        """What tables call a task; None where the scale does not say."""
        its = self.tasks.get(task)
        return its.heading if isinstance(its, TaskCorpus) else None


# config/cluster.yaml


class Nodes(StrictModel):
    """Partition and limits of a kind of job.

    Attributes:
        partition: null: the default of the cluster.
        most_minutes: of a job; null: no limit.
        most_memory_mb: of a node; null: no limit.
    """

    partition: Text | None = None
    most_minutes: Count | None = None
    most_memory_mb: Count | None = None


class GpuNodes(Nodes):
    """The same for jobs with a GPU.

    Attributes:
        request: `gpus` uses --gpus, `gres` uses --gres.
        type: such as a100; null: the default of the cluster.
    """

    request: Literal["gpus", "gres"] = "gpus"
    type: Annotated[str, Field(pattern=r"^[A-Za-z0-9_.]+$")] | None = None


class Cluster(StrictModel):
    """`config/cluster.yaml`: names and limits of a Slurm cluster; null: its default.

    Attributes:
        account: charged for the jobs.
        qos: quality of service.
        cpu: for jobs without a GPU.
        gpu: for jobs with one.
    """

    account: Text | None = None
    qos: Text | None = None
    cpu: Nodes = Nodes()
    gpu: GpuNodes = GpuNodes()


# config/plan.yaml


class OfModels(StrictModel):
    """What the size base takes at a scale, on one device; other sizes in proportion to weights.

    Attributes:
        train: seconds for a million target tokens.
        translate: seconds for a million sentences in each pass of the decoder.
        symbols: of the vocabularies.
    """

    train: Positive
    translate: Positive
    symbols: Count


class Assumptions(StrictModel):
    """`config/plan.yaml`: what `snakemake plan` assumes of jobs like which none was measured.

    Attributes:
        gpus: of the cluster that the plan is for, at scales with GPUs.
        scales: what models take, by scale.
        tokens: of one side of a pair, where the length of a training is given in epochs.
        beam: passes of the decoder for each member of a beam.
        settings: how many times as long as full batches latencies take where there are GPUs.
        texts: seconds of a core for a million pairs, by rule.
        jobs: seconds of a job of any other rule.
        megabytes: that stay on the disk of a million sentences or pairs, by rule.
    """

    gpus: Count
    scales: dict[str, OfModels]
    tokens: Count
    beam: Positive
    settings: dict[str, float]
    texts: dict[str, float]
    jobs: dict[str, float]
    megabytes: dict[str, float]

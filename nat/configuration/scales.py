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
    """A file that may be like another one; `nat.configuration.families` resolves this key."""

    like: OrAbsent[str] = None


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
    """What one job needs."""

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


class Nodes(StrictModel):
    """Partition and limits of a kind of job."""

    partition: Text | None = None
    most_minutes: Count | None = None
    most_memory_mb: Count | None = None


class GpuNodes(Nodes):
    """The same for jobs with a GPU."""

    request: Literal["gpus", "gres"] = "gpus"
    type: Annotated[str, Field(pattern=r"^[A-Za-z0-9_.]+$")] | None = None


class Cluster(StrictModel):
    """`config/cluster.yaml`: names and limits of a Slurm cluster; null: its default."""

    account: Text | None = None
    qos: Text | None = None
    cpu: Nodes = Nodes()
    gpu: GpuNodes = GpuNodes()


class OfModels(StrictModel):
    """Seconds for a million target tokens, or for a million sentences in a pass of the decoder."""

    train: Positive
    translate: Positive
    symbols: Count


class Assumptions(StrictModel):
    """`config/plan.yaml`: what `snakemake plan` assumes of jobs like which none was measured.

    The file says what each number is; sizes other than base take time in proportion to weights.
    """

    gpus: Count
    scales: dict[str, OfModels]
    tokens: Count
    beam: Positive
    settings: dict[str, float]
    texts: dict[str, float]
    jobs: dict[str, float]
    megabytes: dict[str, float]

"""The typed models of scales, of a cluster, and of what a plan assumes."""

from typing import Annotated, Any, Literal

from pydantic import Field

from nat.data.splits import MONOLINGUAL, TRAIN
from nat.options import Count, OrAbsent, Positive, Seeds, StrictModel, Text, Unique
from nat.transformer.architecture import Architecture

Changes = dict[str, dict[str, Any]]
"""What differs from the rest, by name of what differs: a task, a variant, a recipe."""


class Inheriting(StrictModel):
    """A file that may be like another one; `nat.configuration.families` resolves this key."""

    like: OrAbsent[str] = None


class Needs(StrictModel):
    """Resources of one job."""

    gpu: bool = False  # a training, one for each of its processes
    cores: Count = 1  # of the processor; of a training with several processes, for each
    memory_mb: Count = 2000  # of a node
    minutes: Count = 60  # time limit of the first attempt


class Stages(StrictModel):
    """Resources of a job of each stage; the defaults are sufficient for `demo` and `small`."""

    prepare: Needs = Needs(memory_mb=3000, minutes=20)
    train: Needs = Needs(memory_mb=4000, minutes=240)
    convert: Needs = Needs(memory_mb=3000, minutes=30)
    translate: Needs = Needs(memory_mb=3000, minutes=60)
    distil: Needs = Needs(memory_mb=3000, minutes=60)
    compare: Needs = Needs(memory_mb=3000, minutes=60)
    ngrams: Needs = Needs(memory_mb=3000, minutes=30)
    score: Needs = Needs(memory_mb=2000, minutes=15)
    latency: Needs = Needs(memory_mb=3000, minutes=60)
    cpu_latency: Needs = Needs(memory_mb=3000, minutes=60)
    report: Needs = Needs(memory_mb=2000, minutes=15)


class Shards(StrictModel):
    """Jobs that decode one split."""

    train: Count  # for the training text, or the monolingual one, which teachers translate
    valid: Count  # for the validation set
    test: Count  # for each test set

    def of(self, split: str) -> int:
        """Number of jobs that decode a split."""
        return int(getattr(self, TRAIN if split == MONOLINGUAL else split, self.test))


class LatencyOptions(StrictModel):
    """Measurement of latencies."""

    # how many of the test set, drawn at random, always the same ones; null: all
    sentences: Count | None = None
    repeats: int = Field(default=5, ge=5)  # how often each system translates these sentences
    most_repeats: Count = 15  # largest number, if the times of some system lie far apart
    threads: Count | None = None  # of a processor; null: as many as a training has


class Tuning(StrictModel):
    """Tuning of options of decodings."""

    sentences: Count | None = None  # of the validation set, from its beginning; null: all


class Browser(StrictModel):
    """Content of the sentence browser of the report."""

    sentences: Count = 200  # of each test set, from its beginning
    # decodings that are shown step by step, of each system that a report shows with them
    steps: Annotated[list[str], Unique] = []


class TaskCorpus(StrictModel):
    """A task of a scale with its own heading."""

    corpus: str  # used for the task
    heading: Text  # name of the task in tables


class ScaledRecipe(StrictModel, extra="allow"):
    """Changed keys of a recipe, perhaps of another one that replaces it."""

    other: OrAbsent[str] = Field(default=None, alias="as")


class Scale(Inheriting):
    """A file of `config/scales`: how large a run is."""

    description: Text  # for readers
    seeds: Seeds  # of the trainings; the teacher of the first one translates the text of students
    # the corpus used for each task of a paper or of your own, or `{corpus: ..., heading: ...}`;
    # null leaves out a task that the scale has by `like`
    tasks: dict[str, TaskCorpus | str | None] = Field(min_length=1)
    sizes: dict[str, Architecture] = Field(min_length=1)  # of models, by name
    # changes of a recipe, or the recipe that replaces it at this scale (`as`)
    recipes: dict[str, ScaledRecipe]
    shards: Shards  # number of jobs that share the translation of a split
    # most source tokens in one batch of a decoding, with padding; fewer need less memory
    decoding_tokens: Count
    parts: Changes = {}  # changes of the network parts of all systems, by part
    targets: Changes = {}  # changes of the proxy targets of single systems, by system
    regulariser: dict[str, Any] = {}  # changes of that of all systems that choose among texts
    latency: LatencyOptions = LatencyOptions()  # how latencies are measured
    tuning: Tuning = Tuning()  # how options of decodings are tuned
    browser: Browser = Browser()  # what the sentence browser of the report shows
    # most tokens in one batch of a device, by the size of the model, and of all `others`; larger
    # updates are accumulated; without a number there is no limit
    tokens_per_device: dict[str, Count] = {}
    # processes of a training on each node, one GPU each; without it, the GPUs that it sees
    devices: OrAbsent[Count] = None
    # processes that share a training without GPUs, by system; others have one
    processes: dict[str, Count] = {}
    nodes: Count = 1  # of a training; more than one only inside a Slurm job
    # what a job of each stage requests from a cluster; keys that are not given are the default's
    stages: Stages = Stages()
    apart: Annotated[list[str], Unique] = []  # papers that only run when they are asked for

    def heading(self, task: str) -> str | None:
        """Name of a task in tables; None where the scale does not say."""
        its = self.tasks.get(task)
        return its.heading if isinstance(its, TaskCorpus) else None

    def tokens_on_device(self, size: str) -> int | None:
        """Most tokens in one batch of a device for models of a size; None without a limit."""
        return self.tokens_per_device.get(size, self.tokens_per_device.get("others"))


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
    """Seconds for a million target tokens and each batch, or for a million sentences in a pass.

    They are those of a job that shares its GPU, one of so many `gpus`, with others, `side_by_side`.
    """

    train: Positive
    batch: Annotated[float, Field(ge=0)] = 0
    translate: Positive
    symbols: Count
    gpus: Count = 1
    side_by_side: Count = 1


class Assumptions(StrictModel):
    """`config/plan.yaml`: what `snakemake plan` assumes of jobs like which none was measured.

    The file says what each number is; sizes other than base take time in proportion to weights.
    """

    scales: dict[str, OfModels]
    tokens: Count
    beam: Positive
    settings: dict[str, float]
    texts: dict[str, float]
    jobs: dict[str, float]
    megabytes: dict[str, float]

"""The typed models of the files in `config/`, and of what follows from them for a training.

They are validated strictly: text is not a number, 1e5 is not a count, and an unknown key is an
error. Relations between files are checked in `nat.configuration.checks`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypeVar

from pydantic import (
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    GetCoreSchemaHandler,
    Tag,
    create_model,
    model_validator,
)
from pydantic.dataclasses import dataclass as pydantic_dataclass
from pydantic_core import CoreSchema, core_schema

from nat.data import candidates as texts
from nat.data.corpus import Corpus
from nat.errors import told_of
from nat.options import (
    BelowOne,
    Count,
    LocalPath,
    Name,
    Number,
    OrAbsent,
    Positive,
    Seeds,
    StrictModel,
    Text,
    Unique,
    validated,
)
from nat.registry import Method
from nat.transformer.architecture import Architecture
from nat.transformer.decoder_options import DecoderOptions

Kind = TypeVar("Kind")


@dataclass(frozen=True)
class _ReadAs:
    """Reads a value that the file gives in another form.

    Attributes:
        given: type of what the file gives.
        of: makes the value of it, JSON-able.
        as_json: the reverse.
    """

    given: Any
    of: Callable[[Any], Any]
    as_json: Callable[[Any], Any]

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        def read(given: Any, check: Callable[[Any], Any]) -> Any:
            check(given)
            return self.of(given)

        return core_schema.no_info_wrap_validator_function(
            read,
            handler.generate_schema(self.given),
            serialization=core_schema.plain_serializer_function_ser_schema(self.as_json),
        )


Precision = Literal["auto", "fp32", "bf16"]
DistillationEngine = Literal["pytorch", "ctranslate2"]


# config/config.yaml


class Settings(StrictModel):
    """`config/config.yaml`: the one place where a run is chosen.

    Attributes:
        scale: a file of config/scales.
        mirror: folder with files HOST/PATH that are used instead of downloads.
        precision: inputs of the linear layers in training; auto: bf16 if the processor supports it.
        threads: of one training on CPU.
        tensorboard: whether trainings write event files, which show them as they go on.
        distillation_engine: what translates a training text by beam search.
    """

    scale: str
    mirror: Text | None
    precision: Precision
    threads: Count
    tensorboard: bool = False
    distillation_engine: DistillationEngine = "pytorch"


# config/recipes


class Validation(StrictModel):
    """How checkpoints are compared.

    Attributes:
        decoding: a file of config/decodings; null if the metric is the loss.
        metric: what is compared.
        sentences: number of sentences of valid, from its beginning; null: all.
    """

    decoding: str | None
    metric: Literal["bleu", "loss"]
    sentences: Count | None

    @model_validator(mode="after")
    def _bleu_needs_a_decoding(self) -> "Validation":
        if self.metric == "bleu" and self.decoding is None:
            raise ValueError("'decoding' is null, but 'metric' is bleu")
        return self


class Average(StrictModel):
    """The checkpoints whose mean is the final model.

    Attributes:
        checkpoints: how many.
        by: which ones, those with the best validation or the last.
    """

    checkpoints: Count
    by: Literal["best", "last"]


# keys that `nat.configuration.families` resolves before a file is validated


def _like(schema: dict[str, Any]) -> None:
    schema["properties"]["like"] = {
        "description": "the name of another one, from which missing keys are inherited",
        "type": "string",
    }


def _like_and_variants(schema: dict[str, Any]) -> None:
    _like(schema)
    schema["properties"]["variants"] = {
        "description": "several, by name, each with what differs from this file",
        "type": "object",
        "minProperties": 1,
    }


class Recipe(StrictModel):
    """A file of `config/recipes`: how a system is trained.

    Attributes:
        description: for readers.
        updates: length of the training.
        epochs: passes over the training text, instead of updates.
        reference_updates: length for which options of methods that act at every update, such as
            `ema_decay`, are stated; by default the recipe's own updates.
        batch_tokens: tokens of the longer side in one update, with padding, over all devices.
        learning_rate: of Adam, at its peak.
        warmup_updates: updates until the peak.
        warmup_epochs: passes over the training text until the peak, instead of `warmup_updates`.
        schedule: of the learning rate, after the warm-up.
        betas: of Adam.
        epsilon: of Adam.
        weight_decay: decoupled, of Adam.
        clip_norm: largest norm of a gradient; 0: no clipping.
        dropout: share of the states that is set to zero.
        length_loss_weight: of the length predictor's loss.
        save_every: updates between checkpoints.
        validate_every: updates between validations; every checkpoint is validated.
        validations_per_epoch: checkpoints and validations in an epoch, instead of `save_every` and
            `validate_every`.
        keep: updates after which the weights are kept, by name, for other systems that start
            there.
        validation: how checkpoints are compared.
        patience: validations without improvement before training ends; null: never.
        average: the checkpoints whose mean is the final model.
        tasks: by task, what is different on its corpus.
    """

    model_config = ConfigDict(json_schema_extra=_like)

    description: Text = ""
    updates: OrAbsent[Count] = None
    epochs: OrAbsent[Positive] = None
    reference_updates: OrAbsent[Count] = None
    batch_tokens: Count
    learning_rate: float = Field(gt=0, le=1)
    warmup_updates: OrAbsent[Number] = None
    warmup_epochs: OrAbsent[Annotated[float, Field(ge=0)]] = None
    schedule: Literal["inverse_sqrt", "fixed"]
    betas: tuple[BelowOne, ...] = Field(min_length=2, max_length=2)
    epsilon: float = Field(gt=0, le=0.01)
    weight_decay: BelowOne
    clip_norm: float = Field(ge=0)
    dropout: BelowOne
    length_loss_weight: float = Field(ge=0)
    save_every: OrAbsent[Count] = None
    validate_every: OrAbsent[Count] = None
    validations_per_epoch: OrAbsent[Positive] = None
    keep: OrAbsent[Annotated[dict[Name, Count], Field(min_length=1)]] = None
    validation: Validation
    patience: Count | None
    average: Average
    tasks: dict[str, dict[str, Any]] = {}


def partial(model: type[StrictModel], *but: str) -> type[StrictModel]:
    """A model whose keys may all be missing, also those of nested mappings.

    For files that describe the difference from another file; they have no keys `but`. A missing
    key is None, so use `model_fields_set` to see which keys were given.
    """
    fields: dict[str, Any] = {}
    for name, field in model.model_fields.items():
        kind: Any = field.annotation
        if isinstance(kind, type) and issubclass(kind, StrictModel):
            kind = partial(kind)
        for part in field.metadata:
            kind = Annotated[kind, part]
        if name not in but:
            fields[name] = (kind, Field(default=None, alias=field.alias))
    name = f"PartOf{model.__name__}"
    return create_model(name, __base__=StrictModel, __doc__=model.__doc__, **fields)


RecipeChange = partial(Recipe, "tasks")


class RecipeOfAnother(StrictModel):
    """Replaces a recipe by another one at a scale.

    Attributes:
        other: a file of config/recipes.
    """

    other: str = Field(alias="as")


SettingsChange = partial(Settings, "scale", "mirror", "tensorboard")
"""Keys of config/config.yaml that concern one run; corpora are made once for all runs."""


class Changes(StrictModel):
    """Overrides on the command line, by kind of file.

    Attributes:
        config: keys of config/config.yaml.
        recipes: keys of recipes, by name; they take precedence over the scale.
    """

    config: SettingsChange = SettingsChange()  # type: ignore[valid-type]
    recipes: dict[str, RecipeChange] = {}  # type: ignore[valid-type]


# config/systems


class Translations(StrictModel):
    """The training text as translated by a system."""

    system: str
    decoding: str


class Mixed(StrictModel, extra="allow"):
    """References and translations; its other keys are the fields of `nat.distillation.mixed`."""

    distilled: Translations


class Dynamic(StrictModel, extra="allow"):
    """Several texts to choose from; its other keys are the fields of `nat.distillation.dynamic`."""

    candidates: Annotated[list[Translations | Literal["raw"]], Field(min_length=2), Unique]
    # the scale changes it before the method reads it
    regulariser: dict[str, Any] | None = None


class Distillation(StrictModel):
    """What a system learns instead of the references; exactly one of the keys."""

    distilled: OrAbsent[Translations] = None
    mixed: OrAbsent[Mixed] = None
    dynamic: OrAbsent[Dynamic] = None

    @model_validator(mode="after")
    def _one_of_them(self) -> "Distillation":
        if len(self.model_fields_set) != 1:
            known = ", ".join(type(self).model_fields)
            raise ValueError(f"Input should have one of the keys {known}")
        return self


@pydantic_dataclass(frozen=True, config=ConfigDict(extra="forbid"))
class Start:
    """What a training starts from.

    Attributes:
        system: the one whose weights are used.
        kept: name of the checkpoint that its recipe keeps (key `keep`); None for its model.
    """

    system: str
    kept: OrAbsent[str] = None

    @classmethod
    def of(cls, init_from: str | dict[str, str] | None) -> "Start | None":
        """What a value of the key `init_from` says."""
        if init_from is None:
            return None
        return cls(init_from) if isinstance(init_from, str) else cls(**init_from)

    def as_json(self) -> str | dict[str, str]:
        """As the key `init_from` has it."""
        return self.system if self.kept is None else {"system": self.system, "kept": self.kept}


InitFrom = Annotated[
    Start | None,
    _ReadAs(Start | str | None, Start.of, lambda start: start and start.as_json()),
]
Length = Literal["target", "offset", "constant"]


class Imported(StrictModel):
    """A trained model that is taken over from a fairseq checkpoint, see docs/checkpoints.md.

    Attributes:
        checkpoint: path of the checkpoint.
        sha256: its checksum; None if it is not known.
        dictionary: path of fairseq's dictionary, `dict.LANGUAGE.txt`, joint for both languages.
    """

    checkpoint: LocalPath
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")] | None = None
    dictionary: LocalPath


class System(StrictModel):
    """A file of `config/systems`: what is trained.

    Attributes:
        description: for readers.
        size: a size of the scale.
        input: proxy input, a file of nat/inputs.
        target: proxy target, a file of nat/targets.
        decoder: canvas and layers; by default a canvas of masks.
        parts: further parts of the network, files of nat/parts, with their options.
        length: what the length predictor predicts: target tokens, or target minus source, or
            constant for the mean difference.
        text: raw, distilled from a system, or a choice among several, see nat/distillation.
        init_from: a system of the same size whose weights are the initialisation, or a checkpoint
            that its recipe keeps.
        teacher: a system whose trained model the input or the target uses.
        recipe: a file of config/recipes.
        imported: the checkpoint that is taken over instead of a training.
        tasks: by task, what is different on its corpus.
    """

    model_config = ConfigDict(json_schema_extra=_like_and_variants)

    description: Text
    size: str
    input: Method
    target: Method
    decoder: DecoderOptions = DecoderOptions()
    parts: dict[str, dict[str, Any]] = {}
    length: Length | None
    text: Annotated[
        texts.Text, _ReadAs(Distillation | Literal["raw"], texts.Text.of, texts.Text.as_json)
    ]
    init_from: InitFrom
    teacher: str | None = None
    recipe: str
    imported: Imported | None = None
    tasks: dict[str, dict[str, Any]] = {}


class Teacher(StrictModel):
    """A system whose trained model an objective consults, and its seed."""

    system: str
    seed: int


class Training(StrictModel):
    """The effective configuration of a training: everything that determines a model.

    Most keys are those of `System`, with all defaults; names of systems are canonical.

    Attributes:
        corpus: its name.
        system: its name.
        architecture: of the size of the system.
        text: what is learned, with the seeds of the systems that translated it.
        teacher: that the objective consults.
        recipe: with the changes of task, scale and command line.
        validation_decoding: with all options; None if validation measures the loss alone.
        precision: as in `Settings`.
    """

    corpus: str
    system: str
    architecture: Architecture
    input: Method
    target: Method
    decoder: DecoderOptions
    parts: dict[str, dict[str, Any]]
    length: Length | None
    text: Annotated[texts.Text, _ReadAs(Any, texts.Text.of, texts.Text.as_json)]
    teacher: Teacher | None
    init_from: InitFrom
    recipe: Recipe
    validation_decoding: Method | None
    precision: Precision
    imported: Imported | None = None

    @classmethod
    def of(cls, value: Any) -> "Training":
        """Read what `as_json` gives.

        Raises:
            UserError: if it is not a training of this version of the configuration.
        """
        return validated(cls, value, "the training")

    def as_json(self) -> dict[str, Any]:
        """JSON-able, as it lies beside a model and enters its fingerprint."""
        return self.model_dump(mode="json", exclude_unset=True)


# config/decodings


class Decoding(Method):
    """A file of `config/decodings`: a method of nat/decoding with its options.

    Attributes:
        assistant: a second system that the method uses.
        tuning: values of options among which the validation set decides, by option.
        tasks: by task, what is different on its corpus.
    """

    model_config = ConfigDict(json_schema_extra=_like_and_variants)

    assistant: OrAbsent[str] = Field(default=None, alias="assistant")
    tuning: Annotated[
        dict[str, Annotated[list[Any], Field(min_length=1), Unique]],
        Field(min_length=1),
    ] = {}
    tasks: dict[str, dict[str, Any]] = {}


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
    """Jobs that decode one split.

    Attributes:
        train: for the training text, which teachers translate.
        valid: for the validation set.
        test: for each test set.
    """

    train: Count
    valid: Count
    test: Count


class Latency(StrictModel):
    """How latencies are measured.

    Attributes:
        sentences: how many of the test set, drawn at random, always the same ones; null: all.
        repeats: how often each system translates these sentences.
        most_repeats: largest number of repeats, if the times of some system lie far apart.
        threads: of a processor; null: as many as a training has.
    """

    sentences: Count | None = None
    repeats: int = Field(default=5, ge=5)
    most_repeats: Count = 15
    threads: Count | None = None


class Tuning(StrictModel):
    """How options of decodings are tuned.

    Attributes:
        sentences: number of sentences of the validation set, from its beginning; null: all.
    """

    sentences: Count | None = None


class Browser(StrictModel):
    """What the sentence browser of the report shows.

    Attributes:
        sentences: number of sentences of each test set, from its beginning.
        steps: decodings that are shown step by step, of each system that a report shows with them.
    """

    sentences: Count = 200
    steps: Annotated[list[str], Unique] = []


class Task(StrictModel):
    """A task of a scale with its own heading.

    Attributes:
        corpus: used for the task.
        heading: name of the task in tables.
    """

    corpus: str
    heading: Text


class Scale(StrictModel):
    """A file of `config/scales`: how large a run is.

    Attributes:
        description: for readers.
        seeds: of the trainings; the teacher of the first seed translates the text of all students.
        tasks: the corpus used for each task of a paper or of your own, or
            `{corpus: ..., heading: ...}`.
        sizes: of models, by name; fields of nat.transformer.architecture.
        recipes: changes of a recipe, or the recipe that replaces it at this scale.
        shards: number of jobs that share the translation of a split.
        decoding_tokens: most source tokens in one batch of a decoding, with padding; fewer need
            less memory.
        parts: changes of the network parts of all systems, by part.
        regulariser: changes of the regulariser of all systems that choose among texts; fields of
            that of nat.distillation.dynamic.
        latency: how latencies are measured.
        tuning: how options of decodings are tuned.
        browser: what the sentence browser of the report shows.
        tokens_per_device: most tokens in one batch of a device; larger updates are accumulated;
            null: no limit.
        devices: processes of a training on each node, one GPU each; without it, the GPUs that it
            sees.
        nodes: nodes of a training; more than one only inside a Slurm job.
        stages: what a job of each stage requests from a cluster.
    """

    model_config = ConfigDict(json_schema_extra=_like)

    description: Text
    seeds: Seeds
    tasks: dict[str, Task | str] = Field(min_length=1)
    sizes: dict[str, Architecture] = Field(min_length=1)
    recipes: dict[
        str,
        Annotated[
            Annotated[RecipeOfAnother, Tag("<as>")] | Annotated[RecipeChange, Tag("<keys>")],  # type: ignore[valid-type]
            Discriminator(
                lambda value: "<as>" if isinstance(value, dict) and "as" in value else "<keys>"
            ),
        ],
    ]
    shards: Shards
    decoding_tokens: Count
    parts: dict[str, dict[str, Any]] = {}
    regulariser: dict[str, Any] = {}
    latency: Latency = Latency()
    tuning: Tuning = Tuning()
    browser: Browser = Browser()
    tokens_per_device: Count | None = None
    devices: OrAbsent[Count] = None
    nodes: Count = 1
    stages: dict[Stage, Needs] = {}


# config/corpora


class CorpusFile(Corpus, json_schema_extra=_like):  # noqa: D101 (that of its base)
    __doc__ = Corpus.__doc__


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

    train: float = Field(gt=0)
    translate: float = Field(gt=0)
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
    beam: float = Field(gt=0)
    settings: dict[str, float]
    texts: dict[str, float]
    jobs: dict[str, float]
    megabytes: dict[str, float]


MODELS: dict[str, type[BaseModel]] = {
    "config": Settings,
    "cluster": Cluster,
    "plan": Assumptions,
    "scales": Scale,
    "corpora": CorpusFile,
    "recipes": Recipe,
    "systems": System,
    "decodings": Decoding,
}
"""The model of each file of `config/`, by its name or that of its folder.

That of papers is in `nat.configuration.papers`: it takes long to build, and few programs need it.
"""


def read_model(model: type[Kind], content: dict[str, Any], file: str) -> Kind:
    """The content of a file of `config/`, validated.

    Args:
        model: of the kind of file.
        content: of the file.
        file: name for messages.

    Raises:
        UserError: for the first problem; names file, key, what was found and what is expected.
    """
    with told_of(f"{file}: "):
        return validated(model, content)

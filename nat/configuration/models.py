"""The typed models of the files in `config/`, and of what follows from them for a training.

They are validated strictly: text is not a number, 1e5 is not a count, and an unknown key is an
error. Relations between files are checked in `nat.configuration.checks`.
"""

from collections.abc import Callable
from typing import Annotated, Any, Literal, TypeVar

from pydantic import (
    BaseModel,
    BeforeValidator,
    Field,
    GetPydanticSchema,
    PlainSerializer,
    WrapValidator,
    model_validator,
)

from nat.configuration.recipes import Recipe, RecipeFile
from nat.configuration.scales import Assumptions, Changes, Cluster, Inheriting, Scale
from nat.data import candidates as texts
from nat.data.corpus import Corpus
from nat.errors import told_of
from nat.options import Count, LocalPath, OneOf, OrAbsent, StrictModel, Text, Unique, validated
from nat.papers.description import Paper
from nat.registry import Method, describe
from nat.traits import Order
from nat.transformer.architecture import Architecture, DecoderOptions

Kind = TypeVar("Kind")


def _text_from(given: Any) -> GetPydanticSchema:
    """Reads a text from what the file has, which must be of the type `given`."""

    def read(value: Any, check: Callable[[Any], Any]) -> texts.Text:
        check(value)
        return texts.Text.of(value)

    read_and_written = Annotated[given, WrapValidator(read), PlainSerializer(texts.Text.as_json)]
    return GetPydanticSchema(lambda _, handler: handler.generate_schema(read_and_written))


Precision = Literal["auto", "fp32", "bf16"]


class Settings(StrictModel):
    """`config/config.yaml`: the one place where a run is chosen."""

    scale: str  # a file of config/scales
    mirror: Text | None  # folder with files HOST/PATH that are used instead of downloads
    precision: Precision  # inputs of the linear layers in training; auto: bf16 if it is fast
    threads: Count  # of one training on CPU
    logger: Literal["tensorboard", "wandb", "mlflow"] | None = None  # shows trainings as they go on
    # what translates a training text by beam search
    distillation_engine: Literal["pytorch", "ctranslate2"] = "pytorch"


class TeacherText(StrictModel):
    """The training text as translated by a system."""

    system: str
    decoding: str


class ExtendedText(TeacherText):
    """The same, and after it the monolingual sentences of the corpus, if they are to be learned."""

    monolingual: OrAbsent[Literal[True]] = None


class SeveralTexts(OneOf, extra="allow"):
    """Texts among which a method of nat/distillation chooses; its other keys are its options."""

    choices = ("distilled", "candidates")

    distilled: OrAbsent[TeacherText] = None  # besides the references
    candidates: OrAbsent[
        Annotated[list[TeacherText | Literal["raw"]], Field(min_length=2), Unique]
    ] = None
    # the scale changes it before the method reads it
    regulariser: dict[str, Any] | None = None


class Distillation(StrictModel, extra="allow"):
    """Texts that a system learns instead of the references: one, or several by their method."""

    __pydantic_extra__: dict[str, SeveralTexts]

    distilled: OrAbsent[ExtendedText] = None

    @model_validator(mode="after")
    def _one_of_them(self) -> "Distillation":
        if len(self.model_fields_set) != 1:
            raise ValueError("expected 'distilled', or one method of nat/distillation")
        return self


class Start(StrictModel):
    """The start of a training."""

    system: str  # the one whose weights are used
    kept: OrAbsent[str] = None  # a checkpoint that its recipe keeps (key `keep`); None: its model

    def as_json(self) -> str | dict[str, str]:
        """As the key `init_from` has it."""
        return self.system if self.kept is None else {"system": self.system, "kept": self.kept}


class ChangedRecipe(StrictModel, extra="allow"):
    """A recipe by name, with keys that are different."""

    like: str


def _or_name(key: str, kind: Any) -> BeforeValidator:
    """Allows a name in the place of a mapping that has nothing but a key with this name."""
    return BeforeValidator(
        lambda given: {key: given} if isinstance(given, str) else given,
        json_schema_input_type=kind | str,
    )


InitFrom = Annotated[
    Start | None,
    _or_name("system", Start | None),
    PlainSerializer(lambda start: start and start.as_json()),
]
Length = Literal["target", "offset", "token", "constant"]


class Imported(StrictModel):
    """A trained model that is taken over from a fairseq checkpoint, see docs/checkpoints.md."""

    checkpoint: LocalPath  # or the address, with https, where it is published
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")] | None = None
    dictionary: LocalPath

    @property
    def address(self) -> str | None:
        """HOST/PATH where the checkpoint is published; None for a file that a user keeps."""
        scheme, _, address = self.checkpoint.partition("://")
        return address if scheme == "https" else None


class SystemFile(Inheriting):
    """A file of `config/systems`: what is trained."""

    description: Text  # for readers
    size: str  # a size of the scale
    input: Method  # proxy input, a file of nat/inputs
    target: Method  # proxy target, a file of nat/targets
    decoder: DecoderOptions = DecoderOptions()  # canvas and layers; by default a canvas of masks
    # further parts of the network, files of nat/parts, with their options
    parts: dict[str, dict[str, Any]] = {}
    # what the length predictor predicts: target tokens, also by a token of the encoder, or target
    # minus source, or constant for the mean difference
    length: Length | None
    # raw, distilled from a system, or a choice among several, see nat/distillation
    text: Annotated[texts.Text, _text_from(Distillation | Literal["raw"])]
    init_from: InitFrom  # a system of the same size, or a checkpoint that its recipe keeps
    teacher: str | None = None  # a system whose trained model the input or the target uses
    # a file of config/recipes, or `{like: NAME, ...}` with changed keys
    recipe: Annotated[ChangedRecipe, _or_name("like", ChangedRecipe)]
    imported: Imported | None = None  # the checkpoint that is taken over instead of a training
    variants: Changes = {}
    tasks: Changes = {}  # what is different on the corpus of a task, by task


class Teacher(StrictModel):
    """A system whose trained model an objective consults."""

    system: str
    seed: int


class Training(StrictModel):
    """The effective configuration of a training: everything that determines a model.

    Most keys are those of `SystemFile`, with all defaults; names of systems are canonical.
    """

    corpus: str
    system: str
    architecture: Architecture
    input: Method
    target: Method
    decoder: DecoderOptions
    parts: dict[str, dict[str, Any]]
    length: Length | None
    text: Annotated[texts.Text, _text_from(Any)]  # with the seeds of those that translated it
    teacher: Teacher | None
    init_from: InitFrom
    recipe: Recipe  # with the changes of task, scale and command line
    validation_decoding: Method | None  # with all options; None: validation measures the loss
    precision: Precision
    imported: Imported | None = None

    @property
    def order(self) -> Order:
        """The order in which the system predicts tokens."""
        order: Order = describe("inputs", self.input).decoding_order
        return order

    @classmethod
    def of(cls, value: Any) -> "Training":
        """Read what `as_json` gives."""
        return validated(cls, value, "the training")

    def as_json(self) -> dict[str, Any]:
        """JSON-able, as it lies beside a model and enters its fingerprint."""
        return self.as_written()


class DecodingFile(Method):
    """A file of `config/decodings`: a method of nat/decoding with its options."""

    like: OrAbsent[str] = None
    variants: Changes = {}
    name: OrAbsent[str] = None
    # the same alias as the name, or a plain `null` would be a default
    assistant: OrAbsent[str] = Field(default=None, alias="assistant")
    tuning: Annotated[
        dict[str, Annotated[list[Any], Field(min_length=1), Unique]], Field(min_length=1)
    ] = {}
    tasks: Changes = {}

    @property
    def language_model(self) -> Any:
        """The language model of the method, see `nat.decoding.options`; None if it uses none."""
        if self.options.get("language_model") is None:
            return None
        return describe("decoding", Method(method=self.method, **self.options)).language_model


class CorpusFile(Inheriting, Corpus):
    """A file of `config/corpora`, see `Corpus`."""


MODELS: dict[str, type[BaseModel]] = {
    "config": Settings,
    "cluster": Cluster,
    "plan": Assumptions,
    "scales": Scale,
    "corpora": CorpusFile,
    "recipes": RecipeFile,
    "systems": SystemFile,
    "decodings": DecodingFile,
    "papers": Paper,
}
"""The model of each file of `config/`, by its name or that of its folder."""


def read_model(model: type[Kind], content: Any, file: str) -> Kind:
    """Validate the content of a file, or of a key in it; messages show where it is."""
    with told_of(f"{file}: "):
        return validated(model, content)

"""The configuration of a run at its scale: what the files of `config/` say, typed."""

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nat import registry
from nat.configuration import families, systems
from nat.configuration.compatibility import check_suits
from nat.configuration.families import Origin
from nat.configuration.files import FOLDERS, file_of
from nat.configuration.models import (
    DecodingFile,
    Kind,
    Recipe,
    Settings,
    SystemFile,
    Training,
    read_model,
)
from nat.configuration.overrides import RunChoice
from nat.configuration.scales import Scale, TaskCorpus
from nat.configuration.systems import SystemMethods, at_scale, place
from nat.data.corpus import Corpus
from nat.data.splits import split_names
from nat.errors import told_of
from nat.options import cached_method
from nat.registry import Method
from nat.traits import DecodingMethod

if TYPE_CHECKING:
    from nat.papers.description import Paper


@dataclass(frozen=True, eq=False)
class Configuration:
    """A validated configuration at one scale; `load` makes it.

    Attributes:
        root: folder that holds `config/`.
        choice: of the command line, with its scale.
        settings: `config/config.yaml`, with what the command line changes.
        files: content of all other files, by folder and name, as `families` expands them; each
            after the one that it is `like`.
        origins: where each entry of `files` is defined.
        overridden: what the command line changes, by folder and name.
        names: the name under which each system is trained, in what `on` returns; None elsewhere.
    """

    root: Path
    choice: RunChoice
    settings: Settings
    files: dict[str, dict[str, dict[str, Any]]] = field(repr=False)
    origins: dict[str, dict[str, Origin]] = field(repr=False)
    overridden: dict[str, dict[str, dict[str, Any]]] = field(default_factory=dict, repr=False)
    names: dict[str, str] | None = field(default=None, repr=False)

    @property
    def scale(self) -> str:
        """Name of the scale."""
        return self.choice.scale

    @property
    def run(self) -> str:
        """Name of the folder in `results/` for all results that depend on the scale."""
        name = self.choice.name
        return self.scale if name is None else f"{self.scale}@{name}"

    @property
    def corpora(self) -> list[str]:
        """Names of all corpora."""
        return list(self.files["corpora"])

    @property
    def systems(self) -> list[str]:
        """Names of all systems."""
        return list(self.files["systems"])

    @property
    def decodings(self) -> list[str]:
        """Names of all decodings; a family by its name with placeholders."""
        return list(self.files["decodings"])

    @property
    def papers(self) -> list[str]:
        """Names of all papers."""
        return list(self.files["papers"])

    def file_of(self, folder: str, name: str) -> str:
        """Path of the file that describes something, as messages show it; also the variant."""
        family = families.family_of(name, self.origins[folder])
        file = file_of(folder, name) if family is None else self.origins[folder][family].place
        return file if family in (name, None) else f"{file.partition(':')[0]}: '{name}'"

    @cached_property
    def scale_settings(self) -> Scale:
        """The file of the scale; latencies have the threads of trainings if it says nothing."""
        content = self.files["scales"][self.scale]
        scale = read_model(Scale, content, file_of("scales", self.scale))
        latency = scale.latency
        threads = latency.threads or self.settings.threads
        return scale.model_copy(update={"latency": latency.model_copy(update={"threads": threads})})

    @cached_property
    def tasks(self) -> dict[str, str]:
        """Tasks of this scale and the corpora that it uses for them."""
        tasks = self.scale_settings.tasks.items()
        return {name: task.corpus if isinstance(task, TaskCorpus) else task for name, task in tasks}

    def task(self, task: str) -> str:
        """The corpus that this scale uses for a task."""
        where = f"{file_of('scales', self.scale)}: key 'tasks'"
        return self.tasks[families.require(task, self.tasks, "task", where)]

    def content(self, folder: str, name: str) -> dict[str, Any]:
        """Content of a file at the scale, with the changes of the command line; read only."""
        known = self.files[folder]
        if name in known and not families.placeholders(name):
            return at_scale(self, folder, name)
        others = [each for each in known if each != name]
        family = families.require(name, others, FOLDERS[folder], f"config/{folder}")
        return families.merged(known[family], families.options_in(family, name))

    @cached_method
    def read(self, model: type[Kind], folder: str, name: str) -> Kind:
        """Content of a file, typed."""
        return read_model(model, self.content(folder, name), place(self, folder, name))

    def corpus(self, name: str) -> Corpus:
        """A corpus, with the keys that it has from another one."""
        return self.read(Corpus, "corpora", name)

    def system(self, name: str) -> SystemFile:
        """A system, with the changes of the scale."""
        return self.read(SystemFile, "systems", name)

    def recipe(self, name: str) -> Recipe:
        """A recipe, with the changes of the scale and of the command line."""
        return self.read(Recipe, "recipes", name)

    def paper(self, name: str) -> "Paper":
        """Tables, figures and claims of a paper."""
        from nat.papers.description import Paper  # see `MODELS`

        return self.read(Paper, "papers", name)

    def decoding_file(self, name: str) -> DecodingFile:
        """File of a decoding: options without defaults, assistant, tuning."""
        return self.read(DecodingFile, "decodings", name)

    @cached_method
    def decoding(self, name: str) -> Method:
        """A decoding with all options of its method, for `registry.build("decoding", ...)`."""
        its = self.decoding_file(name)
        with told_of(f"{self.file_of('decodings', name)}: "):
            return registry.completed("decoding", Method(method=its.method, **its.options))

    def decoding_traits(self, name: str) -> DecodingMethod:
        """Traits of the method of a decoding."""
        traits: DecodingMethod = registry.describe("decoding", self.decoding(name))
        return traits

    @cached_method
    def methods(self, system: str) -> SystemMethods:
        """A system with its methods."""
        return SystemMethods(self, system)

    def on(self, corpus: str) -> "Configuration":
        """The configuration with the changes of the tasks that a corpus is used for.

        Systems that are the same there have one name, which others refer to.
        """
        if self.names is not None:
            return self
        return systems.named(self, systems.tasks_of(self, corpus))

    def canonical(self, corpus: str, system: str) -> str:
        """The name under which a system is trained on a corpus, see `systems.named`."""
        names = self.on(corpus).names or {}
        return names[families.require(system, names, "system", "config/systems")]

    def training(self, corpus: str, system: str) -> Training:
        """Everything that determines the model of a system, with all defaults and canonical names.

        Nothing else affects it, so that its `fingerprint` says whether a trained model is up to
        date. Training data and initialisation are included by name only, since they are results
        themselves.
        """
        self.corpus(corpus)
        return systems.training(self.on(corpus), corpus, self.canonical(corpus, system))

    @cached_method
    def check_decoding(self, system: str, decoding: str) -> None:
        """Refuse a decoding that does not suit a system."""
        check_suits(self, system, decoding)


def all_tasks(configuration: Configuration) -> list[str]:
    """Tasks that any scale knows."""
    scales = configuration.files["scales"].values()
    return sorted({task for scale in scales for task in scale["tasks"]})


def has_decoding(configuration: Configuration, name: str) -> bool:
    """True if there is a decoding of this name, or a family whose names it is one of."""
    return families.family_of(name, configuration.decodings) is not None


def decoding_pattern(configuration: Configuration) -> str:
    """A regular expression of the names of all decodings."""
    return "|".join(families.expression(name) for name in configuration.decodings)


def all_splits(configuration: Configuration) -> list[str]:
    """Names of the splits of all corpora."""
    splits = (split_names(configuration.corpus(name)) for name in configuration.corpora)
    return sorted({split for names in splits for split in names})

"""The configuration of a run at its scale: what the files of `config/` say, typed.

An entry is changed by the tasks that its corpus is used for, then by the scale, then by the command
line.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Self

from nat import registry
from nat.configuration import families
from nat.configuration.families import Origin
from nat.configuration.files import file_of, kind_of
from nat.configuration.json_values import WITH_TASKS, renamed
from nat.configuration.merging import Content, changed_recipe, merged, without
from nat.configuration.models import DecodingFile, Kind, Settings, SystemFile, read_model
from nat.configuration.overrides import RunChoice
from nat.configuration.recipes import Recipe
from nat.configuration.scales import Scale, Stages, TaskCorpus
from nat.data.corpus import Corpus
from nat.data.splits import MONOLINGUAL
from nat.errors import UserError, told_of
from nat.options import cached_method
from nat.papers.description import Paper
from nat.registry import Method
from nat.traits import DecodingMethod


@dataclass(frozen=True, eq=False)
class Entries:
    """What the files of `config/` say at a scale."""

    root: Path  # folder that holds `config/`
    choice: RunChoice  # of the command line, with its scale
    settings: Settings  # `config/config.yaml`, with what the command line changes
    # content of all other files, by folder and name, as `families` expands them, and where each
    # entry is defined; it comes after the one that it is `like`
    files: dict[str, dict[str, Content]] = field(repr=False)
    origins: dict[str, dict[str, Origin]] = field(repr=False)
    # what the command line changes, by folder and name
    overridden: dict[str, dict[str, Content]] = field(default_factory=dict, repr=False)
    of_tasks: tuple[str, ...] = ()  # whose changes count
    # the name under which each system is trained, in what `Configuration.on` returns
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
    def systems(self) -> list[str]:
        """Names of all systems."""
        return list(self.files["systems"])

    # Entries

    def file_of(self, folder: str, name: str) -> str:
        """What describes an entry, for messages: file, variant, task, and an override."""
        family = families.family_of(name, self.origins[folder])
        if family is None:
            return file_of(folder, name)
        file = self.origins[folder][family].place
        if family != name:
            file = f"{file.partition(':')[0]}: '{name}'"
        tasks = self.files[folder][family].get("tasks", {})
        if folder in WITH_TASKS and (own := [task for task in self.of_tasks if task in tasks]):
            file += f": 'tasks.{own[0]}'"
        return f"{file} with 'override'" if self._override(folder, name) else file

    def _override(self, folder: str, name: str) -> Content:
        """What the command line changes in an entry, or in the family that it belongs to."""
        own = self.overridden.get(folder, {})
        return own.get(families.family_of(name, own) or "", {})

    def place(self, folder: str, name: str) -> str:
        """The files that say what `content` returns, for messages."""
        at_scale = f" with {file_of('scales', self.scale)}" * (folder in ("systems", "recipes"))
        return self.file_of(folder, name) + at_scale

    @cached_method
    def tasks_of(self, corpus: str) -> tuple[str, ...]:
        """Tasks that this scale uses a corpus for; empty if none of them changes anything."""
        entries = (entry for folder in WITH_TASKS for entry in self.files[folder].values())
        changing = {task for entry in entries for task in entry.get("tasks", {})}
        tasks = tuple(task for task, its in self.tasks.items() if its == corpus)
        return () if changing.isdisjoint(tasks) else tasks

    @cached_method
    def for_tasks(self, tasks: tuple[str, ...]) -> Self:
        """The same with the changes that these tasks make."""
        return replace(self, of_tasks=tasks) if tasks else self

    def written(self, folder: str, name: str) -> Content:
        """An entry as its file has it for the tasks of this view."""
        known = self.files[folder]
        if name in known and "{" not in name:
            content = known[name]
        else:
            others = [each for each in known if each != name]
            family = families.require(name, others, kind_of(folder), f"config/{folder}")
            content = merged(known[family], families.options_in(family, name))
        if folder not in WITH_TASKS:
            return content
        plain, changes = without(content, "tasks"), content.get("tasks", {})
        first, *rest = [merged(plain, changes.get(task, {})) for task in self.of_tasks or ("",)]
        if any(other != first for other in rest):
            where, place = file_of("scales", self.scale), self.file_of(folder, name)
            tasks = " and ".join(self.of_tasks)
            raise UserError(f"{where}: key 'tasks': {tasks} share a corpus, but differ in {place}")
        return first

    @cached_method
    def content(self, folder: str, name: str) -> Content:
        """An entry as tasks, scale and command line change it; read only."""
        content, scale = self.written(folder, name), self.files["scales"][self.scale]
        override = self._override(folder, name)
        if folder == "recipes":
            change = dict(scale["recipes"].get(name, {}))
            other = change.pop("as", None)
            recipe = content if other is None else self.content("recipes", other)
            recipe = changed_recipe(changed_recipe(recipe, change), override)
            return without(recipe, "description")
        content = merged(content, override)
        if folder == "systems":
            content = merged(merged(content, _of_scale(scale, name, content)), override)
        return content if self.names is None else renamed(content, self.names)

    @cached_method
    def read(self, model: type[Kind], folder: str, name: str) -> Kind:
        """Content of an entry, typed."""
        return read_model(model, self.content(folder, name), self.place(folder, name))

    @cached_property
    def scale_settings(self) -> Scale:
        """The file of the scale; latencies have the threads of trainings if it says nothing."""
        content = merged({"stages": Stages().model_dump()}, self.files["scales"][self.scale])
        scale = read_model(Scale, content, self.place("scales", self.scale))
        latency = scale.latency
        threads = latency.threads or self.settings.threads
        return scale.model_copy(update={"latency": latency.model_copy(update={"threads": threads})})

    @cached_property
    def tasks(self) -> dict[str, str]:
        """Tasks of this scale and the corpora that it uses for them."""
        tasks = self.scale_settings.tasks.items()
        corpora = {task: its.corpus if isinstance(its, TaskCorpus) else its for task, its in tasks}
        return {task: corpus for task, corpus in corpora.items() if corpus is not None}

    def task(self, task: str) -> str:
        """The corpus that this scale uses for a task."""
        where = f"{file_of('scales', self.scale)}: key 'tasks'"
        return self.tasks[families.require(task, self.tasks, "task", where)]

    @cached_method
    def corpus(self, name: str) -> Corpus:
        """A corpus; one that is derived from another has its splits."""
        corpus = self.read(Corpus, "corpora", name)
        if corpus.derived is None:
            return corpus
        its, where = corpus.derived, self.file_of("corpora", name)
        families.require(
            its.source, self.files["corpora"], "corpus", f"{where}: key 'derived.from'"
        )
        parent = self.read(Corpus, "corpora", its.source)
        families.require(its.side, parent.sides, "language", f"{where}: key 'derived.side'")
        if not (splits := parent.split_names):
            raise UserError(f"{where}: key 'derived.from': '{its.source}' has no 'splits'")
        return corpus.model_copy(update={"derived": its.model_copy(update={"splits": splits})})

    def system(self, name: str) -> SystemFile:
        """A system."""
        return self.read(SystemFile, "systems", name)

    def recipe(self, name: str) -> Recipe:
        """A recipe."""
        return self.read(Recipe, "recipes", name)

    @cached_method
    def recipe_of(self, system: str) -> Recipe:
        """The recipe of a system, with the keys that the system gives itself."""
        its = self.system(system).recipe
        if not its.model_extra:
            return self.recipe(its.like)
        content = changed_recipe(self.content("recipes", its.like), its.model_extra)
        return read_model(Recipe, content, f"{self.place('systems', system)}: key 'recipe'")

    def paper(self, name: str) -> Paper:
        """Tables, figures and claims of a paper."""
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


def _of_scale(scale: Content, name: str, system: Content) -> Content:
    """What a scale changes in a system."""
    own, text = system.get("parts", {}), system["text"]
    parts = {part: change for part, change in scale.get("parts", {}).items() if part in own}
    changes: Content = {"parts": parts} if parts else {}
    if target := scale.get("targets", {}).get(name):
        changes["target"] = target
    for kind, choice in text.items() if isinstance(text, Mapping) else ():
        if choice.get("regulariser"):
            changes["text"] = {kind: {"regulariser": scale.get("regulariser", {})}}
    return changes


def replacements(configuration: Entries, recipe: str) -> list[str]:
    """A recipe, and the one that replaces it at this scale (key `as`), and so on."""
    chain, changes = [recipe], configuration.files["scales"][configuration.scale]["recipes"]
    while other := changes.get(chain[-1], {}).get("as"):
        if other in chain:
            where, circle = file_of("scales", configuration.scale), " -> ".join([*chain, other])
            raise UserError(f"{where}: key 'recipes.{chain[-1]}.as': found the circle {circle}")
        chain.append(other)
    return chain


def all_tasks(configuration: Entries) -> list[str]:
    """Tasks that any scale knows."""
    tasks = [scale["tasks"] for scale in configuration.files["scales"].values()]
    return sorted({task for its in tasks for task in its if its[task] is not None})


def has_decoding(configuration: Entries, name: str) -> bool:
    """True if there is a decoding of this name, or a family whose names it is one of."""
    return families.family_of(name, configuration.files["decodings"]) is not None


def decoding_pattern(configuration: Entries) -> str:
    """A regular expression of the names of all decodings."""
    return "|".join(map(families.expression, configuration.files["decodings"]))


def all_splits(configuration: Entries) -> list[str]:
    """Names of the splits of all corpora, and that of monolingual text."""
    splits = (configuration.corpus(name).split_names for name in configuration.files["corpora"])
    return sorted({MONOLINGUAL, *(split for names in splits for split in names)})

"""The configuration of a run, read and validated before anything else is done."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nat import registry
from nat.cached_method import cached_method
from nat.configuration import families
from nat.configuration.compatibility import check_suits
from nat.configuration.file_names import FOLDERS, SETTINGS, file_of
from nat.configuration.json_values import copied, fingerprint
from nat.configuration.lengths import at_length, in_proportion
from nat.configuration.models import (
    Kind,
    Latency,
    Recipe,
    Scale,
    Settings,
    System,
    Task,
    Training,
    read_model,
)
from nat.configuration.overrides import Overrides
from nat.data.candidates import Text
from nat.data.corpus import Corpus
from nat.data.splits import local_files, local_references, split_names
from nat.errors import UserError, told_of
from nat.language_model.options import LanguageModelOptions
from nat.options import options_of, validated
from nat.registry import Description, Method
from nat.spelling import hint
from nat.traits import DecodingMethod, Order, ProxyInput, ProxyTarget, TextChoice
from nat.transformer.architecture import Architecture
from nat.transformer.fairseq_models import COMPILED, NEEDS_COMPILED, has_compiled_parts
from nat.transformer.latent_options import LatentOptions

if TYPE_CHECKING:
    from nat.papers.description import Paper


@dataclass(frozen=True, eq=False)
class Configuration:
    """A validated configuration at one scale; `load` makes it.

    Attributes:
        root: folder that holds `config/`.
        scale: name of the scale.
        settings: `config/config.yaml`.
        files: content of all other files, by folder and name, as `families` expands them.
        places: the file of each entry of `files`, for messages; by default, a file with its
            name.
        overrides: what the command line changes.
        bases: the system that each system is `like`.
        bases_first: the names of each folder, each after the one that it is `like`. Checks go in
            this order, so that a mistake is told of the file that it stands in.
        canonical_names: of all systems, in what `on` returns; None elsewhere.
        plain: the same without changes by tasks, in what `for_tasks` returns; None elsewhere.
        checked: whether systems and decodings fit their methods, and so what reports ask of them
            is to be checked, too; see `load`.
    """

    root: Path
    scale: str
    settings: Settings
    files: dict[str, dict[str, dict[str, Any]]] = field(repr=False)
    places: dict[str, dict[str, str]] = field(default_factory=dict, repr=False)
    overrides: Overrides = Overrides()
    bases: dict[str, str] = field(default_factory=dict, repr=False)
    bases_first: dict[str, list[str]] = field(default_factory=dict, repr=False)
    canonical_names: dict[str, str] | None = field(default=None, repr=False)
    plain: "Configuration | None" = field(default=None, repr=False)
    checked: bool = True

    def file_of(self, folder: str, name: str) -> str:
        """Path of the file that describes something, as messages show it; also the variant."""
        family = self._family(name) if folder == "decodings" else None
        place = self.places.get(folder, {}).get(family or name) or file_of(folder, family or name)
        return place if family is None else f"{place.partition(':')[0]}: '{name}'"

    @property
    def run(self) -> str:
        """Name of the folder in `results/` for all results that depend on the scale."""
        name = self.overrides.name
        return self.scale if name is None else f"{self.scale}@{name}"

    @property
    def choices(self) -> dict[str, str]:
        """Keys and values for `snakemake --config` that choose this configuration."""
        found = {"scale": self.scale}
        if self.overrides.name is not None:
            found["name"] = self.overrides.name
        if self.overrides.given:
            found["override"] = " ".join(self.overrides.given)
        return found

    @property
    def arguments(self) -> list[str]:
        """Command line arguments with which a program loads this configuration."""
        return [word for key, value in self.choices.items() for word in (f"--{key}", value)]

    @cached_property
    def scale_settings(self) -> Scale:
        """The file of the scale."""
        return read_model(Scale, self._raw_scale, file_of("scales", self.scale))

    @property
    def seeds(self) -> list[int]:
        """Seeds that every system is trained with."""
        return list(self.scale_settings.seeds)

    def seeds_of(self, paper: str) -> list[int]:
        """Seeds of the trainings that a paper shows: its own, or those of the scale."""
        return list(self.paper(paper).seeds or self.seeds)

    @property
    def teacher_seed(self) -> int:
        """Seed of the teacher that distils: every student, of any seed, learns from this one."""
        return self.seeds[0]

    @property
    def mirror(self) -> Path | None:
        """Folder with files HOST/PATH that are used instead of downloads; it need not exist."""
        mirror = self.settings.mirror
        return None if mirror is None else self.root / Path(mirror).expanduser()

    @property
    def threads(self) -> int:
        """Threads of one training on CPU."""
        return self.settings.threads

    @property
    def latency(self) -> Latency:
        """How latencies are measured."""
        own = self.scale_settings.latency
        return own.model_copy(update={"threads": own.threads or self.threads})

    @property
    def shards(self) -> dict[str, int]:
        """Number of jobs that decode each split."""
        shards: dict[str, int] = dict(self.scale_settings.shards)
        for corpus in self.corpora:
            for split in split_names(self.corpus(corpus)):
                shards.setdefault(split, shards["test"])
        return shards

    @cached_property
    def tasks(self) -> dict[str, str]:
        """Tasks of this scale and the corpora that it uses for them."""
        tasks = self.scale_settings.tasks.items()
        return {name: task.corpus if isinstance(task, Task) else task for name, task in tasks}

    def heading(self, task: str) -> str | None:
        """What the scale says that tables call a task; None where it says nothing."""
        found = self.scale_settings.tasks.get(task)
        return found.heading if isinstance(found, Task) else None

    @property
    def all_tasks(self) -> list[str]:
        """Tasks that any scale knows."""
        return sorted({task for scale in self.files["scales"].values() for task in scale["tasks"]})

    @cached_method
    def tasks_of(self, corpus: str) -> tuple[str, ...]:
        """Tasks that this scale uses a corpus for; empty if none of them changes anything."""
        changing = {
            task
            for folder in families.WITH_TASKS
            for content in self.files[folder].values()
            for task in content.get("tasks", {})
        }
        tasks = tuple(task for task, its in self.tasks.items() if its == corpus)
        return tasks if changing.intersection(tasks) else ()

    @cached_method
    def for_tasks(self, tasks: tuple[str, ...]) -> "Configuration":
        """The configuration with the changes that these tasks make.

        Raises:
            UserError: if the tasks make different changes.
        """
        files, places = dict(self.files), dict(self.places)
        for folder in families.WITH_TASKS:
            files[folder] = dict(self.files[folder])
            places[folder] = dict(self.places.get(folder, {}))
            for name, content in self.files[folder].items():
                if "tasks" not in content:
                    continue
                first, *others = [families.on_task(content, task) for task in tasks or ("",)]
                if any(other != first for other in others):
                    raise UserError(
                        f"{file_of('scales', self.scale)}: key 'tasks': '{self.tasks[tasks[0]]}' "
                        f"is used for {' and '.join(tasks)}, but {self.file_of(folder, name)} "
                        "treats them differently (key 'tasks'); use another corpus for one of them"
                    )
                files[folder][name] = first
                changed = [task for task in tasks if task in content["tasks"]]
                if changed:
                    place = self.places.get(folder, {}).get(name) or file_of(folder, name)
                    places[folder][name] = f"{place}: 'tasks.{changed[0]}'"
        return replace(
            self, files=files, places=places, plain=self.for_tasks(()) if tasks else None
        )

    def on(self, corpus: str) -> "Configuration":
        """The configuration that applies to a corpus.

        The changes of the tasks that the corpus is used for are applied. Systems that are the same
        there have one name, which others refer to.
        """
        return self if self.canonical_names is not None else self._on(self.tasks_of(corpus))

    @cached_method
    def _on(self, tasks: tuple[str, ...]) -> "Configuration":
        view = self.for_tasks(tasks)
        groups: dict[str, list[str]] = {}
        for name in self.systems:
            groups.setdefault(view.identity(name), []).append(name)
        names = {name: self._first_of(group) for group in groups.values() for name in group}
        files = dict(view.files)
        for folder in ("systems", "decodings"):
            files[folder] = {
                name: families.renamed(content, names) for name, content in files[folder].items()
            }
        return replace(view, files=files, canonical_names=names)

    def _first_of(self, same: list[str]) -> str:
        """The name under which systems that are the same are trained.

        A copy with `like` gives way to the system that it is like, so that adding it does not make
        the results of that system anew; among others the shortest name counts.
        """

        def is_copy(name: str) -> bool:
            base = self.bases.get(name)
            return base is not None and (base in same or is_copy(base))

        originals = [name for name in same if not is_copy(name)]
        return min(originals, key=lambda name: (len(name), name))

    @cached_property
    def changed(self) -> set[str]:
        """Systems that are not as without tasks, by what files say of all that they refer to."""
        plain = self.plain
        if plain is None or self.files["decodings"] != plain.files["decodings"]:
            return set(self.systems)

        @cache
        def is_changed(folder: str, name: str) -> bool:
            if self.files[folder][name] != plain.files[folder][name]:
                return True
            if folder == "recipes":
                return False
            recipes = plain.replacements(plain.system(name).recipe)
            return any(is_changed("recipes", each) for each in recipes) or any(
                is_changed("systems", each) for each in plain.dependencies(name)
            )

        return {name for name in self.systems if is_changed("systems", name)}

    @cached_method
    def identity(self, system: str, defaults: bool = False) -> str:
        """Fingerprint of a system and of all that it refers to, without names.

        Args:
            system: its name.
            defaults: whether options that methods have by default count as if they were written.
        """
        if self.plain is not None and system not in self.changed:
            return self.plain.identity(system, defaults)
        if self.system(system).size not in self.scale_settings.sizes:
            # it is not trained at this scale, so it is not equal to another
            return fingerprint({"system": system})
        others = {name: self.identity(name, defaults) for name in self.dependencies(system)}
        found = self._with_defaults(system) if defaults else self.written(system)
        effective = families.renamed(found, others)
        effective["recipe"]["validation"].pop("decoding")  # its options are included
        decodings = {}
        for text in Text.of(effective["text"]).candidates:
            if (name := text.decoding) is not None:
                own = self.decoding(name).as_json() if defaults else self._options(name)
                besides = {"assistant": self.assistant(name), "tuning": self.tried(name)}
                decodings[name] = fingerprint(families.renamed({**own, **besides}, others))
        effective["text"] = families.renamed(effective["text"], decodings, ("decoding",))
        return fingerprint(effective)

    def canonical(self, corpus: str, system: str) -> str:
        """The name under which a system is trained on a corpus.

        Systems whose effective configuration is equal but for their names, and which start and
        learn from systems of which the same holds, are one: they are trained once, under the name
        that `_first_of` chooses. What the files say is compared, so that no method is imported;
        `check` refuses systems that differ only in that one of them writes down what the other has
        by default.
        """
        names = self.on(corpus).canonical_names
        assert names is not None
        if system not in names:
            self._find("systems", system)
        return names[system]

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

    def has_decoding(self, name: str) -> bool:
        """Whether there is a decoding of this name, or a family whose names it is one of."""
        return name in self.files["decodings"] or self._family(name) is not None

    def example_of(self, decoding: str) -> str:
        """A decoding itself; of a family, the one with which it is checked."""
        return families.example(decoding, self.files["decodings"].get(decoding, {}))

    @property
    def decoding_pattern(self) -> str:
        """A regular expression of the names of all decodings."""
        return "|".join(families.expression(name) for name in self.decodings)

    @property
    def papers(self) -> list[str]:
        """Names of all papers."""
        return list(self.files["papers"])

    def corpus(self, name: str) -> Corpus:
        """A corpus, with the keys that it has from another one.

        Raises:
            UserError: if there is no corpus of this name.
        """
        return self._read(Corpus, "corpora", name)

    def system(self, name: str) -> System:
        """A system as its file gives it."""
        return self._read(System, "systems", name)

    def decoding(self, name: str) -> Method:
        """A decoding with all options of its method, for `registry.build("decoding", ...)`."""
        return self._decoding(name).method

    def decoding_traits(self, name: str) -> DecodingMethod:
        """What the method of a decoding says about itself."""
        return self._decoding(name).traits

    def assistant(self, decoding: str) -> str | None:
        """The second system that a decoding uses (key `assistant`)."""
        assistant = self._find("decodings", decoding).get("assistant")
        return None if assistant is None else str(assistant)

    def language_model(self, decoding: str) -> LanguageModelOptions | None:
        """The language model of a decoding, None if it uses none."""
        found = self._find("decodings", decoding).get("language_model")
        return None if found is None else validated(LanguageModelOptions, found)

    def is_tuned(self, decoding: str) -> bool:
        """Whether options of a decoding are tuned on the validation set (key `tuning`)."""
        return bool(self.tried(decoding))

    def tried(self, decoding: str) -> dict[str, list[Any]]:
        """The values of options among which the validation set decides; empty without `tuning`."""
        found: dict[str, list[Any]] = copied(self._find("decodings", decoding).get("tuning", {}))
        return found

    def is_traced(self, decoding: str) -> bool:
        """Whether a decoding, by one model alone, can tell what each of its passes did."""
        alone = self.assistant(decoding) is None and self.language_model(decoding) is None
        return alone and self.decoding_traits(decoding).traced

    def paper(self, name: str) -> "Paper":
        """What a paper shows and claims."""
        from nat.papers.description import Paper  # see `MODELS`

        return self._read(Paper, "papers", name)

    def task(self, task: str) -> str:
        """The corpus that this scale uses for a task.

        Raises:
            UserError: if the scale has none for it.
        """
        if task not in self.tasks:
            raise UserError(
                f"{file_of('scales', self.scale)}: key 'tasks': no corpus for the task '{task}'; "
                f"{hint(task, self.tasks)}"
            )
        return self.tasks[task]

    def recipe(self, name: str) -> Recipe:
        """A recipe with the changes of the scale and of the command line."""
        return read_model(Recipe, self._recipe(name), self.file_of("recipes", name))

    def architecture(self, size: str) -> Architecture:
        """The architecture of a size at this scale."""
        sizes = self.scale_settings.sizes
        if size not in sizes:
            where = file_of("scales", self.scale)
            raise UserError(f"{where}: key 'sizes': unknown size '{size}'; {hint(size, sizes)}")
        return sizes[size]

    def training(self, corpus: str, system: str) -> Training:
        """Everything that determines the model of a system, including all defaults.

        This system and those that it refers to have their canonical names. Changes elsewhere (in
        another system, a description, or a seed that no teacher uses) do not affect it, so that
        its `fingerprint` says whether a trained model is up to date. Training data and
        initialisation are included by name only, since they are results themselves.
        """
        self.corpus(corpus)
        return self.on(corpus)._training(corpus, self.canonical(corpus, system))

    @cached_method
    def _training(self, corpus: str, system: str) -> Training:
        found = self._with_defaults(system)
        found["recipe"].pop("reference_updates", None)
        target = at_length(found["target"], self._ratio(self.system(system).recipe))
        return Training.of({"corpus": corpus, "system": system, **found, "target": target})

    def _with_defaults(self, system: str) -> dict[str, Any]:
        """What `training` has, JSON-able, but with decays as they are stated."""
        found, decoding = self.written(system), self._validation_decoding(system)
        text, chosen = self.text(system).with_seed(self.teacher_seed), self.text_choice(system)
        input_, target = self._methods(system)
        return {
            **found,
            "input": input_.method.as_json(),
            "target": target.method.as_json(),
            "text": replace(text, choice=None if chosen is None else chosen.method).as_json(),
            "validation_decoding": None if decoding is None else self.decoding(decoding).as_json(),
        }

    def written(self, system: str) -> dict[str, Any]:
        """What `training` has, JSON-able, but with the options of methods as files give them."""
        found = self.system(system)
        if found.size not in self.scale_settings.sizes:
            raise UserError(
                f"{self.file_of('systems', system)}: key 'size': the scale '{self.scale}' has no "
                f"size '{found.size}'; describe it in {file_of('scales', self.scale)}, key "
                "'sizes'"
            )
        decoding, latent = self._validation_decoding(system), self.latent(system)
        teacher = found.teacher and {"system": found.teacher, "seed": self.teacher_seed}
        return {
            "architecture": options_of(self.architecture(found.size)),
            "input": found.input.as_json(),
            "target": found.target.as_json(),
            "decoder": options_of(found.decoder),
            "latent": None if latent is None else options_of(latent),
            "length": found.length,
            "text": self.text(system).with_seed(self.teacher_seed).as_json(),
            "teacher": teacher,
            "init_from": None if found.init_from is None else found.init_from.as_json(),
            "recipe": self._recipe(found.recipe),
            "validation_decoding": None if decoding is None else self._options(decoding),
            "precision": self.settings.precision,
            **({} if found.imported is None else {"imported": found.imported.model_dump()}),
        }

    def _recipe(self, name: str) -> dict[str, Any]:
        """`recipe`, JSON-able and not validated."""
        written = copied(self._find("recipes", name))
        change = self._raw_scale["recipes"].get(name, {})
        override = self.overrides.recipes.get(name, {})
        if "as" in change:
            other = self._recipe(change["as"])
            recipe = in_proportion(other, families.merged(other, override), override)
        else:
            change = families.merged(change, override)
            recipe = in_proportion(written, families.merged(written, change), change)
        return {key: recipe[key] for key in recipe if key not in ("description", "tasks")}

    def _ratio(self, recipe: str) -> float:
        """Length for which a recipe's constants are stated, in lengths that it has at this scale.

        1 where either length is in epochs, whose updates are not known before the training.
        """
        found = self._recipe(recipe)
        stated = found.get(
            "reference_updates", self._find("recipes", self.replacements(recipe)[-1]).get("updates")
        )
        return stated / found["updates"] if stated and "updates" in found else 1.0

    def replacements(self, recipe: str) -> list[str]:
        """A recipe, and the one that replaces it at this scale (key `as`), and so on.

        Raises:
            UserError: for a circle.
        """
        found = [recipe]
        while other := self._raw_scale["recipes"].get(found[-1], {}).get("as"):
            if other in found:
                raise UserError(
                    f"{file_of('scales', self.scale)}: key 'recipes.{found[-1]}.as': recipes "
                    f"replace each other in a circle: {' -> '.join([*found, other])}"
                )
            found.append(other)
        return found

    def _validation_decoding(self, system: str) -> str | None:
        found: str | None = self._recipe(self.system(system).recipe)["validation"]["decoding"]
        return found

    def dependencies(self, system: str) -> list[str]:
        """Systems that must be trained first: teachers and the initial model."""
        return list(dict.fromkeys(name for name, _ in self.needed_systems(system)))

    def needed_systems(self, system: str) -> list[tuple[str, str]]:
        """Systems that a system needs, each with the key that names it (`text`, also for what
        the decodings of its texts use)."""
        found = self.system(system)
        needed: list[tuple[str | None, str]] = []
        for text in found.text.candidates:
            needed.append((text.system, "text"))
            if text.decoding is not None:
                needed += [(used, "text") for used in self.helpers(text.decoding)]
        needed.append((found.init_from.system if found.init_from else None, "init_from"))
        needed.append((found.teacher, "teacher"))
        return [(name, key) for name, key in needed if name is not None]

    def helpers(self, decoding: str) -> list[str]:
        """Systems that a decoding uses besides the one that it decodes."""
        assistant, estimated = self.assistant(decoding), self.language_model(decoding)
        found = [] if assistant is None else [assistant]
        if estimated is not None:
            found += [estimated.system, *self.helpers(estimated.decoding)]
        return found

    def cannot_train(self, system: str) -> str:
        """Why there can be no model of a system on this machine; empty if there can be one."""
        found = self.system(system)
        if found.target.options.get("model") in COMPILED and not has_compiled_parts():
            return NEEDS_COMPILED
        if found.size not in self.scale_settings.sizes:
            if found.imported is not None:
                scales = self.files["scales"].items()
                having = [name for name, scale in scales if found.size in scale["sizes"]]
                return f"not run: published models are of scale {' or '.join(having)}"
            return f"not run: scale {self.scale} has no size {found.size}"
        files = (
            () if found.imported is None else (found.imported.checkpoint, found.imported.dictionary)
        )
        return self._not_there(files)

    def cannot_translate(self, decoding: str) -> str:
        """Why no job of the scale can translate with a decoding; empty if one can."""
        stage = self.scale_settings.stages.get("translate")
        if self.is_only_on_gpus(decoding) and not (stage and stage.gpu):
            return f"not run: float16 needs a GPU, and jobs of scale {self.scale} ask for none"
        return ""

    def is_only_on_gpus(self, decoding: str) -> bool:
        """Whether a decoding cannot run on a processor."""
        return bool(self._find("decodings", decoding).get("precision") == "float16")

    def cannot_prepare(self, corpus: str) -> str:
        """Why nothing can be run on a corpus: its text is licensed, and not there; else empty."""
        description = self.corpus(corpus)
        if not description.licensed_by:
            return ""
        files = local_files(description, Path()) | local_references(description, Path())
        missing = self._not_there(files.values())
        return missing and f"{missing} (licensed by {description.licensed_by})"

    def _not_there(self, files: Iterable[str | Path]) -> str:
        missing = next((file for file in files if not (self.root / file).exists()), None)
        return "" if missing is None else f"not run: {missing} is not there"

    def is_encoder_only(self, system: str) -> bool:
        """Whether the size of a system has no decoder layers; not if the scale lacks the size."""
        size = self.scale_settings.sizes.get(self.system(system).size)
        return size is not None and not size.decoder_layers

    def is_autoregressive(self, system: str) -> bool:
        """Whether a system is autoregressive."""
        return self.decoding_order(system) == "autoregressive"

    def decoding_order(self, system: str) -> Order:
        """In which order a system predicts tokens."""
        return self.input_traits(system).decoding_order

    def latent(self, system: str) -> LatentOptions | None:
        """The latents of a system, with the changes of the scale; None if it has none."""
        found = self._find("systems", system).get("latent")
        if found is None:
            return None
        with told_of(f"{file_of('scales', self.scale)}: key 'latent': "):
            return validated(LatentOptions, {**found, **self.scale_settings.latent})

    def text(self, system: str) -> Text:
        """What a system learns, with the changes of the scale."""
        return self.system(system).text.with_regulariser(self.scale_settings.regulariser)

    def trained_on_partial_targets(self, system: str) -> bool:
        """Whether a system, or the one it starts from, was trained on partly revealed targets."""
        if self.input_traits(system).trains_on_partial_targets:
            return True
        start = self.system(system).init_from
        return start is not None and self.trained_on_partial_targets(start.system)

    def trained_to_correct(self, system: str) -> bool:
        """Whether a system, or the one it starts from, has learned to replace wrong tokens."""
        if self.target_traits(system).trains_correction:
            return True
        start = self.system(system).init_from
        return start is not None and self.trained_to_correct(start.system)

    @cached_method
    def check_decoding(self, system: str, decoding: str) -> None:
        """Refuse a decoding that does not suit a system.

        Raises:
            UserError: says why; also for an unknown system or decoding.
        """
        check_suits(self, system, decoding)

    def decoding_to_distil(self, decoding: str) -> str:
        """What translates a training text where students name a decoding.

        With `distillation_engine: ctranslate2` in config/config.yaml, a beam search gives way to
        that of CTranslate2 in float32 with the same options; every other decoding stays.

        Raises:
            UserError: if there is no decoding of CTranslate2 with these options.
        """
        engine = self.settings.distillation_engine
        # "pytorch" is the default; do not import torch for it
        if engine == "pytorch" or (found := self.decoding(decoding)).method != "beam_search":
            return decoding
        name = f"{engine}-float32-{decoding}"
        wanted = {**found.options, "precision": "float32"}
        if (
            not self.has_decoding(name)
            or self.decoding(name).options != wanted
            or self.tried(name) != self.tried(decoding)
        ):
            raise UserError(
                f"{SETTINGS}: key 'distillation_engine': with {engine}, '{name}' translates in the "
                f"place of '{decoding}'; add it to config/decodings with the same options"
            )
        return name

    def input_traits(self, system: str) -> ProxyInput:
        """What a system's proxy input says about itself."""
        return self._methods(system)[0].traits

    def target_traits(self, system: str) -> ProxyTarget:
        """What a system's proxy target says about itself."""
        return self._methods(system)[1].traits

    @property
    def _raw_scale(self) -> dict[str, Any]:
        return self.files["scales"][self.scale]

    def _methods(self, system: str) -> tuple[Description[ProxyInput], Description[ProxyTarget]]:
        """Proxy input and proxy target of a system."""
        found, file = self.system(system), self.file_of("systems", system)
        with told_of(f"{file}: 'input': "):
            input_ = registry.describe("inputs", found.input)
        with told_of(f"{file}: 'target': "):
            return input_, registry.describe("targets", found.target)

    def text_choice(self, system: str) -> Description[TextChoice] | None:
        """How a system chooses among its texts, None where it has only one."""
        chosen = self.text(system).choice
        if chosen is None:
            return None
        origin = f"{self.file_of('systems', system)}: 'text': "
        if self.text(system).regulariser and self.scale_settings.regulariser:
            origin += f"with the key 'regulariser' of {file_of('scales', self.scale)}: "
        with told_of(origin):
            return registry.describe("distillation", chosen)

    @cached_method
    def _decoding(self, name: str) -> Description[DecodingMethod]:
        method = Method(**self._options(name))
        with told_of(f"{self.file_of('decodings', name)}: "):
            return registry.describe("decoding", method)

    def _options(self, decoding: str) -> dict[str, Any]:
        """Options of the method of a decoding as its file gives them, without defaults."""
        found = self._find("decodings", decoding)
        others = ("assistant", "tasks", "tuning")
        return {key: copied(found[key]) for key in found if key not in others}

    @cached_method
    def _family(self, name: str) -> str | None:
        """The family that the name of a decoding belongs to, None if there is none."""
        return (
            None if name in (known := self.files["decodings"]) else families.family_of(name, known)
        )

    @cached_method
    def _read(self, model: type[Kind], folder: str, name: str) -> Kind:
        """What a file describes, typed."""
        written = copied(self._find(folder, name))
        return read_model(model, written, self.file_of(folder, name))

    def _find(self, folder: str, name: str) -> dict[str, Any]:
        """What a file says; it is not to be changed."""
        found = self.files[folder].get(name)
        family = self._family(name) if folder == "decodings" else None
        if family is not None:
            options = families.options_in(family, name)
            found = families.merged(self.files[folder][family], options)
        if found is None or families.is_family(name):
            missing = f"nothing in config/{folder} has this name"
            if folder not in families.FOLDERS:
                missing = f"there is no {file_of(folder, name)}"
            raise UserError(
                f"unknown {FOLDERS[folder]} '{name}': {missing}; "
                f"{families.near(name, list(self.files[folder]))}"
            )
        return found

"""The configuration of a run: which systems are the same, and what determines a training."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from typing import Any

from nat import registry
from nat.configuration import families
from nat.configuration.at_scale import AtScale
from nat.configuration.compatibility import check_suits
from nat.configuration.file_names import SETTINGS, file_of
from nat.configuration.json_values import fingerprint
from nat.configuration.lengths import at_length
from nat.configuration.models import Training
from nat.data.candidates import Text
from nat.errors import UserError, told_of
from nat.options import cached_method, options_of
from nat.registry import Description, Method
from nat.traits import DecodingMethod, Order, ProxyInput, ProxyTarget, TextChoice


@dataclass(frozen=True, eq=False)
class Configuration(AtScale):
    """A validated configuration at one scale; `load` makes it.

    Attributes:
        canonical_names: of all systems, in what `on` returns; None elsewhere.
        plain: the same without changes by tasks, in what `for_tasks` returns; None elsewhere.
    """

    canonical_names: dict[str, str] | None = field(default=None, repr=False)
    plain: "Configuration | None" = field(default=None, repr=False)

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
        names = {name: _first_of(group, self.bases) for group in groups.values() for name in group}
        files = dict(view.files)
        for folder in ("systems", "decodings"):
            files[folder] = {
                name: families.renamed(content, names) for name, content in files[folder].items()
            }
        return replace(view, files=files, canonical_names=names)

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
    def identity(self, system: str) -> str:
        """Fingerprint of a system and of all that it refers to, without names."""
        if self.plain is not None and system not in self.changed:
            return self.plain.identity(system)
        if self.system(system).size not in self.scale_settings.sizes:
            # it is not trained at this scale, so it is not equal to another
            return fingerprint({"system": system})
        others = {name: self.identity(name) for name in self.dependencies(system)}
        effective = families.renamed(self._effective(system), others)
        effective["recipe"]["validation"].pop("decoding")  # its options are included
        decodings = {}
        for text in Text.of(effective["text"]).candidates:
            if (name := text.decoding) is not None:
                besides = {"assistant": self.assistant(name), "tuning": self.tried(name)}
                own = {**self.decoding(name).as_json(), **besides}
                decodings[name] = fingerprint(families.renamed(own, others))
        effective["text"] = families.renamed(effective["text"], decodings, ("decoding",))
        return fingerprint(effective)

    def canonical(self, corpus: str, system: str) -> str:
        """The name under which a system is trained on a corpus.

        Systems whose effective configuration is equal but for their names, and which start and
        learn from systems of which the same holds, are one: they are trained once, under the name
        that `_first_of` chooses.
        """
        names = self.on(corpus).canonical_names
        assert names is not None
        if system not in names:
            self._find("systems", system)
        return names[system]

    def decoding(self, name: str) -> Method:
        """A decoding with all options of its method, for `registry.build("decoding", ...)`."""
        return self._decoding(name).method

    def decoding_traits(self, name: str) -> DecodingMethod:
        """What the method of a decoding says about itself."""
        return self._decoding(name).traits

    def is_traced(self, decoding: str) -> bool:
        """Whether a decoding, by one model alone, can tell what each of its passes did."""
        alone = self.assistant(decoding) is None and self.language_model(decoding) is None
        return alone and self.decoding_traits(decoding).traced

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
        found = self._effective(system)
        found["recipe"].pop("reference_updates", None)
        target = at_length(found["target"], self._ratio(self.system(system).recipe))
        return Training.of({"corpus": corpus, "system": system, **found, "target": target})

    def _effective(self, system: str) -> dict[str, Any]:
        """What `training` has, JSON-able, but with decays as they are stated."""
        found = self.system(system)
        if found.size not in self.scale_settings.sizes:
            raise UserError(
                f"{self.file_of('systems', system)}: key 'size': the scale '{self.scale}' has no "
                f"size '{found.size}'; describe it in {file_of('scales', self.scale)}, key "
                "'sizes'"
            )
        decoding = self._validation_decoding(system)
        text, chosen = self.text(system).with_seed(self.teacher_seed), self.text_choice(system)
        input_, target = self._methods(system)
        return {
            "architecture": options_of(self.architecture(found.size)),
            "input": input_.method.as_json(),
            "target": target.method.as_json(),
            "decoder": options_of(found.decoder),
            "parts": {name: options_of(part) for name, part in self.parts(system).items()},
            "length": found.length,
            "text": replace(text, choice=None if chosen is None else chosen.method).as_json(),
            "teacher": found.teacher and {"system": found.teacher, "seed": self.teacher_seed},
            "init_from": None if found.init_from is None else found.init_from.as_json(),
            "recipe": self._recipe(found.recipe),
            "validation_decoding": None if decoding is None else self.decoding(decoding).as_json(),
            "precision": self.settings.precision,
            **({} if found.imported is None else {"imported": found.imported.model_dump()}),
        }

    def _ratio(self, recipe: str) -> float:
        """Length for which a recipe's constants are stated, in lengths that it has at this scale.

        1 where either length is in epochs, whose updates are not known before the training.
        """
        found = self._recipe(recipe)
        stated = found.get(
            "reference_updates", self._find("recipes", self.replacements(recipe)[-1]).get("updates")
        )
        return stated / found["updates"] if stated and "updates" in found else 1.0

    def _validation_decoding(self, system: str) -> str | None:
        found: str | None = self._recipe(self.system(system).recipe)["validation"]["decoding"]
        return found

    def is_autoregressive(self, system: str) -> bool:
        """Whether a system is autoregressive."""
        return self.decoding_order(system) == "autoregressive"

    def decoding_order(self, system: str) -> Order:
        """In which order a system predicts tokens."""
        return self.input_traits(system).decoding_order

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


def _first_of(same: list[str], bases: Mapping[str, str]) -> str:
    """The name under which systems that are the same are trained.

    A copy with `like` gives way to the system that it is like, so that adding it does not make
    the results of that system anew; among others the shortest name counts.
    """

    def is_copy(name: str) -> bool:
        base = bases.get(name)
        return base is not None and (base in same or is_copy(base))

    originals = [name for name in same if not is_copy(name)]
    return min(originals, key=lambda name: (len(name), name))

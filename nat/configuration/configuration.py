"""The configuration of a run at its scale: its systems, and which of them are the same."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from graphlib import TopologicalSorter
from typing import Any

from nat import registry
from nat.configuration.entries import Entries, replacements
from nat.configuration.families import Origin, require
from nat.configuration.files import file_of
from nat.configuration.json_values import fingerprint, references, renamed
from nat.configuration.models import Training
from nat.errors import UserError, told_of
from nat.options import cached_method, options_of
from nat.registry import Method
from nat.traits import NetworkPart, Order, ProxyInput, ProxyTarget, TextChoice


class SystemMethods:
    """A system with its methods, their options and traits."""

    def __init__(self, configuration: "Configuration", name: str) -> None:
        def described(key: str, family: str, method: Method) -> Any:
            with told_of(f"{configuration.place('systems', name)}: key '{key}': "):
                return registry.describe(family, method)

        self.name, self.its = name, configuration.system(name)
        self.content = configuration.content("systems", name)
        self.file = configuration.file_of("systems", name)  # for messages
        start, choice = self.its.init_from, self.its.text.choice
        self.start = None if start is None else configuration.methods(start.system)
        self.input: ProxyInput = described("input", "inputs", self.its.input)
        self.target: ProxyTarget = described("target", "targets", self.its.target)
        self.choice: TextChoice | None = None
        if choice is not None:
            self.choice = described("text", "distillation", choice)
        self.parts: dict[str, NetworkPart] = {
            part: described("parts", "parts", Method(method=part, **options))
            for part, options in self.its.parts.items()
        }
        self.order: Order = self.input.decoding_order
        # None if the scale has none of this name
        self.size = configuration.scale_settings.sizes.get(self.its.size)
        self.encoder_only = self.size is not None and not self.size.decoder_layers
        self.upsampled = self.its.decoder.upsample is not None

    def learned(self, trait: str) -> bool:
        """True if this system, or the one it starts from, was trained by methods with a trait."""
        own = getattr(self.input, trait, False) or getattr(self.target, trait, False)
        return bool(own or self.start and self.start.learned(trait))

    @property
    def refines(self) -> bool:
        """True if it was trained on partly revealed targets, and so can refine a translation."""
        return self.learned("trains_on_partial_targets")


@lru_cache(4096)
def needed_systems(configuration: Entries, system: str) -> list[tuple[str, str]]:
    """Systems that a system needs, each with the key that names it (`text`, also for what the
    decodings of its texts use)."""
    content, needed = configuration.content("systems", system), []
    parts = [(key, {key: content.get(key)}) for key in ("text", "init_from", "teacher")]
    for key, part in parts:
        for _, folder, name in references(part):
            if folder == "systems":
                needed.append((name, key))
            else:
                parts.append((key, configuration.content("decodings", name)))
    return needed


def dependencies(configuration: Entries, system: str) -> list[str]:
    """Systems that must be trained first: teachers and the initial model."""
    return list(dict.fromkeys(name for name, _ in needed_systems(configuration, system)))


def _identity(view: "Configuration", system: str, others: Mapping[str, str]) -> str:
    """The fingerprint of a system and of all that it refers to, given those of others."""
    its = view.system(system)
    if its.size not in view.scale_settings.sizes:
        return fingerprint({"system": system})  # not trained at this scale, so equal to no other
    content = renamed(_effective(view, system), others)
    content["recipe"]["validation"].pop("decoding")  # its options are included
    decodings = {}
    for name in (text.decoding for text in its.text.candidates if text.decoding):
        file = view.decoding_file(name)
        besides = {"assistant": file.assistant, "tuning": file.tuning}
        own = {**view.decoding(name).as_json(), **besides}
        decodings[name] = fingerprint(renamed(own, others))
    content["text"] = renamed(content["text"], decodings, "decodings")
    return fingerprint(content)


def _effective(configuration: "Configuration", system: str) -> dict[str, Any]:
    """Content of `Configuration.training`, JSON-able, but with decays as they are stated."""
    its, scale = configuration.system(system), configuration.scale_settings
    if its.size not in scale.sizes:
        file, name = configuration.file_of("systems", system), configuration.scale
        place = f"{file_of('scales', name)}, key 'sizes'"
        raise UserError(f"{file}: key 'size': '{its.size}' is not described in {place}")
    recipe, text = configuration.recipe_of(system), its.text.with_seed(scale.seeds[0])
    validation, parts = recipe.validation.decoding, configuration.methods(system).parts
    if text.choice is not None:
        text = replace(text, choice=registry.completed("distillation", text.choice))
    decoding = None if validation is None else configuration.decoding(validation).as_json()
    return {
        "architecture": options_of(scale.sizes[its.size]),
        "input": registry.completed("inputs", its.input).as_json(),
        "target": registry.completed("targets", its.target).as_json(),
        "decoder": options_of(its.decoder),
        "parts": {
            name: {**options_of(part), **registry.version_of(name)} for name, part in parts.items()
        },
        "length": its.length,
        "text": text.as_json(),
        "teacher": its.teacher and {"system": its.teacher, "seed": scale.seeds[0]},
        "init_from": its.init_from and its.init_from.as_json(),
        "recipe": recipe.as_written(),
        "validation_decoding": decoding,
        "precision": configuration.settings.precision,
        **({} if its.imported is None else {"imported": its.imported.model_dump()}),
    }


@dataclass(frozen=True, eq=False)
class Configuration(Entries):
    """A validated configuration at one scale; `load` makes it."""

    @cached_method
    def methods(self, system: str) -> SystemMethods:
        """A system with its methods."""
        return SystemMethods(self, system)

    def on(self, corpus: str) -> "Configuration":
        """The configuration with the changes of the tasks that a corpus is used for.

        Systems that are the same there have one name, which others refer to.
        """
        return self if self.names is not None else _named(self, self.tasks_of(corpus))

    def canonical(self, corpus: str, system: str) -> str:
        """The name under which a system is trained on a corpus."""
        names = self.on(corpus).names or {}
        return names[require(system, names, "system", "config/systems")]

    @cached_method
    def training(self, corpus: str, system: str) -> Training:
        """Everything that determines the model of a system, with all defaults and canonical names.

        Nothing else affects it, so that its `fingerprint` says whether a trained model is up to
        date. Training data and initialisation are included by name only, since they are results
        themselves.

        A moving average forgets as much in the whole training as in one of the stated length: a
        decay of 0.9992 in 40,000 updates becomes 0.9992^80 in 500.
        """
        self.corpus(corpus)
        view, name = self.on(corpus), self.canonical(corpus, system)
        content, recipe_name = _effective(view, name), view.system(name).recipe.like
        recipe, target = content["recipe"], content["target"]
        of_paper = view.written("recipes", replacements(view, recipe_name)[-1])
        # 1 where either length is in epochs, whose updates are not known before the training
        stated, ratio = recipe.pop("reference_updates", of_paper.get("updates")), 1.0
        if stated and "updates" in recipe:
            ratio = stated / recipe["updates"]
        if target.get("ema_decay") is not None:
            target["ema_decay"] = float(f"{target['ema_decay'] ** ratio:.6g}")
        return Training.of({"corpus": corpus, "system": name, **content})


@lru_cache(64)
def _named(configuration: Configuration, tasks: tuple[str, ...]) -> Configuration:
    """The same for tasks, in which systems that are equal have one name, which others refer to.

    A copy with `like` gives way to the system that it is like, so that adding it does not make
    the results of that system anew; among others the shortest name counts.
    """
    view = configuration.for_tasks(tasks)
    needed = {name: dependencies(view, name) for name in view.systems}
    identities: dict[str, str] = {}
    groups: dict[str, list[str]] = {}
    for name in TopologicalSorter(needed).static_order():
        identities[name] = _identity(view, name, identities)
        groups.setdefault(identities[name], []).append(name)

    def is_copy(name: str, same: list[str]) -> bool:
        base = configuration.origins["systems"].get(name, Origin("")).base
        return base is not None and (base in same or is_copy(base, same))

    names: dict[str, str] = {}
    for same in groups.values():
        originals = [name for name in same if not is_copy(name, same)]
        first = min(originals, key=lambda name: (len(name), name))
        names |= dict.fromkeys(same, first)
    return replace(view, names=names)

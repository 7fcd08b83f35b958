"""Systems as scale, tasks and command line make them, and which of them are the same."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from graphlib import TopologicalSorter
from typing import TYPE_CHECKING, Any

from nat import registry
from nat.configuration.families import Content, Origin, merged
from nat.configuration.files import file_of
from nat.configuration.json_values import fingerprint
from nat.configuration.lengths import in_proportion
from nat.configuration.models import Training
from nat.errors import UserError, told_of
from nat.options import options_of
from nat.registry import Method
from nat.traits import NetworkPart, Order, ProxyInput, ProxyTarget, TextChoice

if TYPE_CHECKING:
    from nat.configuration.configuration import Configuration

WITH_TASKS = ("systems", "recipes", "decodings")  # folders whose files have a key `tasks`
REFERENCES = {
    **dict.fromkeys(("system", "init_from", "teacher", "assistant"), "systems"),
    **{"decoding": "decodings", "recipe": "recipes", "as": "recipes", "size": "sizes"},
}
"""Keys of these files, at any depth, that name a file of another folder, or a size."""


def at_scale(configuration: "Configuration", folder: str, name: str) -> Content:
    """Content of a file, as the scale and the command line change it."""
    written, scale = configuration.files[folder][name], _scale(configuration)
    overridden = configuration.overridden.get(folder, {}).get(name, {})
    if folder == "recipes":
        change = dict(scale["recipes"].get(name, {}))
        other = change.pop("as", None)
        recipe = written if other is None else at_scale(configuration, folder, other)
        for each in (change, overridden):
            recipe = in_proportion(recipe, merged(recipe, each), each)
        return {key: recipe[key] for key in recipe if key not in ("description", "tasks")}
    if folder != "systems":
        return written
    own, text = written.get("parts", {}), written["text"]
    parts = {name: change for name, change in scale.get("parts", {}).items() if name in own}
    changes: Content = {"parts": parts} if parts else {}
    if target := scale.get("targets", {}).get(name):
        changes["target"] = target
    for kind, choice in text.items() if isinstance(text, Mapping) else ():
        if choice.get("regulariser"):
            changes["text"] = {kind: {"regulariser": scale.get("regulariser", {})}}
    # an override, which `written` has already, takes precedence
    own = {key: overridden[key] for key in changes if key in overridden}
    return merged(written, merged(changes, own))


def place(configuration: "Configuration", folder: str, name: str) -> str:
    """The files that say what `at_scale` returns, for messages."""
    where = configuration.file_of(folder, name)
    if folder in ("systems", "recipes"):
        where += f" with {file_of('scales', configuration.scale)}"
    if folder == "recipes" and name in configuration.overridden.get(folder, {}):
        where += " with 'override'"
    return where


def replacements(configuration: "Configuration", recipe: str) -> list[str]:
    """A recipe, and the one that replaces it at this scale (key `as`), and so on."""
    chain = [recipe]
    while other := _scale(configuration)["recipes"].get(chain[-1], {}).get("as"):
        if other in chain:
            raise UserError(
                f"{file_of('scales', configuration.scale)}: key 'recipes.{chain[-1]}.as': recipes "
                f"replace each other in a circle: {' -> '.join([*chain, other])}"
            )
        chain.append(other)
    return chain


def _scale(configuration: "Configuration") -> Content:
    return configuration.files["scales"][configuration.scale]


class SystemMethods:
    """A system with its methods, their options and traits.

    Attributes:
        file: its place, for messages.
        written: content of its file.
        its: the same as the scale makes it.
        start: the system that it starts from; None without one.
        choice: among several texts; None without one.
        parts: of its network, by name.
        order: in which it predicts tokens.
        size: None if the scale has none of this name.
    """

    def __init__(self, configuration: "Configuration", name: str) -> None:
        def described(key: str, family: str, method: Method) -> Any:
            with told_of(f"{place(configuration, 'systems', name)}: key '{key}': "):
                return registry.describe(family, method)

        self.name, self.its = name, configuration.system(name)
        self.file = configuration.file_of("systems", name)
        self.written = configuration.files["systems"][name]
        start = self.its.init_from
        self.start = None if start is None else configuration.methods(start.system)
        self.input: ProxyInput = described("input", "inputs", self.its.input)
        self.target: ProxyTarget = described("target", "targets", self.its.target)
        self.choice: TextChoice | None = None
        if self.its.text.choice is not None:
            self.choice = described("text", "distillation", self.its.text.choice)
        self.parts: dict[str, NetworkPart] = {
            part: described("parts", "parts", Method(method=part, **options))
            for part, options in self.its.parts.items()
        }
        self.order: Order = self.input.decoding_order
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


def references(content: Any, path: str = "") -> Iterator[tuple[str, str, str]]:
    """Names of other files in a file: the key, the folder, and the name."""
    parts = enumerate(content) if isinstance(content, list) else ()
    for key, value in content.items() if isinstance(content, Mapping) else parts:
        where = f"{path}.{key}" if path else str(key)
        if isinstance(value, str) and key in REFERENCES:
            yield where, REFERENCES[key], value
        yield from references(value, where)


@lru_cache(4096)
def needed_systems(configuration: "Configuration", system: str) -> list[tuple[str, str]]:
    """Systems that a system needs, each with the key that names it (`text`, also for what the
    decodings of its texts use)."""
    needed = []

    def find(content: Content, key: str) -> None:
        for _, folder, name in references(content):
            if folder == "systems":
                needed.append((name, key))
            else:
                file = configuration.content("decodings", name)
                find({part: file.get(part) for part in ("assistant", "language_model")}, key)

    content = configuration.content("systems", system)
    for key in ("text", "init_from", "teacher"):
        find({key: content.get(key)}, key)
    return needed


def dependencies(configuration: "Configuration", system: str) -> list[str]:
    """Systems that must be trained first: teachers and the initial model."""
    return list(dict.fromkeys(name for name, _ in needed_systems(configuration, system)))


def on_task(content: Mapping[str, Any], task: str) -> dict[str, Any]:
    """An entry with what its key `tasks` changes for a task, and without this key."""
    plain = {key: content[key] for key in content if key != "tasks"}
    return merged(plain, content.get("tasks", {}).get(task, {}))


@lru_cache(4096)
def tasks_of(configuration: "Configuration", corpus: str) -> tuple[str, ...]:
    """Tasks that this scale uses a corpus for; empty if none of them changes anything."""
    files = (file for folder in WITH_TASKS for file in configuration.files[folder].values())
    changing = {task for file in files for task in file.get("tasks", {})}
    tasks = tuple(task for task, its in configuration.tasks.items() if its == corpus)
    return () if changing.isdisjoint(tasks) else tasks


@lru_cache(64)
def for_tasks(configuration: "Configuration", tasks: tuple[str, ...]) -> "Configuration":
    """The configuration with the changes that these tasks make."""
    files, origins = dict(configuration.files), dict(configuration.origins)
    for folder in WITH_TASKS:
        files[folder], origins[folder] = dict(files[folder]), dict(origins[folder])
        for name, content in configuration.files[folder].items():
            if "tasks" not in content:
                continue
            first, *others = [on_task(content, task) for task in tasks or ("",)]
            if any(other != first for other in others):
                raise UserError(
                    f"{file_of('scales', configuration.scale)}: key 'tasks': "
                    f"'{configuration.tasks[tasks[0]]}' is used for {' and '.join(tasks)}, but "
                    f"{configuration.file_of(folder, name)} treats them differently (key 'tasks'); "
                    "use another corpus for one of them"
                )
            files[folder][name] = first
            for task in [task for task in tasks if task in content["tasks"]][:1]:
                origin = origins[folder][name]
                origins[folder][name] = origin._replace(place=f"{origin.place}: 'tasks.{task}'")
    return replace(configuration, files=files, origins=origins)


@lru_cache(64)
def named(configuration: "Configuration", tasks: tuple[str, ...]) -> "Configuration":
    """The same, in which systems that are equal have one name, which all others refer to.

    A copy with `like` gives way to the system that it is like, so that adding it does not make
    the results of that system anew; among others the shortest name counts.
    """
    view = for_tasks(configuration, tasks)
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
    files = dict(view.files)
    for folder in ("systems", "decodings"):
        contents = files[folder].items()
        files[folder] = {name: renamed(content, names) for name, content in contents}
    return replace(view, files=files, names=names)


def renamed(value: Any, names: Mapping[str, str], kind: str = "systems") -> Any:
    """A copy of a JSON-able value in which names of systems, or of another kind, are replaced."""
    if isinstance(value, Mapping):
        return {
            key: names.get(part, part)
            if isinstance(part, str) and REFERENCES.get(key) == kind
            else renamed(part, names, kind)
            for key, part in value.items()
        }
    if isinstance(value, list | tuple):
        return [renamed(part, names, kind) for part in value]
    return value


def _identity(view: "Configuration", system: str, others: Mapping[str, str]) -> str:
    """The fingerprint of a system and of all that it refers to, given those of others."""
    its = view.system(system)
    if its.size not in view.scale_settings.sizes:
        return fingerprint({"system": system})  # not trained at this scale, so equal to no other
    content = renamed(effective(view, system), others)
    content["recipe"]["validation"].pop("decoding")  # its options are included
    decodings = {}
    for name in (text.decoding for text in its.text.candidates if text.decoding):
        file = view.decoding_file(name)
        besides = {"assistant": file.assistant, "tuning": file.tuning}
        own = {**view.decoding(name).as_json(), **besides}
        decodings[name] = fingerprint(renamed(own, others))
    content["text"] = renamed(content["text"], decodings, "decodings")
    return fingerprint(content)


def effective(configuration: "Configuration", system: str) -> dict[str, Any]:
    """Content of `Configuration.training`, JSON-able, but with decays as they are stated."""
    its, scale = configuration.system(system), configuration.scale_settings
    if its.size not in scale.sizes:
        raise UserError(
            f"{configuration.file_of('systems', system)}: key 'size': the scale "
            f"'{configuration.scale}' has no size '{its.size}'; describe it in "
            f"{file_of('scales', configuration.scale)}, key 'sizes'"
        )
    recipe, text = configuration.content("recipes", its.recipe), its.text.with_seed(scale.seeds[0])
    validation, methods = recipe["validation"]["decoding"], configuration.methods(system)
    if text.choice is not None:
        text = replace(text, choice=registry.completed("distillation", text.choice))
    decoding = None if validation is None else configuration.decoding(validation).as_json()
    return {
        "architecture": options_of(scale.sizes[its.size]),
        "input": registry.completed("inputs", its.input).as_json(),
        "target": registry.completed("targets", its.target).as_json(),
        "decoder": options_of(its.decoder),
        "parts": {
            name: {**options_of(part), **registry.version_of(name)}
            for name, part in methods.parts.items()
        },
        "length": its.length,
        "text": text.as_json(),
        "teacher": its.teacher and {"system": its.teacher, "seed": scale.seeds[0]},
        "init_from": its.init_from and its.init_from.as_json(),
        "recipe": recipe,
        "validation_decoding": decoding,
        "precision": configuration.settings.precision,
        **({} if its.imported is None else {"imported": its.imported.model_dump()}),
    }


@lru_cache(4096)
def training(view: "Configuration", corpus: str, system: str) -> Training:
    """See `Configuration.training`; `view` is that of the corpus, and the name is canonical.

    A moving average forgets as much in the whole training as in one of the stated length: a decay
    of 0.9992 in 40,000 updates becomes 0.9992^80 in 500.
    """
    content, name = effective(view, system), view.system(system).recipe
    recipe, target = content["recipe"], content["target"]
    of_paper = view.files["recipes"][replacements(view, name)[-1]]
    # 1 where either length is in epochs, whose updates are not known before the training
    stated, ratio = recipe.pop("reference_updates", of_paper.get("updates")), 1.0
    if stated and "updates" in recipe:
        ratio = stated / recipe["updates"]
    if target.get("ema_decay") is not None:
        target["ema_decay"] = float(f"{target['ema_decay'] ** ratio:.6g}")
    return Training.of({"corpus": corpus, "system": system, **content})

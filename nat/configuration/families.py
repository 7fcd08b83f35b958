"""Configuration files that share keys with others: `like`, `variants`, `name`.

A file of `config/systems` describes one system, or, with `variants`, several that share the rest of
the file. `like: NAME` starts from another one of the same folder. A decoding whose name has
placeholders, `mask-predict-{steps}-lb{length_beam}`, is a family: the numbers in a requested name
are the values of these options. All of this is expanded here, before the YAML is validated as if it
had been written in full.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from nat.configuration.lengths import without_replaced
from nat.configuration.yaml_file import NAME
from nat.errors import UserError
from nat.nested import leaves, nested
from nat.spelling import hint

FOLDERS = ("scales", "recipes", "systems", "decodings")
"""Folders below `config/` whose files may have `like`."""
WITH_VARIANTS = ("systems", "decodings")
WITH_TASKS = ("systems", "recipes", "decodings")
REFERENCES = ("system", "init_from", "teacher", "assistant")
"""Keys of systems and decodings whose value is the name of a system."""
_PLACEHOLDER = re.compile(r"\{([a-z_]+(?:\.[a-z_]+)*)\}")
# one spelling for each number, so that a decoding has one name
_NUMBER = r"(?:0|[1-9][0-9]*)(?:\.[0-9]*[1-9])?"


@dataclass(frozen=True)
class Expanded:
    """The entries of one folder of the configuration, as if each had a separate file.

    Attributes:
        contents: by name, in the order of the files; families by their name with placeholders.
        places: where each is defined, for messages: `config/systems/axe.yaml`, or
            `config/systems/axe.yaml: 'axe-raw'` for a variant.
        bases: the entry that each starts from, by `like` of its own or of its file.
        bases_first: the names, each after the one that it starts from.
    """

    contents: dict[str, dict[str, Any]]
    places: dict[str, str]
    bases: dict[str, str]
    bases_first: list[str]


def merged(base: Mapping[str, Any], change: Mapping[str, Any]) -> dict[str, Any]:
    """`base` with the keys of `change`, merged recursively; the order of `base` is kept.

    A mapping that names another `method` replaces the old one completely, because its options are
    different. So does a `text` of another kind (`distilled`, `mixed`, ...), a length of a recipe in
    another unit (`epochs` for `updates`), and in a scale `as` the changes of a recipe, or they it.
    What is not changed is shared with `base`, so no one may change it in place.
    """
    found = without_replaced(base, change)
    for key, value in change.items():
        old = found.get(key)
        if isinstance(old, Mapping) and isinstance(value, Mapping):
            found[key] = merged(old, value) if _of_one_kind(key, old, value) else value
        else:
            found[key] = value
    return found


def _of_one_kind(key: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> bool:
    method = old.get("method")
    return (
        new.get("method", method) == method
        and ("as" in old) == ("as" in new)
        and (key != "text" or set(old) == set(new))
    )


def expanded(files: Mapping[str, dict[str, Any]], folder: str, kind: str) -> Expanded:
    """Resolve `like`, `variants` and `name` in all files of a folder.

    Args:
        files: contents by name of the file without `.yaml`.
        folder: below `config/`.
        kind: of the entries, for messages: system, decoding, recipe, scale.

    Raises:
        UserError: for an impossible name, a name that is defined twice, an unknown name after
            `like`, or a cycle.
    """
    written: dict[str, _Written] = {}
    for stem, content in files.items():
        for name, entry in _entries(stem, content, folder):
            if not NAME.fullmatch(_PLACEHOLDER.sub("1", name) if folder == "decodings" else name):
                raise UserError(
                    f"{entry.place}: '{name}' is not a valid name; use letters, digits, '.', '_' "
                    "and '-', and in the 'name' of decodings placeholders such as '{steps}'"
                )
            for other, its in written.items():
                if family_of(name, [other]) or family_of(other, [name]):
                    raise UserError(
                        f"{entry.place}: the {kind} '{name}' is defined in {its.place}, too; "
                        "rename one of them"
                    )
            written[name] = entry
    found, bases = _resolved(written, kind)
    for name, content in found.items() if folder == "scales" else ():
        sizes = content.get("sizes", {})  # one may be like another: `{like: base, heads: 2}`
        of_sizes = {
            size: _Written(f"{written[name].place}: 'sizes.{size}'", *_without_like(own))
            for size, own in sizes.items()
            if isinstance(own, Mapping)
        }
        content["sizes"] = {**sizes, **_resolved(of_sizes, "size")[0]}
    return Expanded(
        {name: found[name] for name in written},
        {name: entry.place for name, entry in written.items()},
        bases,
        list(found),
    )


def on_task(content: Mapping[str, Any], task: str) -> dict[str, Any]:
    """An entry with what its key `tasks` changes for a task, and without this key."""
    plain = {key: content[key] for key in content if key != "tasks"}
    return merged(plain, content.get("tasks", {}).get(task, {}))


def renamed(value: Any, names: Mapping[str, str], keys: tuple[str, ...] = REFERENCES) -> Any:
    """A copy of a JSON-able value in which the names at these keys are replaced, at any depth."""
    if isinstance(value, Mapping):
        return {
            key: names.get(part, part)
            if key in keys and isinstance(part, str)
            else renamed(part, names, keys)
            for key, part in value.items()
        }
    if isinstance(value, list | tuple):
        return [renamed(part, names, keys) for part in value]
    return value


@cache
def is_family(name: str) -> bool:
    """Whether a name has placeholders."""
    return _PLACEHOLDER.search(name) is not None


def placeholders(name: str) -> list[str]:
    """The options whose values a name with placeholders says."""
    return _PLACEHOLDER.findall(name)


@cache
def expression(name: str, number: str = _NUMBER) -> str:
    """A regular expression, without groups that capture, of a name or of a family's names."""
    return number.join(re.escape(part) for part in _PLACEHOLDER.split(name)[::2])


def family_of(name: str, known: Iterable[str]) -> str | None:
    """The known name that a name is, or the family that it belongs to; None without one."""
    pattern = expression(name)
    return next(
        (
            each
            for each in known
            if each == name
            or is_family(each)
            and (re.fullmatch(expression(each), name) or expression(each) == pattern)
        ),
        None,
    )


@cache
def options_in(family: str, name: str) -> dict[str, Any]:
    """The options of a family in one of its names; none if the family is a single name.

    `options_in("ctc-beam{beam}-lm{language_model.order}", "ctc-beam20-lm4")` is
    `{"beam": 20, "language_model": {"order": 4}}`.
    """
    match = re.fullmatch(expression(family, f"({_NUMBER})"), name)
    found: dict[str, Any] = {}
    for key, text in zip(placeholders(family), match.groups() if match else (), strict=True):
        number = float(text) if "." in text else int(text)
        found = merged(found, nested(key.split("."), number))
    return found


def example(family: str, content: Mapping[str, Any]) -> str:
    """A name of a family: with the values that its file gives, or with 3."""
    values = dict(leaves(content))

    def value(match: re.Match[str]) -> str:
        found = values.get(match[1])
        text = f"{found:g}" if isinstance(found, int | float) else ""
        return text if re.fullmatch(_NUMBER, text) else "3"

    return _PLACEHOLDER.sub(value, family)


def near(name: str, known: Iterable[str]) -> str:
    """A hint for an unknown name: the nearest name; of a family, with the same numbers."""
    numbers = re.findall(_NUMBER, name)

    def shown(each: str) -> str:
        left = iter(numbers)
        fits = len(placeholders(each)) == len(numbers)
        return _PLACEHOLDER.sub(lambda _: next(left), each) if fits else each

    return hint(name, map(shown, known))


@dataclass(frozen=True)
class _Written:
    """An entry as written.

    Attributes:
        place: where, for messages.
        like: the entry that it starts from.
        changes: what is different from it, in turn.
    """

    place: str
    like: str | None
    changes: list[dict[str, Any]]


def _without_like(content: Mapping[str, Any]) -> tuple[str | None, list[dict[str, Any]]]:
    like = content.get("like")
    own = {key: value for key, value in content.items() if key != "like"}
    return None if like is None else str(like), [own]


def _entries(stem: str, content: Mapping[str, Any], folder: str) -> Iterator[tuple[str, _Written]]:
    """What a file describes: one entry, or its variants."""
    place = f"config/{folder}/{stem}.yaml"
    like, (shared,) = _without_like(content)
    if "variants" not in content or folder not in WITH_VARIANTS:
        name = shared.pop("name", stem) if folder == "decodings" else stem
        if "name" in content and folder == "decodings" and not is_family(str(name)):
            raise UserError(
                f"{place}: key 'name': found {name}, expected a name with placeholders such as "
                "'{steps}'; a single decoding is called as its file"
            )
        yield str(name), _Written(place, like, [shared])
        return
    variants = shared.pop("variants")
    for name, own in variants.items() if isinstance(variants, Mapping) else [("variants", None)]:
        where = f"{place}: '{name}'"
        if not isinstance(own, Mapping):
            raise UserError(f"{where}: expected a mapping of what differs, or {{}}")
        its_like, changes = _without_like(own)
        if its_like is None:
            yield name, _Written(where, like, [shared, *changes])
        else:  # another base, but not another description
            described = {key: shared[key] for key in shared if key == "description"}
            yield name, _Written(where, its_like, [described, *changes])


def _resolved(
    written: Mapping[str, _Written], kind: str
) -> tuple[dict[str, dict[str, Any]], dict[str, str]]:
    """The full contents of entries, each after that which it is like, and what they are like."""
    found: dict[str, dict[str, Any]] = {}
    bases: dict[str, str] = {}

    def resolve(name: str, heirs: tuple[str, ...]) -> dict[str, Any]:
        entry = written[name]
        if name in heirs:
            circle = " -> ".join([*heirs[heirs.index(name) :], name])
            raise UserError(f"{entry.place}: key 'like': '{name}' is like itself: {circle}")
        if name in found:
            return found[name]
        content: dict[str, Any] = {}
        if entry.like is not None:
            base = family_of(entry.like, written)
            if base is None:
                known = near(entry.like, [each for each in written if each != name])
                raise UserError(
                    f"{entry.place}: key 'like': unknown {kind} '{entry.like}'; {known}"
                )
            content = merged(resolve(base, (*heirs, name)), options_in(base, entry.like))
            content.pop("description", None)
            bases[name] = base
        for change in entry.changes:
            content = merged(content, change)
        found[name] = content
        return content

    for name in written:
        resolve(name, ())
    return found, bases

"""Configuration files that share keys with others: `like`, `variants`, `name`.

A file of `config/systems` describes one system, or, with `variants`, several that share the rest of
the file. `like: NAME` starts from another one of the same folder. A decoding whose name has
placeholders, `mask-predict-{steps}-lb{length_beam}`, is a family: the numbers in a requested name
are the values of these options. All of this is expanded here, before the YAML is validated as if it
had been written in full.
"""

import copy
import itertools
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cache
from typing import Any

from nat.configuration.lengths import without_replaced
from nat.configuration.yaml_file import NAME
from nat.errors import UserError
from nat.nested import leaves
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
_NOT_INHERITED = ("description", "like", "name", "variants")


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
    """
    found = without_replaced(base, change)
    for key, value in change.items():
        old = found.get(key)
        if not isinstance(old, Mapping) or not isinstance(value, Mapping):
            found[key] = copy.deepcopy(value)
        elif _of_another_kind(key, old, value):
            found[key] = copy.deepcopy(dict(value))
        else:
            found[key] = merged(old, value)
    return found


def expanded(files: Mapping[str, dict[str, Any]], folder: str, kind: str) -> Expanded:
    """Resolve `like`, `variants` and `name` in all files of a folder.

    Args:
        files: contents by name of the file without `.yaml`.
        folder: below `config/`.
        kind: of the entries, for messages: system, decoding, recipe, scale.

    Raises:
        UserError: for a key of the wrong type, an impossible name, a name that is defined twice,
            an unknown name after `like`, or a cycle.
    """
    written: dict[str, _Written] = {}
    for stem, content in files.items():
        for entry in _entries(stem, content, f"config/{folder}/{stem}.yaml", folder, kind):
            _refuse_second(entry, written, kind)
            written[entry.name] = entry
    found: dict[str, dict[str, Any]] = {}
    for name in written:
        _resolve(name, written, found, kind, ())
    if folder == "scales":
        for name, content in found.items():
            _resolve_sizes(content, written[name].place)
    return Expanded(
        {name: found[name] for name in written},
        {name: entry.place for name, entry in written.items()},
        {name: entry.base for name, entry in written.items() if entry.base is not None},
        list(found),
    )


def on_task(content: Mapping[str, Any], task: str) -> dict[str, Any]:
    """An entry with what its key `tasks` changes for a task, and without this key."""
    if "tasks" not in content:
        return dict(content)
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


def expression(name: str) -> str:
    """A regular expression, without groups that capture, of a name or of a family's names."""
    return _NUMBER.join(re.escape(part) for part in _PLACEHOLDER.split(name)[::2])


def options_in(family: str, name: str) -> dict[str, Any] | None:
    """The options of a family in a name, None if the name does not belong to the family.

    `options_in("ctc-beam{beam}-lm{language_model.order}", "ctc-beam20-lm4")` is
    `{"beam": 20, "language_model": {"order": 4}}`.
    """
    keys, pattern = _pattern(family)
    match = pattern.fullmatch(name)
    if match is None:
        return None
    return _nested(zip(keys, map(_number, match.groups()), strict=True))


@cache
def _pattern(family: str) -> tuple[list[str], re.Pattern[str]]:
    """Placeholders of a family, and a pattern of its names with a group for each of them."""
    parts = _PLACEHOLDER.split(family)
    pattern = f"({_NUMBER})".join(re.escape(part) for part in parts[::2])
    return parts[1::2], re.compile(pattern)


def example(family: str, content: Mapping[str, Any]) -> str:
    """A name of a family: with the values that its file gives, or with 3.

    Raises:
        UserError: for a value that no name can say, such as a text; names the key.
    """

    def value(match: re.Match[str]) -> str:
        found = dict(leaves(content)).get(match[1], 3)
        if isinstance(found, int | float) and not isinstance(found, bool):
            text = f"{Decimal(str(found)):f}"  # names have no exponents
            text = text.rstrip("0").rstrip(".") if "." in text else text
            if re.fullmatch(_NUMBER, text):
                return text
        raise UserError(
            f"key '{match[1]}': found {json.dumps(found)}, but names such as '{family}' need a "
            "number of at least 0; correct the value"
        )

    return _PLACEHOLDER.sub(value, family)


def near(name: str, known: list[str]) -> str:
    """A hint for an unknown name: the nearest name; of a family, with the same numbers."""
    numbers = re.findall(_NUMBER, name)
    shown = []
    for each in known:
        parts = _PLACEHOLDER.split(each)[::2]
        fits = len(parts) - 1 == len(numbers)
        shown.append("".join(_alternate(parts, numbers)) if fits else each)
    return hint(name, dict.fromkeys(shown))


@dataclass(frozen=True)
class _Written:
    """An entry as written: its keys, those of its file, and the one that it is like."""

    name: str
    place: str
    own: dict[str, Any]
    like: str | None
    shared: "_Written | None" = None

    @property
    def base(self) -> str | None:
        """The entry that it starts from."""
        return self.shared.like if self.like is None and self.shared is not None else self.like


def _resolve_sizes(scale: dict[str, Any], place: str) -> None:
    """Let sizes of a scale be like others: `base-learned: {like: base, positions: learned}`."""
    sizes = scale.get("sizes")
    if not isinstance(sizes, Mapping):
        return
    written = {
        name: _Written(name, f"{place}: 'sizes.{name}'", dict(size), None)
        for name, size in sizes.items()
        if isinstance(size, Mapping)
    }
    for name, entry in written.items():
        like = _like(entry.own, f"{entry.place}: ", "size")
        entry.own.pop("like", None)
        written[name] = replace(entry, like=like)
    found: dict[str, dict[str, Any]] = {}
    for name in written:
        _resolve(name, written, found, "size", ())
    scale["sizes"] = {**sizes, **found}


def _of_another_kind(key: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> bool:
    method = old.get("method")
    if ("as" in old) != ("as" in new):
        return True
    return new.get("method", method) != method or (key == "text" and set(old) != set(new))


def _entries(
    stem: str, content: Mapping[str, Any], file: str, folder: str, kind: str
) -> list[_Written]:
    like = _like(content, f"{file}: ", kind)
    if "variants" in content and folder not in WITH_VARIANTS:
        raise UserError(f"{file}: key 'variants': only systems and decodings have variants")
    if "name" in content and folder != "decodings":
        raise UserError(f"{file}: key 'name': the name of a {kind} is that of its file")
    own = {key: value for key, value in content.items() if key not in _NOT_INHERITED[1:]}
    if "variants" not in content:
        name = content.get("name", stem)
        if "name" in content and not (isinstance(name, str) and is_family(name)):
            raise UserError(
                f"{file}: key 'name': found {name}, expected a name with placeholders such as "
                "'{steps}'; a single decoding is called as its file"
            )
        _check_name(name, f"{file}: key 'name'", folder)
        return [_Written(name, file, own, like)]
    if "name" in content:
        raise UserError(f"{file}: give either 'name' or 'variants'")
    variants = content["variants"]
    if not isinstance(variants, Mapping) or not variants:
        raise UserError(f"{file}: key 'variants': expected at least one line 'NAME: {{...}}'")
    shared = _Written(stem, file, own, like)
    found = []
    for name, change in variants.items():
        place = f"{file}: '{name}'"
        _check_name(name, place, folder)
        if not isinstance(change, Mapping):
            raise UserError(f"{place}: expected a mapping of what differs, or {{}}")
        for key in ("name", "variants"):
            if key in change:
                raise UserError(f"{place}: key '{key}': a variant cannot have it; remove it")
        its = {key: value for key, value in change.items() if key not in _NOT_INHERITED[1:]}
        found.append(_Written(name, place, its, _like(change, f"{place}: ", kind), shared))
    return found


def _like(content: Mapping[str, Any], origin: str, kind: str) -> str | None:
    like = content.get("like")
    if "like" in content and not isinstance(like, str):
        raise UserError(f"{origin}key 'like': found {like}, expected the name of a {kind}")
    return like


def _check_name(name: str, where: str, folder: str) -> None:
    plain = _PLACEHOLDER.sub("1", name) if folder == "decodings" else name
    if not NAME.fullmatch(plain):
        raise UserError(
            f"{where}: '{name}' is not a valid name; use letters, digits, '.', '_' and '-'"
            + (", and placeholders such as '{steps}'" if folder == "decodings" else "")
        )
    keys = _PLACEHOLDER.findall(name)
    if len(set(keys)) < len(keys):
        raise UserError(f"{where}: '{name}' has a placeholder twice")


def _refuse_second(entry: _Written, written: Mapping[str, _Written], kind: str) -> None:
    for name, other in written.items():
        its, own = is_family(name), is_family(entry.name)
        if (
            entry.name == name
            or (own and options_in(entry.name, name) is not None)
            or (its and options_in(name, entry.name) is not None)
        ):
            raise UserError(
                f"{entry.place}: the {kind} '{entry.name}' is defined in {other.place}, too; "
                "rename one of them"
            )


def _resolve(
    name: str,
    written: Mapping[str, _Written],
    found: dict[str, dict[str, Any]],
    kind: str,
    path: tuple[str, ...],
) -> dict[str, Any]:
    """The full content of an entry, also put into `found`; `path`: the entries that are like it."""
    if name in path:
        circle = " -> ".join([*path[path.index(name) :], name])
        raise UserError(
            f"{written[name].place}: key 'like': '{name}' is like itself: {circle}; change one "
            "of these keys"
        )
    if name not in found:
        entry, own_path = written[name], (*path, name)
        shared = entry.shared
        if entry.like is not None:
            base = _base(entry.like, entry.place, written, found, kind, own_path)
        elif shared is not None and shared.like is not None:
            base = _base(shared.like, shared.place, written, found, kind, own_path)
        else:
            base = {}
        if shared is not None and entry.like is None:
            base = merged(base, shared.own)
        elif shared is not None and "description" in shared.own:
            base["description"] = shared.own["description"]
        found[name] = merged(base, entry.own)
    return found[name]


def _base(
    like: str,
    place: str,
    written: Mapping[str, _Written],
    found: dict[str, dict[str, Any]],
    kind: str,
    path: tuple[str, ...],
) -> dict[str, Any]:
    """What an entry inherits from the one that it is like, which may belong to a family."""
    families = [each for each in written if is_family(each) and options_in(each, like) is not None]
    if like not in written and len(families) != 1:
        known = [each for each in written if each != path[-1]]
        raise UserError(f"{place}: key 'like': unknown {kind} '{like}'; {near(like, known)}")
    other = like if like in written else families[0]
    full = merged(
        _resolve(other, written, found, kind, path),
        {} if like in written else options_in(other, like) or {},
    )
    return {key: copy.deepcopy(full[key]) for key in full if key != "description"}


def _nested(options: Any) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in options:
        *path, last = key.split(".")
        inner = found
        for part in path:
            inner = inner.setdefault(part, {})
        inner[last] = value
    return found


def _number(text: str) -> int | float:
    return float(text) if "." in text else int(text)


def _alternate(parts: list[str], between: Any) -> list[str]:
    pairs = itertools.zip_longest(parts, between, fillvalue="")
    return [text for pair in pairs for text in pair]

"""Configuration files that share keys with others: `like`, `variants`, `name`.

A file of `config/systems` describes one system, or, with `variants`, several that share the rest of
the file. `like: NAME` starts from another one of the same folder. A decoding whose name has
placeholders, `mask-predict-{steps}-lb{length_beam}`, is a family: the numbers in a requested name
are the values of these options. All of this is expanded here, before the YAML is validated as if it
had been written in full.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import cache
from typing import Any, NamedTuple

from nat.configuration.file_names import FOLDERS, file_of
from nat.configuration.lengths import without_replaced
from nat.configuration.yaml_file import NAME
from nat.errors import UserError, told_of
from nat.options import hint, leaves, nested, validated

WITH_VARIANTS = ("systems", "decodings")
WITH_TASKS = ("systems", "recipes", "decodings")
REFERENCES = ("system", "init_from", "teacher", "assistant")
"""Keys of systems and decodings whose value is the name of a system."""
_BY_ENTRY = ("splits", "preprocessing", "expected")
"""Keys of corpora whose entries are inherited one by one."""
_SUBWORDS = ("bpe_merges", "sentencepiece")
_PLACEHOLDER = re.compile(r"\{([a-z_]+(?:\.[a-z_]+)*)\}")
# one spelling for each number, so that a decoding has one name
_NUMBER = r"(?:0|[1-9][0-9]*)(?:\.[0-9]*[1-9])?"


Merge = Callable[[Mapping[str, Any], Mapping[str, Any]], dict[str, Any]]


class Expanded(NamedTuple):
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


def _merged_corpus(base: Mapping[str, Any], change: Mapping[str, Any]) -> dict[str, Any]:
    """A corpus with the keys of another, of some keys single entries."""
    found = {**base, **change}
    for key in _BY_ENTRY:
        if key in base and key in change:
            found[key] = base[key] | change[key]
    own = change.get("preprocessing", {})
    if "subwords" in change or any(key in own for key in _SUBWORDS):  # instead of the other ones
        inherited = set(_SUBWORDS).difference(own)
        kept = {key: value for key, value in found["preprocessing"].items() if key not in inherited}
        found["preprocessing"] = kept
        if "subwords" not in change:
            found.pop("subwords", None)
    return found


def expanded(files: Mapping[str, dict[str, Any]], folder: str) -> Expanded:
    """Resolve `like`, `variants` and `name` in all files of a folder.

    Args:
        files: contents by name of the file without `.yaml`.
        folder: below `config/`.

    Raises:
        UserError: for an impossible name, a name that is defined twice, an unknown name after
            `like`, or a cycle.
    """
    written: dict[str, _Written] = {}
    for stem, content in files.items():
        for name, entry in _entries(stem, content, folder):
            if not NAME.fullmatch(_PLACEHOLDER.sub("1", name) if folder == "decodings" else name):
                raise UserError(
                    f"{entry.place}: found the name '{name}', expected letters, digits, '.', '_' "
                    "and '-', and in the 'name' of decodings placeholders such as '{steps}'"
                )
            for other, its in written.items():
                if family_of(name, [other]) or family_of(other, [name]):
                    raise UserError(
                        f"{entry.place}: '{name}' is defined in {its.place}, too; rename one of "
                        "them"
                    )
            written[name] = entry
    merge = _merged_corpus if folder == "corpora" else merged
    found, bases = _resolved(written, FOLDERS[folder], merge)
    for name, content in found.items() if folder == "scales" else ():
        sizes = content.get("sizes", {})  # one may be like another: `{like: base, heads: 2}`
        of_sizes = {
            size: _entry(f"{written[name].place}: 'sizes.{size}'", own)
            for size, own in sizes.items()
            if isinstance(own, Mapping)
        }
        content["sizes"] = {**sizes, **_resolved(of_sizes, "size")[0]}
    places = {name: entry.place for name, entry in written.items()}
    return Expanded({name: found[name] for name in written}, places, bases, list(found))


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
        return _PLACEHOLDER.sub(lambda found: next(left, found[0]), each)

    return hint(name, map(shown, known))


def require(name: str, known: Collection[str], what: str, where: str) -> str:
    """The known name that a name is, or the family that it belongs to.

    Raises:
        UserError: if there is none; names the nearest one.
    """
    found = name if name in known else family_of(name, known)
    if found is None:
        raise UserError(f"{where}: unknown {what} '{name}'; {near(name, known)}")
    return found


class _Written(NamedTuple):
    """An entry as written.

    Attributes:
        place: where, for messages.
        like: the entry that it starts from.
        changes: what is different from it, in turn.
    """

    place: str
    like: str | None
    changes: list[dict[str, Any]]


def _entries(stem: str, content: Mapping[str, Any], folder: str) -> Iterator[tuple[str, _Written]]:
    """What a file describes: one entry, or its variants."""
    place, like, [shared] = _entry(file_of(folder, stem), content)
    if "variants" not in content or folder not in WITH_VARIANTS:
        name = shared.pop("name", stem) if folder == "decodings" else stem
        yield str(name), _Written(place, like, [shared])
        return
    with told_of(f"{place}: key 'variants': "):
        variants = validated(dict[str, dict[str, Any]], shared.pop("variants"))
    for name, own in variants.items():
        entry = _entry(f"{place}: '{name}'", own)
        if entry.like is None:
            yield name, entry._replace(like=like, changes=[shared, *entry.changes])
        else:  # another base, but not another description
            described = {key: shared[key] for key in shared if key == "description"}
            yield name, entry._replace(changes=[described, *entry.changes])


def _entry(place: str, content: Mapping[str, Any]) -> _Written:
    own = {key: value for key, value in content.items() if key != "like"}
    return _Written(place, content.get("like"), [own])


def _resolved(
    written: Mapping[str, _Written], kind: str, merge: Merge = merged
) -> tuple[dict[str, dict[str, Any]], dict[str, str]]:
    """The full contents of entries, each after that which it is like, and what they are like."""
    found: dict[str, dict[str, Any]] = {}
    bases: dict[str, str] = {}

    def resolve(name: str, heirs: tuple[str, ...]) -> dict[str, Any]:
        place, like, changes = written[name]
        if name in found:
            return found[name]
        if name in heirs:
            circle = " -> ".join([*heirs[heirs.index(name) :], name])
            raise UserError(f"{place}: key 'like': '{name}' is like itself: {circle}")
        content: dict[str, Any] = {}
        if like is not None:
            base = require(str(like), written, kind, f"{place}: key 'like'")
            content = merged(resolve(base, (*heirs, name)), options_in(base, str(like)))
            if kind != "corpus":
                content.pop("description", None)
            bases[name] = base
        for change in changes:
            content = merge(content, change)
        found[name] = content
        return content

    for name in written:
        resolve(name, ())
    return found, bases

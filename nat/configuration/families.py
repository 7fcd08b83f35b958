"""Configuration files that share keys with others: `like`, `variants`, `name`.

A file of `config/systems` describes one system, or, with `variants`, several that share the rest of
the file. `like: NAME` starts from another one of the same folder. A decoding whose name has
placeholders, `mask-predict-{steps}-lb{length_beam}`, is a family: the numbers in a requested name
are the values of these options.
"""

import re
from collections.abc import Collection, Iterator, Mapping
from functools import cache
from typing import Any, NamedTuple

from nat.configuration.files import NAME, file_of, kind_of
from nat.configuration.merging import Content, merged, merged_corpus, merged_scale, without
from nat.configuration.models import read_model
from nat.errors import UserError, told_of
from nat.options import hint, leaves, nested

WITH_VARIANTS = ("systems", "decodings")
_PLACEHOLDER = re.compile(r"\{([a-z_]+(?:\.[a-z_]+)*)\}")
# one spelling for each number, so that a decoding has one name
_NUMBER = r"(?:0|[1-9][0-9]*)(?:\.[0-9]*[1-9])?"


class Origin(NamedTuple):
    """Where an entry is defined."""

    # for messages: `config/systems/axe.yaml`, of a variant with `: 'axe-raw'` at the end
    place: str
    base: str | None = None  # the entry that it starts from, by `like` of its own or of its file


_Mappings = dict[str, dict[str, Any]]
_Written = tuple[str, Content]
"""The place of an entry, and what is different from the one that it is `like`."""


def expanded(
    files: Mapping[str, Content], folder: str
) -> tuple[dict[str, Content], dict[str, Origin]]:
    """Resolve `like`, `variants` and `name` in all files of a folder, by names without `.yaml`.

    Returns what each entry says, as if it had a file of its own, and where it is defined. Entries
    come after those that they are `like`; families have their names with placeholders.
    """
    written: dict[str, _Written] = {}
    for stem, content in files.items():
        for name, (place, own) in _entries(stem, content, folder):
            if not NAME.fullmatch(_PLACEHOLDER.sub("1", name) if folder == "decodings" else name):
                expected = "letters, digits, '.', '_' and '-'"
                raise UserError(f"{place}: found the name '{name}', expected {expected}")
            others = [each for each in written if family_of(each, [name])]
            if other := family_of(name, written) or next(iter(others), None):
                raise UserError(f"{place}: '{name}' is defined in {written[other][0]}, too")
            written[name] = place, own
    contents, origins = _resolved(written, folder)
    for name, content in contents.items() if folder == "scales" else ():
        file = origins[name].place
        sizes = read_model(_Mappings, content.get("sizes", {}), f"{file}: key 'sizes'")
        # one may be like another: `{like: base, heads: 2}`
        of_sizes = {size: (f"{file}: 'sizes.{size}'", own) for size, own in sizes.items()}
        resolved, _ = _resolved(of_sizes, "sizes")
        content["sizes"] = {size: resolved[size] for size in sizes}
    return contents, origins


def _entries(stem: str, content: Content, folder: str) -> Iterator[tuple[str, _Written]]:
    """Entries that a file describes: one, or its variants."""
    place, shared = file_of(folder, stem), dict(content)
    if "variants" not in content or folder not in WITH_VARIANTS:
        name = shared.pop("name", stem) if folder == "decodings" else stem
        yield str(name), (place, shared)
        return
    variants = read_model(_Mappings, shared.pop("variants"), f"{place}: key 'variants'")
    for name, own in variants.items():
        # another base, but not another description
        kept = [key for key in shared if key == "description" or "like" not in own]
        yield name, (f"{place}: '{name}'", merged({key: shared[key] for key in kept}, own))


def _resolved(
    written: Mapping[str, _Written], folder: str
) -> tuple[dict[str, Content], dict[str, Origin]]:
    """The full contents of entries, each after the one that it is like, and their origins."""
    contents: dict[str, Content] = {}
    origins: dict[str, Origin] = {}
    merge = {"corpora": merged_corpus, "scales": merged_scale}.get(folder, merged)

    def resolve(name: str, heirs: tuple[str, ...]) -> None:
        place, own = written[name]
        if name in contents:
            return
        if name in heirs:
            circle = " -> ".join([*heirs[heirs.index(name) :], name])
            raise UserError(f"{place}: key 'like': '{name}' is like itself: {circle}")
        base, content = None, Content()
        if (like := own.get("like")) is not None:
            base = require(str(like), written, kind_of(folder), f"{place}: key 'like'")
            resolve(base, (*heirs, name))
            content = merged(contents[base], options_in(base, str(like)))
            if folder != "corpora":
                content.pop("description", None)
        with told_of(f"{place}: "):
            contents[name] = merge(content, without(own, "like"))
        origins[name] = Origin(place, base)

    for name in written:
        resolve(name, ())
    return contents, origins


def placeholders(name: str) -> list[str]:
    """The options whose values a name with placeholders says; none for other names."""
    return _PLACEHOLDER.findall(name)


@cache
def expression(name: str, number: str = _NUMBER) -> str:
    """A regular expression, without groups that capture, of a name or of a family's names."""
    return number.join(re.escape(part) for part in _PLACEHOLDER.split(name)[::2])


def family_of(name: str, known: Collection[str]) -> str | None:
    """The known name that a name is, or the family that it belongs to; None without one."""
    if name in known:
        return name
    for family in (each for each in known if "{" in each):
        if re.fullmatch(expression(family), name) or expression(family) == expression(name):
            return family
    return None


@cache
def options_in(family: str, name: str) -> Content:
    """The options of a family in one of its names; none if the family is a single name.

    `options_in("ctc-beam{beam}-lm{language_model.order}", "ctc-beam20-lm4")` is
    `{"beam": 20, "language_model": {"order": 4}}`.
    """
    match = name != family and re.fullmatch(expression(family, f"({_NUMBER})"), name)
    options: Content = {}
    for key, text in zip(placeholders(family), match.groups(), strict=True) if match else ():
        number = float(text) if "." in text else int(text)
        options = merged(options, nested(key.split("."), number))
    return options


def example(family: str, content: Mapping[str, Any]) -> str:
    """A name of a family: with the values that its file gives, or with 3."""
    values = {key: str(value) for key, value in leaves(content)}
    given = {key: text for key, text in values.items() if re.fullmatch(_NUMBER, text)}
    return _PLACEHOLDER.sub(lambda match: given.get(match[1], "3"), family)


def require(name: str, known: Collection[str], what: str, where: str = "") -> str:
    """The known name that a name is, or the family that it belongs to; else a UserError."""
    family = family_of(name, known)
    if family is not None:
        return family
    numbers = re.findall(_NUMBER, name)

    def shown(each: str) -> str:
        left = iter(numbers)
        return _PLACEHOLDER.sub(lambda match: next(left, match[0]), each)

    place = f"{where}: " if where else ""
    raise UserError(f"{place}unknown {what} '{name}'; {hint(name, map(shown, known))}")

"""Configuration files that share keys with others: `like`, `variants`, `name`.

A file of `config/systems` describes one system, or, with `variants`, several that share the rest of
the file. `like: NAME` starts from another one of the same folder. A decoding whose name has
placeholders, `mask-predict-{steps}-lb{length_beam}`, is a family: the numbers in a requested name
are the values of these options. All of this is expanded here, before the YAML is validated as if it
had been written in full.
"""

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import cache
from typing import Any, NamedTuple

from nat.configuration.files import FOLDERS, NAME, file_of
from nat.configuration.lengths import in_proportion, without_replaced
from nat.errors import UserError, told_of
from nat.options import hint, leaves, nested, validated

WITH_VARIANTS = ("systems", "decodings")
_BY_ENTRY = ("splits", "preprocessing", "expected")
"""Keys of corpora whose entries are inherited one by one."""
_SUBWORDS = ("bpe_merges", "sentencepiece", "subwords")
_OF_SUBWORDS = (*_SUBWORDS, "sentencepiece_normalisation")
_PLACEHOLDER = re.compile(r"\{([a-z_]+(?:\.[a-z_]+)*)\}")
# one spelling for each number, so that a decoding has one name
_NUMBER = r"(?:0|[1-9][0-9]*)(?:\.[0-9]*[1-9])?"

Content = dict[str, Any]


class Origin(NamedTuple):
    """The place where an entry is defined."""

    place: (
        str  # for messages: `config/systems/axe.yaml`, of a variant with `: 'axe-raw'` at the end
    )
    base: str | None = None  # the entry that it starts from, by `like` of its own or of its file


class _Written(NamedTuple):
    """An entry as written: what is different from the one that it is `like`."""

    place: str
    like: Any
    content: Content


def merged(base: Mapping[str, Any], change: Mapping[str, Any]) -> Content:
    """`base` with the keys of `change`, merged recursively; the order of `base` is kept.

    A mapping that names another `method` replaces the old one completely, because its options are
    different. So does a `text` of another kind (`distilled`, `mixed`, ...), a length of a recipe in
    another unit (`epochs` for `updates`), in a scale `as` the changes of a recipe, or they it, and
    a `recipe` of a system that is `like` another one. What is not changed is shared with `base`, so
    no one may change it in place.
    """
    content = without_replaced(base, change)
    for key, new in change.items():
        old = content.get(key)
        if key == "recipe" and isinstance(old, str) and isinstance(new, Mapping):
            old = {"like": old}  # a system with keys of its recipe
        content[key] = new
        if isinstance(old, Mapping) and isinstance(new, Mapping) and _of_one_kind(key, old, new):
            content[key] = merged(old, new)
    return content


def _of_one_kind(key: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> bool:
    method = old.get("method")
    return (
        new.get("method", method) == method
        and ("as" in old) == ("as" in new)
        and (key != "text" or set(old) == set(new))
        and (key != "recipe" or "like" not in new)
    )


def _merged_corpus(base: Content, change: Content) -> Content:
    """A corpus with the keys of another, of some keys single entries."""
    both = [key for key in _BY_ENTRY if key in base and key in change]
    content = {**base, **change, **{key: base[key] | change[key] for key in both}}
    return _with_subwords_of(change, content)


def changed_corpus(base: Content, change: Content) -> Content:
    """A corpus with single keys changed, at any depth."""
    return _with_subwords_of(change, merged(base, change))


def _with_subwords_of(change: Content, corpus: Content) -> Content:
    """A changed corpus without the subwords that it had before, where the change gives others."""
    own = {*change, *change.get("preprocessing", {})}
    if own.isdisjoint(_SUBWORDS):
        return corpus
    others = [key for key in _OF_SUBWORDS if key not in own]
    preprocessing = _without(corpus.get("preprocessing", {}), *others)
    return {**_without(corpus, *others), "preprocessing": preprocessing}


def _merged_scale(base: Content, change: Content) -> Content:
    """A scale with the keys of another; lengths of its recipes follow their `updates`.

    In a recipe of a scale `like` is the same as `as`: another recipe with changed keys.
    """
    before, own = base.get("recipes", {}), change.get("recipes")
    if not isinstance(own, Mapping) or not all(isinstance(its, Mapping) for its in own.values()):
        return merged(base, change)  # which is refused
    own = {
        name: {{"like": "as"}.get(key, key): its[key] for key in its} for name, its in own.items()
    }
    content = merged(base, {**change, "recipes": own})
    for name in (each for each in before if each in own and "updates" in before[each]):
        content["recipes"][name] = in_proportion(before[name], content["recipes"][name], own[name])
    return content


def _without(content: Mapping[str, Any], *keys: str) -> Content:
    return {key: value for key, value in content.items() if key not in keys}


def expanded(
    files: Mapping[str, Content], folder: str
) -> tuple[dict[str, Content], dict[str, Origin]]:
    """Resolve `like`, `variants` and `name` in all files of a folder, by names without `.yaml`.

    Returns what each entry says, as if it had a file of its own, and where it is defined. Entries
    come after those that they are `like`; families have their names with placeholders.
    """
    written: dict[str, _Written] = {}
    for stem, content in files.items():
        for name, entry in _entries(stem, content, folder):
            if not NAME.fullmatch(_PLACEHOLDER.sub("1", name) if folder == "decodings" else name):
                raise UserError(
                    f"{entry.place}: found the name '{name}', expected letters, digits, '.', '_' "
                    "and '-', and in the 'name' of decodings placeholders such as '{steps}'"
                )
            others = [each for each in written if family_of(each, [name])]
            if other := family_of(name, written) or next(iter(others), None):
                place = written[other].place
                raise UserError(f"{entry.place}: '{name}' is defined in {place}, too")
            written[name] = entry
    merge = {"corpora": _merged_corpus, "scales": _merged_scale}.get(folder, merged)
    contents, bases = _resolved(written, FOLDERS[folder], merge)
    for name, content in contents.items() if folder == "scales" else ():
        sizes = content.get("sizes", {})  # one may be like another: `{like: base, heads: 2}`
        of_sizes = {
            size: _Written(
                f"{written[name].place}: 'sizes.{size}'", own.get("like"), _without(own, "like")
            )
            for size, own in sizes.items()
            if isinstance(own, Mapping)
        }
        content["sizes"] = {**sizes, **_resolved(of_sizes, "size", merged)[0]}
    return contents, {name: Origin(written[name].place, bases.get(name)) for name in contents}


def _entries(stem: str, content: Content, folder: str) -> Iterator[tuple[str, _Written]]:
    """Entries that a file describes: one, or its variants."""
    place, like, shared = file_of(folder, stem), content.get("like"), _without(content, "like")
    if "variants" not in content or folder not in WITH_VARIANTS:
        name = shared.pop("name", stem) if folder == "decodings" else stem
        yield str(name), _Written(place, like, shared)
        return
    with told_of(f"{place}: key 'variants': "):
        variants = validated(dict[str, dict[str, Any]], shared.pop("variants"))
    for name, own in variants.items():
        where, base = f"{place}: '{name}'", shared
        if "like" in own:  # another base, but not another description
            base = {key: shared[key] for key in shared if key == "description"}
        changes = merged(base, _without(own, "like"))
        yield name, _Written(where, own.get("like", like), changes)


def _resolved(
    written: Mapping[str, _Written], kind: str, merge: Callable[..., Content]
) -> tuple[dict[str, Content], dict[str, str]]:
    """The full contents of entries, each after the one that it is like, and these by name."""
    contents: dict[str, Content] = {}
    bases: dict[str, str] = {}

    def resolve(name: str, heirs: tuple[str, ...]) -> Content:
        place, like, own = written[name]
        if name in contents:
            return contents[name]
        if name in heirs:
            circle = " -> ".join([*heirs[heirs.index(name) :], name])
            raise UserError(f"{place}: key 'like': '{name}' is like itself: {circle}")
        content: Content = {}
        if like is not None:
            bases[name] = require(str(like), written, kind, f"{place}: key 'like'")
            base = resolve(bases[name], (*heirs, name))
            content = merged(base, options_in(bases[name], str(like)))
            if kind != "corpus":
                content.pop("description", None)
        contents[name] = merge(content, own)
        return contents[name]

    for name in written:
        resolve(name, ())
    return contents, bases


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


def require(name: str, known: Collection[str], what: str, where: str) -> str:
    """The known name that a name is, or the family that it belongs to."""
    family = family_of(name, known)
    if family is not None:
        return family
    numbers = re.findall(_NUMBER, name)

    def shown(each: str) -> str:
        left = iter(numbers)
        return _PLACEHOLDER.sub(lambda match: next(left, match[0]), each)

    raise UserError(f"{where}: unknown {what} '{name}'; {hint(name, map(shown, known))}")

"""Entries of `config/` with some keys changed, by those that are `like` them, scales and so on.

A recipe gives each length in one of two units: in updates, or in passes over its text (epochs).
"""

from collections.abc import Mapping
from typing import Any

from nat.options import leaves, validated

Content = dict[str, Any]

UNITS = {
    "epochs": ("updates",),
    "warmup_epochs": ("warmup_updates",),
    "validations_per_epoch": ("save_every", "validate_every"),
}
"""Keys of a recipe that give a length in epochs, and those that give it in updates instead."""
_REPLACES = {**UNITS, **{key: (epochs,) for epochs, keys in UNITS.items() for key in keys}}
_FOLLOW = ("warmup_updates", "save_every", "validate_every")
LENGTHS = ("updates", "epochs", *_FOLLOW, "validations_per_epoch", "keep", "patience")
"""Keys of a recipe that are lengths or follow them."""

_BY_ENTRY = ("splits", "preprocessing", "expected")
"""Keys of corpora whose entries are inherited one by one."""
_SUBWORDS = ("bpe_merges", "sentencepiece", "subwords")
_OF_SUBWORDS = (*_SUBWORDS, "sentencepiece_normalisation")


def without(content: Mapping[str, Any], *keys: str) -> Content:
    """A mapping without some keys."""
    return {key: value for key, value in content.items() if key not in keys}


def merged(base: Mapping[str, Any], change: Mapping[str, Any]) -> Content:
    """`base` with the keys of `change`, merged recursively; the order of `base` is kept.

    A mapping that names another `method` replaces the old one completely, because its options are
    different. So does a `text` of another kind (`distilled`, `mixed`, ...), a length of a recipe in
    another unit (`epochs` for `updates`), in a scale `as` the changes of a recipe, or they it, and
    a `recipe` of a system that is `like` another one. What is not changed is shared with `base`, so
    no one may change it in place.
    """
    replaced = {other for key in change for other in _REPLACES.get(key, ()) if other not in change}
    content = without(base, *replaced)
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


def changed_recipe(recipe: Mapping[str, Any], change: Mapping[str, Any]) -> Content:
    """A recipe with other keys, in which lengths that are not given follow its `updates`.

    These are `warmup_updates`, `save_every`, `validate_every` and the updates of `keep`; `patience`
    follows the number of validations. Each is at least 1 (a warm-up of 0 stays); as many
    validations as before belong to a checkpoint.
    """
    result = merged(recipe, change)
    lengths = [value for key in LENGTHS for _, value in leaves(result.get(key))]
    if not all(isinstance(value, int | float | None) for value in lengths):
        return result  # which is refused
    stated = recipe.get("updates", result.get("reference_updates"))
    if isinstance(change.get("updates"), int) and isinstance(stated, int):

        def follow(length: int) -> int:
            return max(1, round(length * change["updates"] / stated))

        for key in _FOLLOW:
            if result.get(key) and key not in change:
                result[key] = follow(result[key])
        save, validate = recipe.get("save_every"), recipe.get("validate_every")
        if save and validate and change.keys().isdisjoint(("save_every", "validate_every")):
            result["save_every"] = result["validate_every"] * (save // validate)
        if isinstance(result.get("keep"), dict):
            kept = {name: follow(update) for name, update in result["keep"].items()}
            result["keep"] = kept | change.get("keep", {})
    before, after = _validations(recipe), _validations(result)
    if result.get("patience") and "patience" not in change and before and after:
        result["patience"] = max(1, round(result["patience"] * after / before))
    return result


def _validations(recipe: Mapping[str, Any]) -> float | None:
    """Number of validations of a training; `None` if its lengths are in different units."""
    if recipe.get("updates") and recipe.get("validate_every"):
        return float(recipe["updates"] / recipe["validate_every"])
    if recipe.get("epochs") and recipe.get("validations_per_epoch"):
        return float(recipe["epochs"] * recipe["validations_per_epoch"])
    return None


def merged_scale(base: Content, change: Content) -> Content:
    """A scale with the keys of another; lengths of its recipes follow their `updates`."""
    content = merged(base, change)
    recipes = validated(dict[str, dict[str, Any]], change.get("recipes", {}), "'recipes'")
    for name, own in recipes.items():
        before = base.get("recipes", {}).get(name, {})
        if "updates" in before and ("as" in own) == ("as" in before):
            content["recipes"][name] = changed_recipe(before, own)
    return content


def merged_corpus(base: Content, change: Content) -> Content:
    """A corpus with the keys of another, of some keys single entries."""
    content = {**base, **change}
    for key in _BY_ENTRY:
        old, new = base.get(key), change.get(key)
        if isinstance(old, dict) and isinstance(new, dict):
            content[key] = old | new
    return _with_subwords_of(change, content)


def changed_corpus(base: Content, change: Content) -> Content:
    """A corpus with single keys changed, at any depth."""
    return _with_subwords_of(change, merged(base, change))


def _with_subwords_of(change: Content, corpus: Content) -> Content:
    """A changed corpus without the subwords that it had before, where the change gives others."""
    own = {key for path, _ in leaves(change) for key in path.split(".")}
    if own.isdisjoint(_SUBWORDS):
        return corpus
    others = [key for key in _OF_SUBWORDS if key not in own]
    preprocessing = without(corpus.get("preprocessing", {}), *others)
    return {**without(corpus, *others), "preprocessing": preprocessing}

"""Lengths of a training: in updates, or in passes over its text (epochs).

A recipe gives each length in one of two units. Epochs are converted to updates when the training
starts, since the number of batches per epoch is not known earlier.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from nat.configuration.models import Recipe
from nat.errors import UserError

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


@dataclass(frozen=True)
class Lengths:
    """The lengths of a recipe in updates."""

    updates: int
    warmup_updates: int
    save_every: int
    validate_every: int


def without_replaced(recipe: Mapping[str, Any], change: Mapping[str, Any]) -> dict[str, Any]:
    """A recipe without the lengths that a change gives in the other unit."""
    replaced = {other for key in change for other in _REPLACES.get(key, ()) if other not in change}
    return {key: value for key, value in recipe.items() if key not in replaced}


def in_proportion(
    recipe: Mapping[str, Any], changed: Mapping[str, Any], change: Mapping[str, Any]
) -> dict[str, Any]:
    """A changed recipe in which lengths that the change does not give follow its `updates`.

    These are `warmup_updates`, `save_every`, `validate_every` and the updates of `keep`; `patience`
    follows the number of validations. Each is at least 1 (a warm-up of 0 stays); as many
    validations as before belong to a checkpoint. `recipe` is as its file gives it, or as a scale
    makes it, and `changed` the same with a `change` of it.
    """
    result = dict(changed)
    stated = recipe.get("updates", changed.get("reference_updates"))
    if isinstance(change.get("updates"), int) and isinstance(stated, int):

        def follow(length: int) -> int:
            return max(1, round(length * change["updates"] / stated))

        for key in _FOLLOW:
            if result.get(key) and key not in change:
                result[key] = follow(result[key])
        save, validate = recipe.get("save_every"), recipe.get("validate_every")
        if save and validate and change.keys().isdisjoint(("save_every", "validate_every")):
            result["save_every"] = result["validate_every"] * (save // validate)
        if "keep" in result:
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


def counts_epochs(recipe: Recipe) -> bool:
    """True if a recipe gives a length in epochs."""
    return any(getattr(recipe, key) is not None for key in UNITS)


def check_lengths(recipe: Recipe, where: str) -> None:
    """Check that each length is given in one unit, and that lengths fit each other."""
    for epochs, updates in UNITS.items():
        missing = [key for key in updates if getattr(recipe, key) is None]
        in_epochs = getattr(recipe, epochs) is not None
        if missing and not in_epochs:
            raise UserError(f"{where}: missing key '{missing[0]}' (or '{epochs}')")
        if in_epochs and len(missing) < len(updates):
            raise UserError(f"{where}: give either '{updates[0]}' or '{epochs}', not both")
    if not counts_epochs(recipe):
        in_updates(recipe, None, where)
    elif recipe.epochs is not None and (recipe.warmup_epochs or 0) >= recipe.epochs:
        raise UserError(f"{where}: key 'warmup_epochs': expected less than {recipe.epochs:g}")


def in_updates(recipe: Recipe, updates_per_epoch: float | None, where: str) -> Lengths:
    """All lengths of a recipe in updates, rounded to at least one (a warm-up to none).

    The updates of an epoch, batches of a pass over the training text / batches of an update, are
    None for a recipe that gives no length in epochs; `where` is for messages.
    """
    updates, warmup = recipe.updates, recipe.warmup_updates
    save, validate = recipe.save_every, recipe.validate_every
    if updates_per_epoch is not None:
        if recipe.epochs is not None:
            updates = max(1, round(recipe.epochs * updates_per_epoch))
        if recipe.warmup_epochs is not None:
            warmup = round(recipe.warmup_epochs * updates_per_epoch)
        if recipe.validations_per_epoch is not None:
            save = validate = max(1, round(updates_per_epoch / recipe.validations_per_epoch))
    assert updates and warmup is not None and save and validate
    limits = {"warmup_updates": (warmup, updates - 1)}
    limits |= {f"keep.{name}": (update, updates) for name, update in (recipe.keep or {}).items()}
    for key, (given, most) in limits.items():
        if given > most:
            raise UserError(
                f"{where}: key '{key}': found {given}, expected at most {most}: 'updates' is "
                f"{updates}"
            )
    if save % validate:
        raise UserError(
            f"{where}: key 'validate_every': found {validate}, expected 'save_every', {save}, or a "
            "divisor of it: every checkpoint is validated"
        )
    if recipe.keep and recipe.patience is not None:
        raise UserError(
            f"{where}: key 'patience': found {recipe.patience}, expected null: a training that may "
            "end early cannot promise the checkpoints of 'keep'"
        )
    return Lengths(updates, warmup, save, validate)


def estimated_tokens(recipe: Recipe, tokens_per_epoch: float) -> float:
    """Tokens that a training will see; those of an epoch are 0 where they are not known."""
    if recipe.epochs is None:
        assert recipe.updates is not None
        return float(recipe.updates * recipe.batch_tokens)
    whole_updates = math.ceil(recipe.epochs * tokens_per_epoch / recipe.batch_tokens)
    return float(whole_updates * recipe.batch_tokens)

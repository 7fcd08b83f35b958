"""How long a training is: in updates, or in passes over its text (epochs).

A recipe gives each length in one of two units. Epochs are converted to updates when the training
starts, since the number of batches per epoch is not known earlier.
"""

import math
from collections.abc import Mapping
from typing import Any

from nat.errors import UserError

UNITS = (
    (("updates",), ("epochs",)),
    (("warmup_updates",), ("warmup_epochs",)),
    (("save_every", "validate_every"), ("validations_per_epoch",)),
)
"""Keys of a recipe that say the same length in updates and in epochs; one of both is given."""


def without_replaced(recipe: Mapping[str, Any], change: Mapping[str, Any]) -> dict[str, Any]:
    """A recipe without the lengths that a change gives in the other unit."""
    replaced = {
        key
        for pair in UNITS
        for unit, other in (pair, pair[::-1])
        if any(key in change for key in unit)
        for key in other
        if key not in change
    }
    return {key: value for key, value in recipe.items() if key not in replaced}


def check_lengths(recipe: Mapping[str, Any], where: str) -> None:
    """Check that each length is given in one unit, and that lengths fit each other.

    Args:
        recipe: with all changes.
        where: its files, for messages.

    Raises:
        UserError: names files and key.
    """
    for updates, epochs in UNITS:
        given = [key for key in (*updates, *epochs) if key in recipe]
        in_epochs = epochs[0] in given
        if in_epochs and len(given) > 1:
            raise UserError(f"{where}: give either '{given[0]}' or '{epochs[0]}', not both")
        missing = [key for key in updates if key not in given]
        if missing and not in_epochs:
            raise UserError(f"{where}: missing key '{missing[0]}' (or '{epochs[0]}')")
    if not counts_epochs(recipe):
        check_updates(recipe, where)


def counts_epochs(recipe: Mapping[str, Any]) -> bool:
    """Whether a recipe gives a length in epochs."""
    return any(epochs[0] in recipe for _, epochs in UNITS)


def check_updates(recipe: Mapping[str, Any], where: str) -> None:
    """Check that the lengths of a recipe, all in updates, fit each other.

    Raises:
        UserError: names `where` and the key.
    """
    updates = recipe["updates"]
    if recipe["warmup_updates"] >= updates:
        raise UserError(
            f"{where}: key 'warmup_updates': found {recipe['warmup_updates']}, expected less "
            f"than 'updates', {updates}"
        )
    save, validate = recipe["save_every"], recipe["validate_every"]
    if max(save, validate) % min(save, validate):
        raise UserError(
            f"{where}: key 'validate_every': found {validate}, expected a multiple or a "
            f"divisor of 'save_every', {save}: what is averaged is both saved and validated"
        )
    for name, update in recipe.get("keep", {}).items():
        if update > updates:
            raise UserError(
                f"{where}: key 'keep.{name}': found {update}, expected at most 'updates', {updates}"
            )
    if recipe.get("keep") and recipe["patience"] is not None:
        raise UserError(
            f"{where}: key 'patience': found {recipe['patience']}, expected null: a training that "
            "may end early cannot promise the checkpoints of 'keep'"
        )


def in_updates(
    recipe: Mapping[str, Any], updates_per_epoch: float | None, where: str
) -> dict[str, Any]:
    """A recipe with all lengths in updates.

    Args:
        recipe: as configured.
        updates_per_epoch: batches of one pass over the training text / batches of an update;
            None for a recipe that gives no length in epochs.
        where: the training, for messages.

    Returns:
        The recipe with `updates`, `warmup_updates`, `save_every` and `validate_every`, each rounded
        to at least one update (a warm-up to none).

    Raises:
        UserError: if the lengths do not fit each other.
    """
    if not counts_epochs(recipe):
        return dict(recipe)
    assert updates_per_epoch is not None
    given = {key: value for key, value in recipe.items() if key not in _IN_EPOCHS}
    if "epochs" in recipe:
        given["updates"] = max(1, round(recipe["epochs"] * updates_per_epoch))
    if "warmup_epochs" in recipe:
        given["warmup_updates"] = round(recipe["warmup_epochs"] * updates_per_epoch)
    if "validations_per_epoch" in recipe:
        every = max(1, round(updates_per_epoch / recipe["validations_per_epoch"]))
        given["save_every"] = given["validate_every"] = every
    check_updates(given, where)
    return given


def estimated_tokens(recipe: Mapping[str, Any], tokens_per_epoch: float) -> float:
    """Tokens that a training will see, before its text exists.

    Args:
        recipe: as configured.
        tokens_per_epoch: tokens of the training text; 0 where its size is not known.
    """
    if "updates" in recipe:
        return float(recipe["updates"] * recipe["batch_tokens"])
    whole_updates = math.ceil(recipe["epochs"] * tokens_per_epoch / recipe["batch_tokens"])
    return float(whole_updates * recipe["batch_tokens"])


_IN_EPOCHS = [epochs[0] for _, epochs in UNITS]

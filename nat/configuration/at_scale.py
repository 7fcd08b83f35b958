"""What the scale and the command line change in the files of systems and recipes."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from nat.configuration.families import Content, merged
from nat.configuration.files import file_of
from nat.configuration.lengths import in_proportion
from nat.errors import UserError

if TYPE_CHECKING:
    from nat.configuration.configuration import Configuration


def at_scale(configuration: "Configuration", folder: str, name: str) -> Content:
    """What the file of an entry says, with these changes."""
    written = configuration.files[folder][name]
    if folder == "recipes":
        return _recipe(configuration, name)
    return _system(written, _scale(configuration)) if folder == "systems" else written


def place(configuration: "Configuration", folder: str, name: str) -> str:
    """The files that say what `at_scale` returns, for messages."""
    scale = file_of("scales", configuration.scale)
    if folder == "recipes":
        chain = replacements(configuration, name)
        overridden = [each for each in chain if each in configuration.overrides.recipes]
        # what replaces a recipe leaves nothing of it but its own overrides
        where = configuration.file_of("recipes", [*overridden, chain[-1]][0])
        where += f" with {scale}" if name in _scale(configuration)["recipes"] else ""
        return f"{where} with 'override'" if overridden else where
    where, written = configuration.file_of(folder, name), configuration.files[folder].get(name)
    changed = folder == "systems" and at_scale(configuration, folder, name) != written
    return f"{where} with {scale}" if changed else where


def replacements(configuration: "Configuration", recipe: str) -> list[str]:
    """A recipe, and the one that replaces it at this scale (key `as`), and so on.

    Raises:
        UserError: for a circle.
    """
    chain = [recipe]
    while other := _scale(configuration)["recipes"].get(chain[-1], {}).get("as"):
        if other in chain:
            raise UserError(
                f"{file_of('scales', configuration.scale)}: key 'recipes.{chain[-1]}.as': recipes "
                f"replace each other in a circle: {' -> '.join([*chain, other])}"
            )
        chain.append(other)
    return chain


def length_ratio(configuration: "Configuration", name: str) -> float:
    """Length for which a recipe's constants are stated, in lengths that it has at this scale.

    1 where either length is in epochs, whose updates are not known before the training.
    """
    recipe, of_file = _recipe(configuration, name), replacements(configuration, name)[-1]
    of_paper = configuration.files["recipes"][of_file].get("updates")
    stated = recipe.get("reference_updates", of_paper)
    return stated / recipe["updates"] if stated and "updates" in recipe else 1.0


def _scale(configuration: "Configuration") -> Content:
    return configuration.files["scales"][configuration.scale]


def _recipe(configuration: "Configuration", name: str) -> Content:
    change = _scale(configuration)["recipes"].get(name, {})
    change = merged(change, configuration.overrides.recipes.get(name, {}))
    other = change.pop("as", None)
    base = configuration.files["recipes"][name] if other is None else _recipe(configuration, other)
    recipe = in_proportion(base, merged(base, change), change)
    return {key: recipe[key] for key in recipe if key not in ("description", "tasks")}


def _system(written: Content, scale: Mapping[str, Any]) -> Content:
    """A system with its network parts and the regulariser of its text as the scale changes them."""
    changes, of_scale = {}, scale.get("parts", {})
    if of_scale and written.get("parts"):
        parts = written["parts"].items()
        changes["parts"] = {name: {**own, **of_scale.get(name, {})} for name, own in parts}
    text = written["text"]
    for kind, choice in text.items() if isinstance(text, Mapping) else ():
        if regulariser := choice.get("regulariser"):
            regulariser = {**regulariser, **scale.get("regulariser", {})}
            changes["text"] = {kind: {**choice, "regulariser": regulariser}}
    return {**written, **changes}

"""Changes of the files of `config/` by each other and by the command line.

They are made before the files are validated, which then are as if they had been written so.
"""

from collections.abc import Mapping
from typing import Any

from nat.configuration.families import (
    Content,
    Origin,
    changed_corpus,
    family_of,
    merged,
    options_in,
    require,
)
from nat.configuration.files import FOLDERS
from nat.configuration.overrides import NAMED, SCALE, Change, RunChoice
from nat.options import nested

Files = dict[str, dict[str, Content]]
Origins = dict[str, dict[str, Origin]]


def mapping(value: Any) -> Mapping[str, Any]:
    """A mapping of a file; an empty one in the place of anything else, which is refused later."""
    return value if isinstance(value, Mapping) else {}


def name_recipes(files: Files, origins: Origins) -> None:
    """Name the recipes that systems describe themselves: `recipe: {like: student, dropout: 0.2}`.

    Each becomes an entry that every scale makes of the one that it is like.
    """
    for name, system in files["systems"].items():
        place = f"{origins['systems'][name].place}: key 'recipe"
        tasks = dict(mapping(system.get("tasks")))
        for task, change in tasks.items():
            if "recipe" in mapping(change):
                own = merged({"recipe": system.get("recipe")}, change)
                recipe = _named_recipe(files, origins, own["recipe"], f"{name}:{task}", place)
                tasks[task] = {**own, "recipe": recipe}
        recipe = _named_recipe(files, origins, system.get("recipe"), name, place)
        changed = {"recipe": recipe, "tasks": tasks}
        system.update({key: changed[key] for key in changed if key in system})


def _named_recipe(files: Files, origins: Origins, recipe: Any, name: str, place: str) -> Any:
    if not isinstance(recipe, Mapping):
        return recipe
    like = require(str(recipe.get("like")), files["recipes"], "recipe", f"{place}.like'")
    change, name = {key: recipe[key] for key in recipe if key != "like"}, f"{name}:recipe"
    files["recipes"][name] = merged(files["recipes"][like], change)
    origins["recipes"][name] = Origin(f"{place}'", like)
    for scale in files["scales"].values():
        scale["recipes"] = {**mapping(scale.get("recipes")), name: {"as": like, **change}}
    return name


def override(choice: RunChoice, files: Files, origins: Origins) -> dict[str, dict[str, Content]]:
    """Change files as the command line says; returns the changes by folder and name.

    Recipes are changed when a scale has made them. A changed corpus gets a name of its own, since
    corpora are made once for all runs.
    """
    changes: dict[str, dict[str, Content]] = {}
    scale, origin = files["scales"][choice.scale], origins["scales"][choice.scale]
    if choice.parsed:
        origins["scales"][choice.scale] = Origin(f"{origin.place} with 'override'")
    for each in choice.parsed:
        name, path = named(each, scale, files) if each.kind in NAMED else ("", each.path)
        change = nested(path, each.value)
        if each.kind == "sizes":
            change = {"sizes": {name: change}}
        if each.kind in (SCALE, "sizes"):
            scale.update(merged(scale, change))
        elif name:
            own = changes.setdefault(each.kind, {})
            own[name] = merged(own.get(name, {}), change)
    for folder in ("systems", "decodings"):
        for name, change in changes.get(folder, {}).items():
            changed_entry(files, origins, folder, name, change)
    for name, change in changes.get("corpora", {}).items():
        for old, new in changed_corpora(files, origins, name, f"@{choice.name}", change).items():
            tasks = scale["tasks"].items()
            scale["tasks"] = {task: renamed_task(its, old, new) for task, its in tasks}
    return changes


def named(change: Change, scale: Content, files: Files) -> tuple[str, tuple[str, ...]]:
    """The name in the path of a change, which may have dots, and the keys after it."""
    known = scale["sizes"] if change.kind == "sizes" else files[change.kind]
    for length in range(len(change.path) - 1, 1, -1):
        name = ".".join(change.path[:length])
        if family_of(name, known):
            return name, change.path[length:]
    what = FOLDERS.get(change.kind, "size")
    require(change.path[0], known, what, f"{change.where}: key '{change.kind}'")
    return change.path[0], change.path[1:]


def changed_entry(files: Files, origins: Origins, folder: str, name: str, change: Content) -> None:
    """Change an entry, or one of a family, on every task."""
    family = family_of(name, files[folder]) or name
    content = merged(merged(files[folder][family], options_in(family, name)), change)
    if tasks := mapping(content.get("tasks")):
        content["tasks"] = {task: merged(mapping(its), change) for task, its in tasks.items()}
    files[folder][name] = content
    origin = origins[folder][family]
    origins[folder][name] = origin._replace(place=f"{origin.place} with 'override'")


def changed_corpora(
    files: Files, origins: Origins, name: str, suffix: str, change: Content
) -> dict[str, str]:
    """Add a changed corpus, and those that are derived from it; returns their names by the old."""
    corpora, new = files["corpora"], name + suffix
    corpora[new] = changed_corpus(corpora.get(new, corpora[name]), change)
    origins["corpora"][new] = Origin(f"{origins['corpora'][name].place} with 'override'", name)
    names = {name: new}
    for other, its in list(corpora.items()):
        if mapping(its.get("derived")).get("from") == name:
            from_new = {"derived": {"from": new}}
            names |= changed_corpora(files, origins, other, suffix, from_new)
    return names


def renamed_task(its: Any, old: str, new: str) -> Any:
    """What a scale uses for a task, with another corpus if it is a given one."""
    if isinstance(its, Mapping):
        return {**its, "corpus": renamed_task(its.get("corpus"), old, new)}
    return new if its == old else its

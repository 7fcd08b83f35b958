"""Changes of the files of `config/` by the command line."""

from collections.abc import Iterable, Mapping
from typing import Any

from nat.configuration.families import Origin, family_of, require
from nat.configuration.files import FOLDERS
from nat.configuration.merging import Content, changed_corpus, merged
from nat.configuration.overrides import SCALE, Change, RunChoice
from nat.options import nested

Files = dict[str, dict[str, Content]]
Origins = dict[str, dict[str, Origin]]
Changed = dict[str, dict[str, Content]]
"""By folder and name, the keys of an entry that the command line changes."""


def override(choice: RunChoice, files: Files, origins: Origins) -> Changed:
    """Change the scale and corpora as the command line says; returns the changes of other entries.

    These come after those of tasks and scale. A changed corpus gets a name of its own, since
    corpora are made once for all runs.
    """
    scale, origin = files["scales"][choice.scale], origins["scales"][choice.scale]
    if choice.parsed:
        origins["scales"][choice.scale] = Origin(f"{origin.place} with 'override'")
    for each in (each for each in choice.parsed if each.kind == SCALE):
        scale.update(merged(scale, nested(each.path, each.value)))
    changed = by_name((each for each in choice.parsed if each.kind in files), scale, files)
    sizes = by_name((each for each in choice.parsed if each.kind == "sizes"), scale, files)
    scale.update(merged(scale, sizes))
    for name, change in changed.pop("corpora", {}).items():
        for old, new in changed_corpora(files, origins, name, f"@{choice.name}", change).items():
            tasks = scale["tasks"].items()
            scale["tasks"] = {task: renamed_task(its, old, new) for task, its in tasks}
    return changed


def by_name(changes: Iterable[Change], scale: Content, files: Files) -> Changed:
    """Changes by their kind and by the name of what they change, whose parts may have dots."""
    changed: Changed = {}
    for each in changes:
        known = scale["sizes"] if each.kind == "sizes" else files[each.kind]
        names = [".".join(each.path[:length]) for length in range(len(each.path) - 1, 0, -1)]
        name = next((name for name in names if family_of(name, known)), each.path[0])
        what = FOLDERS.get(each.kind, "size")
        require(name, known, what, f"{each.where}: key '{each.kind}'")
        change = nested(each.path[name.count(".") + 1 :], each.value)
        own = changed.setdefault(each.kind, {})
        own[name] = merged(own.get(name, {}), change)
    return changed


def changed_corpora(
    files: Files, origins: Origins, name: str, suffix: str, change: Content
) -> dict[str, str]:
    """Add a changed corpus, and those that are derived from it; returns their names by the old."""
    corpora, new = files["corpora"], name + suffix
    corpora[new] = changed_corpus(corpora.get(new, corpora[name]), change)
    origins["corpora"][new] = Origin(f"{origins['corpora'][name].place} with 'override'", name)
    names = {name: new}
    for other, its in list(corpora.items()):
        if its.get("derived", {}).get("from") == name:
            from_new = {"derived": {"from": new}}
            names |= changed_corpora(files, origins, other, suffix, from_new)
    return names


def renamed_task(its: Any, old: str, new: str) -> Any:
    """What a scale uses for a task, with another corpus if it is a given one."""
    if isinstance(its, Mapping):
        return {**its, "corpus": renamed_task(its["corpus"], old, new)}
    return new if its == old else its

"""Copies of everything that the values of a sweep change: `nat-kd@learning_rate=1e-3`.

They are entries beside the others, so that one graph makes all values, and what no value changes is
made once.
"""

from collections.abc import Mapping
from typing import Any

from nat.configuration.changes import (
    Changed,
    Files,
    Origins,
    by_name,
    changed_corpora,
    renamed_task,
)
from nat.configuration.families import family_of, options_in
from nat.configuration.merging import Content, merged
from nat.configuration.overrides import Point, RunChoice
from nat.configuration.references import WITH_TASKS, references, renamed


def add_copies(choice: RunChoice, files: Files, origins: Origins, overridden: Changed) -> None:
    """Add the copies of all points of a sweep.

    Papers have a figure of them for each table of numbers, and no others, and no claims.
    """
    for point in choice.points:
        _add(choice, files, origins, overridden, point)
    keys = ", ".join(choice.points[0].values) if choice.points else ""
    for paper in files["papers"].values() if keys else ():
        figures = {
            f"sweep_{name}": {
                "title": f"{its.get('title')}, by {keys}",
                "kind": "sweep",
                "x": {"label": keys.partition(",")[0], "even": True},
            }
            for name, its in _mapping(paper.get("tables")).items()
            if _mapping(its).get("kind", "grid") == "grid"
        }
        paper.update(figures=figures, claims={})


def _mapping(value: Any) -> Mapping[str, Any]:
    """A mapping of a paper; an empty one in the place of anything else, which is refused later."""
    return value if isinstance(value, Mapping) else {}


def _add(
    choice: RunChoice, files: Files, origins: Origins, overridden: Changed, point: Point
) -> None:
    scale, end = files["scales"][choice.scale], point.name
    changed: Changed = {folder: {} for folder in (*WITH_TASKS, "sizes", "corpora")}
    changed |= by_name(point.changes, scale, files)
    for folder in WITH_TASKS:
        overridden.setdefault(folder, {})
    _add_heirs(changed, files, scale, overridden)
    for name, change in changed["sizes"].items():
        scale["sizes"] = {**scale["sizes"], name + end: merged(scale["sizes"][name], change)}
        if most := scale.get("tokens_per_device", {}).get(name):
            scale["tokens_per_device"] = {**scale["tokens_per_device"], name + end: most}
    for folder in WITH_TASKS:
        of_scale = {"recipes": "recipes", "systems": "targets"}.get(folder, "")
        for name, change in changed[folder].items():
            new, family = name + end, family_of(name, files[folder]) or name
            content = merged(files[folder][family], options_in(family, name))
            files[folder][new] = _copy(content, changed, end)
            origins[folder][new] = origins[folder][family]._replace(base=name)
            own = overridden[folder]
            own[new] = merged(_copy(own.get(name, {}), changed, end), change)
            if name in scale.get(of_scale, {}):
                copied = _copy(scale[of_scale][name], changed, end)
                scale[of_scale] = {**scale[of_scale], new: copied}
    for name, change in changed["corpora"].items():
        for old, new in changed_corpora(files, origins, name, end, change).items():
            _add_tasks(files, scale, old, new, end)


def _add_heirs(changed: Changed, files: Files, scale: Content, overridden: Changed) -> None:
    """Add entries that refer to changed ones, and so on."""
    before = -1
    while before != (before := sum(map(len, changed.values()))):
        for folder in WITH_TASKS:
            for name, content in files[folder].items():
                of_scale = scale["recipes"].get(name) if folder == "recipes" else None
                named = references([content, of_scale, overridden[folder].get(name)])
                if any(_is_copied(changed, *each[1:]) for each in named):
                    changed[folder].setdefault(name, {})


def _is_copied(changed: Changed, folder: str, name: str) -> bool:
    return family_of(name, changed.get(folder, {})) is not None


def _copy(content: Content, changed: Changed, end: str) -> Content:
    """An entry that refers to copies instead of what they are copies of."""
    for folder in changed:
        named_there = (name for _, each, name in references(content) if each == folder)
        names = {name: name + end for name in named_there if _is_copied(changed, folder, name)}
        content = renamed(content, names, folder)
    return content


def _add_tasks(files: Files, scale: Content, old: str, new: str, end: str) -> None:
    """Add a task for each that a corpus is used for, with all that is different on it."""
    for task, its in list(scale["tasks"].items()):
        if (moved := renamed_task(its, old, new)) != its:
            scale["tasks"] = {**scale["tasks"], task + end: moved}
            for content in (content for folder in WITH_TASKS for content in files[folder].values()):
                if task in content.get("tasks", {}):
                    content["tasks"] = {**content["tasks"], task + end: content["tasks"][task]}

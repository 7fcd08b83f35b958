"""Changes of the files of `config/` by the command line: overrides and sweeps.

A sweep makes copies of everything that its values change, such as `nat-kd@learning_rate=1e-3`. They
are entries beside the others, so that one graph makes all values, and what no value changes is made
once.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from nat.configuration.families import Origin, family_of, options_in, require
from nat.configuration.files import kind_of
from nat.configuration.json_values import WITH_TASKS, references, renamed
from nat.configuration.merging import Content, changed_corpus, merged
from nat.configuration.overrides import SCALE, Change, RunChoice
from nat.errors import UserError
from nat.options import nested

Files = dict[str, dict[str, Content]]
"""By folder and name, an entry, or the keys of it that the command line changes."""
Origins = dict[str, dict[str, Origin]]


def override(choice: RunChoice, files: Files, origins: Origins) -> Files:
    """Change the scale and corpora as the command line says; returns the changes of other entries.

    These come after those of tasks and scale. A changed corpus gets a name of its own, since
    corpora are made once for all runs.
    """
    scale, origin = files["scales"][choice.scale], origins["scales"][choice.scale]
    if choice.parsed:
        origins["scales"][choice.scale] = Origin(f"{origin.place} with 'override'")
    for each in (each for each in choice.parsed if each.kind == SCALE):
        scale.update(merged(scale, nested(each.path, each.value)))
    changed = _by_name((each for each in choice.parsed if each.kind in files), scale, files)
    sizes = _by_name((each for each in choice.parsed if each.kind == "sizes"), scale, files)
    scale.update(merged(scale, sizes))
    for name, change in changed.pop("corpora", {}).items():
        for old, new in _changed_corpora(files, origins, name, f"@{choice.name}", change).items():
            tasks = scale["tasks"].items()
            scale["tasks"] = {task: _renamed_task(its, old, new) for task, its in tasks}
    return changed


def _by_name(changes: Iterable[Change], scale: Content, files: Files) -> Files:
    """Changes by their kind and by the name of what they change, whose parts may have dots."""
    changed: Files = {}
    for each in changes:
        known = scale["sizes"] if each.kind == "sizes" else files[each.kind]
        names = [".".join(each.path[:length]) for length in range(len(each.path) - 1, 0, -1)]
        name = next((name for name in names if family_of(name, known)), each.path[0])
        require(name, known, kind_of(each.kind), f"{each.where}: key '{each.kind}'")
        path = each.path[name.count(".") + 1 :]
        if path[0] in ("like", "name", "variants", "tasks"):
            raise UserError(f"{each.where}: key '{path[0]}' is not one that can be overridden")
        change = nested(path, each.value)
        own = changed.setdefault(each.kind, {})
        own[name] = merged(own.get(name, {}), change)
    return changed


def _changed_corpora(
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
            names |= _changed_corpora(files, origins, other, suffix, from_new)
    return names


def _renamed_task(its: Any, old: str, new: str) -> Any:
    """What a scale uses for a task, with another corpus if it is a given one."""
    if isinstance(its, Mapping):
        return {**its, "corpus": _renamed_task(its["corpus"], old, new)}
    return new if its == old else its


def add_copies(choice: RunChoice, files: Files, origins: Origins, overridden: Files) -> None:
    """Add the copies of all points of a sweep, those of a key after those of the keys before it.

    Papers have figures of them alone, see `nat.papers.relation`, and no claims.
    """
    scale = files["scales"][choice.scale]
    for place in range(len(choice.swept)):
        values = {point.ends[place]: point.changes[place] for point in choice.points}
        changed = {end: _with_copies(change, scale, files) for end, change in values.items()}
        for end, of_value in changed.items():
            _add(scale, files, origins, overridden, of_value, end)
    for paper in files["papers"].values() if choice.points else ():
        paper.update(figures={}, claims={})


def _with_copies(change: Change, scale: Content, files: Files) -> Files:
    """A change of an entry, and of the copies that the keys before made of it."""
    changed: Files = {folder: {} for folder in (*WITH_TASKS, "sizes", "corpora")}
    for folder, entries in _by_name([change], scale, files).items():
        known = scale["sizes"] if folder == "sizes" else files[folder]
        for name, own in entries.items():
            copies = (each for each in known if each.startswith(f"{name}@"))
            changed[folder] = dict.fromkeys([name, *copies], own)
    return changed


def _add(
    scale: Content, files: Files, origins: Origins, overridden: Files, changed: Files, end: str
) -> None:
    """Add copies, whose names have this end, of what one value changes and of what refers to it."""
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
        for old, new in _changed_corpora(files, origins, name, end, change).items():
            _add_tasks(files, scale, old, new, end)


def _add_heirs(changed: Files, files: Files, scale: Content, overridden: Files) -> None:
    """Add entries that refer to changed ones, and so on."""
    before = -1
    while before != (before := sum(map(len, changed.values()))):
        for folder in WITH_TASKS:
            for name, content in files[folder].items():
                of_scale = scale["recipes"].get(name) if folder == "recipes" else None
                named = references([content, of_scale, overridden[folder].get(name)])
                if any(family_of(other, changed.get(kind, {})) for _, kind, other in named):
                    changed[folder].setdefault(name, {})


def _copy(content: Content, changed: Files, end: str) -> Content:
    """An entry that refers to copies instead of what they are copies of."""
    for folder in changed:
        named_there = (name for _, each, name in references(content) if each == folder)
        names = {name: name + end for name in named_there if family_of(name, changed[folder])}
        content = renamed(content, names, folder)
    return content


def _add_tasks(files: Files, scale: Content, old: str, new: str, end: str) -> None:
    """Add a task for each that a corpus is used for, with all that is different on it."""
    for task, its in list(scale["tasks"].items()):
        if (moved := _renamed_task(its, old, new)) != its:
            scale["tasks"] = {**scale["tasks"], task + end: moved}
            for content in (content for folder in WITH_TASKS for content in files[folder].values()):
                if task in content.get("tasks", {}):
                    content["tasks"] = {**content["tasks"], task + end: content["tasks"][task]}

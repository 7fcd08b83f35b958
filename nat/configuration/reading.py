"""Reading the files of the configuration."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from nat.configuration import families
from nat.configuration.configuration import Configuration
from nat.configuration.corpora import resolved
from nat.configuration.file_names import FOLDERS, SETTINGS, file_of
from nat.configuration.models import MODELS, Settings, read_model
from nat.configuration.overrides import Choice, read_overrides
from nat.configuration.yaml_file import NAME, read_yaml
from nat.errors import UserError
from nat.spelling import hint


def read(choice: Choice | str | None, root: Path, checked: bool = True) -> Configuration:
    """Read all files in `root / "config"`.

    Relations between files are not checked here, see `checks`.

    Args:
        choice: scale, name and overrides of the command line; or only the scale.
        root: folder that holds `config/`.
        checked: whether to validate each file now; otherwise what is asked for is validated then.

    Raises:
        UserError: for a folder that is missing, a file that cannot be read or has a wrong name or
            content, and an unknown scale.
    """
    if not isinstance(choice, Choice):
        choice = Choice(choice)
    given = read_yaml(root, SETTINGS)
    settings = read_model(Settings, given, SETTINGS)
    files, places, bases_first = {}, {}, {}
    bases: dict[str, str] = {}
    for folder, kind in FOLDERS.items():
        files[folder] = _read_folder(root, folder)
        # a corpus is like one that is like no other
        bases_first[folder] = sorted(files[folder], key=lambda name: "like" in files[folder][name])
        if folder in families.FOLDERS:
            found = families.expanded(files[folder], folder, kind)
            files[folder], places[folder] = found.contents, found.places
            bases_first[folder] = found.bases_first
            bases = found.bases if folder == "systems" else bases
        if folder == "scales":
            files[folder] = _without_dropped_tasks(found.contents, found.bases)
        now = checked and folder != "papers"  # each of these is validated when it is asked for
        for name in bases_first[folder] if now else ():
            content = files[folder][name]
            place = places.get(folder, {}).get(name, file_of(folder, name))
            read_model(MODELS[folder], content, place)
            for task in content.get("tasks", {}) if folder in families.WITH_TASKS else ():
                change = families.on_task(content, task)
                read_model(MODELS[folder], change, f"{place}: 'tasks.{task}'")
    files["corpora"] = resolved(files["corpora"])
    scale = settings.scale if choice.scale is None else choice.scale
    if scale not in files["scales"]:
        origin = f"{SETTINGS}: " if choice.scale is None else ""
        raise UserError(f"{origin}unknown scale '{scale}'; {hint(scale, files['scales'])}")
    overrides = read_overrides(choice.name, choice.override, files["recipes"])
    settings = settings.model_copy(update=dict(overrides.settings))
    return Configuration(
        root, scale, settings, files, places, overrides, bases, bases_first, checked=checked
    )


def _without_dropped_tasks(
    scales: Mapping[str, dict[str, Any]], bases: Mapping[str, str]
) -> dict[str, dict[str, Any]]:
    """Scales without the inherited tasks that they set to null.

    Raises:
        UserError: for null at a task that is not inherited.
    """
    found = dict(scales)
    for name, scale in scales.items():
        tasks = scale.get("tasks")
        inherited = (scales[bases[name]].get("tasks") if name in bases else None) or {}
        if not isinstance(tasks, Mapping):
            continue
        for task, corpus in tasks.items():
            if corpus is None and task not in inherited:
                raise UserError(
                    f"{file_of('scales', name)}: key 'tasks.{task}': found null, which leaves out "
                    f"a task that is inherited, but this one is not; {hint(task, inherited)}"
                )
        kept = {task: corpus for task, corpus in tasks.items() if corpus is not None}
        found[name] = {**scale, "tasks": kept}
    return found


def _read_folder(root: Path, folder: str) -> dict[str, dict[str, Any]]:
    place = root / "config" / folder
    if folder == "papers" and not place.exists():
        return {}  # a training needs none
    if not place.is_dir():
        raise UserError(f"config/{folder}: there is no such folder; restore it")
    found = {}
    for path in sorted(place.glob("[!.]*")):
        file = f"config/{folder}/{path.name}"
        is_yaml = path.suffix.lower() in (".yaml", ".yml")
        is_named = path.suffix == ".yaml" and NAME.fullmatch(path.stem)
        if path.is_dir() or (is_yaml and not is_named):
            raise UserError(
                f"{file}: expected a file NAME.yaml, with letters, digits, '.', '_' and '-' in its "
                "name; rename or move it"
            )
        if is_yaml:
            found[path.stem] = read_yaml(root, file)
    return found

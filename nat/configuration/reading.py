"""Reading the files of the configuration."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from nat.configuration import families
from nat.configuration.configuration import Configuration
from nat.configuration.file_names import FOLDERS, SETTINGS, file_of
from nat.configuration.models import Settings, read_model
from nat.configuration.overrides import Choice, read_overrides
from nat.configuration.yaml_file import NAME, read_yaml
from nat.errors import UserError
from nat.options import hint


def read(choice: Choice | str | None = None, root: Path | str = ".") -> Configuration:
    """Read all files in `root / "config"`.

    What is asked for is validated when it is asked for; `checks` looks at the rest.

    Args:
        choice: scale, name and overrides of the command line; or only the scale.
        root: folder that holds `config/`.

    Raises:
        UserError: for a folder that is missing, a file that cannot be read or has a wrong name or
            content, and an unknown scale.
    """
    root = Path(root)
    if not isinstance(choice, Choice):
        choice = Choice(choice)
    settings = read_model(Settings, read_yaml(root, SETTINGS), SETTINGS)
    found = {folder: families.expanded(_read_folder(root, folder), folder) for folder in FOLDERS}
    files = {folder: each.contents for folder, each in found.items()}
    files["scales"] = _without_dropped_tasks(found["scales"])
    files["corpora"] = with_splits_of_parents(files["corpora"])
    scale = choice.scale or settings.scale
    origin = f"{SETTINGS}: key 'scale'" if choice.scale is None else "--config"
    families.require(scale, files["scales"], "scale", origin)
    overrides = read_overrides(choice.name, choice.override, files["recipes"])
    return Configuration(
        root,
        scale,
        settings.model_copy(update=dict(overrides.settings)),
        files,
        {folder: each.places for folder, each in found.items()},
        overrides,
        found["systems"].bases,
        {folder: each.bases_first for folder, each in found.items()},
    )


def _without_dropped_tasks(scales: families.Expanded) -> dict[str, dict[str, Any]]:
    """Scales without the inherited tasks that they set to null."""
    found = dict(scales.contents)
    for name, scale in found.items():
        if isinstance(tasks := scale.get("tasks"), Mapping):
            base = scales.contents[scales.bases[name]] if name in scales.bases else {}
            inherited = base.get("tasks", {})
            for task in (task for task in tasks if tasks[task] is None and task not in inherited):
                raise UserError(
                    f"{scales.places[name]}: key 'tasks.{task}': found null, which leaves out an "
                    f"inherited task, expected a corpus; {hint(task, inherited)}"
                )
            kept = {task: corpus for task, corpus in tasks.items() if corpus is not None}
            found[name] = {**scale, "tasks": kept}
    return found


def with_splits_of_parents(corpora: Mapping[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Corpora, where those that are derived from another have its splits."""
    found = dict(corpora)
    for name, corpus in corpora.items():
        if isinstance(derived := corpus.get("derived"), Mapping) and "from" in derived:
            where, parent = f"{file_of('corpora', name)}: key 'derived.from'", derived["from"]
            families.require(parent, corpora, "corpus", where)
            generated = corpora[parent].get("generator", {}).get("pairs")
            splits = list(corpora[parent].get("splits", generated or {}))
            if not splits:
                raise UserError(f"{where}: '{parent}' has no 'splits'; name another corpus")
            found[name] = {**corpus, "derived": {**derived, "splits": splits}}
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

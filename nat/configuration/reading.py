"""Reading the files of the configuration."""

from collections.abc import Mapping
from pathlib import Path

from nat.configuration import families
from nat.configuration.configuration import Configuration
from nat.configuration.families import Content
from nat.configuration.files import FOLDERS, SETTINGS, file_of, read_folder, read_yaml
from nat.configuration.models import Settings, read_model
from nat.configuration.overrides import RunChoice, read_overrides
from nat.errors import UserError
from nat.options import hint


def read(choice: RunChoice | str | None = None, root: Path | str = ".") -> Configuration:
    """Read all files in `root / "config"`; each is validated when it is asked for, or by `checks`.

    Args:
        choice: scale, name and overrides of the command line; or only the scale.
        root: folder that holds `config/`.
    """
    root = Path(root)
    if not isinstance(choice, RunChoice):
        choice = RunChoice(choice)
    of_file = read_yaml(root, SETTINGS)
    settings = read_model(Settings, of_file, SETTINGS)
    files, origins = {}, {}
    for folder in FOLDERS:
        files[folder], origins[folder] = families.expanded(read_folder(root, folder), folder)
    for name in reversed([*files["scales"]]):  # while bases have what they leave out
        base = origins["scales"][name].base
        inherited = {} if base is None else files["scales"][base].get("tasks", {})
        _drop_tasks(files["scales"][name], inherited, origins["scales"][name].place)
    files["corpora"] = with_splits_of_parents(files["corpora"])
    scale = choice.scale or settings.scale
    origin = f"{SETTINGS}: key 'scale'" if choice.scale is None else "--config"
    families.require(scale, files["scales"], "scale", origin)
    overrides = read_overrides(choice.name, choice.override, files["recipes"])
    if overrides.settings:
        changed = {**of_file, **overrides.settings}
        settings = read_model(Settings, changed, f"{SETTINGS} with 'override'")
    return Configuration(root, scale, settings, files, origins, overrides)


def _drop_tasks(scale: Content, inherited: Content, place: str) -> None:
    """Leave out the inherited tasks that a scale sets to null."""
    tasks = scale.get("tasks")
    if isinstance(tasks, Mapping):
        for task in (task for task in tasks if tasks[task] is None and task not in inherited):
            raise UserError(
                f"{place}: key 'tasks.{task}': found null, which leaves out an inherited task, "
                f"expected a corpus; {hint(task, inherited)}"
            )
        scale["tasks"] = {task: corpus for task, corpus in tasks.items() if corpus is not None}


def with_splits_of_parents(corpora: Mapping[str, Content]) -> dict[str, Content]:
    """Corpora, where those that are derived from another have its splits."""
    complete = dict(corpora)
    for name, corpus in corpora.items():
        if isinstance(derived := corpus.get("derived"), Mapping) and "from" in derived:
            where, parent = f"{file_of('corpora', name)}: key 'derived.from'", derived["from"]
            families.require(parent, corpora, "corpus", where)
            generated = corpora[parent].get("generator", {}).get("pairs")
            splits = list(corpora[parent].get("splits", generated or {}))
            if not splits:
                raise UserError(f"{where}: '{parent}' has no 'splits'; name another corpus")
            complete[name] = {**corpus, "derived": {**derived, "splits": splits}}
    return complete

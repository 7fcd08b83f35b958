"""Reading the files of the configuration, and one file with all that a run has read.

A run has one configuration from its start to its end: what its jobs are told does not change when
somebody edits `config/` meanwhile.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from nat.configuration import changes, families, sweeps
from nat.configuration.configuration import Configuration
from nat.configuration.families import Content
from nat.configuration.files import FOLDERS, SETTINGS, file_of, read_folder, read_yaml
from nat.configuration.models import Settings, read_model
from nat.configuration.overrides import RunChoice
from nat.errors import UserError
from nat.files import atomic_write_text, read_json
from nat.options import options_of, validated

SNAPSHOTS = Path("results/jobs/configuration")


def read(choice: RunChoice | str | None = None, root: Path | str = ".") -> Configuration:
    """Read all files in `root / "config"`; each is validated when it is asked for, or by `checks`.

    Args:
        choice: of a command line, or only a scale, the name of a file in `config/scales`; None
            for the scale that `config/config.yaml` names.
        root: folder that holds `config/`.
    """
    root = Path(root)
    if not isinstance(choice, RunChoice):
        choice = RunChoice(choice or "")
    of_file = read_yaml(root, SETTINGS)
    settings = read_model(Settings, of_file, SETTINGS)
    files, origins = {}, {}
    for folder in FOLDERS:
        files[folder], origins[folder] = families.expanded(read_folder(root, folder), folder)
    _drop_tasks(files["scales"])
    origin = "--config" if choice.scale else f"{SETTINGS}: key 'scale'"
    choice = replace(choice, scale=choice.scale or settings.scale)
    families.require(choice.scale, files["scales"], "scale", origin)
    overridden = changes.override(choice, files, origins)
    changes.name_recipes(files, origins)
    sweeps.add_copies(choice, files, origins, overridden)
    changes.name_recipes(files, origins)  # of copies
    files["corpora"] = with_splits_of_parents(files["corpora"])
    if own := choice.changes["config"]:
        settings = read_model(Settings, {**of_file, **own}, f"{SETTINGS} with 'override'")
    return Configuration(root, choice, settings, files, origins, overridden)


def write_snapshot(configuration: Configuration) -> Path:
    """Write a configuration to a file that is named after its content, for `read_snapshot`."""
    content = options_of(replace(configuration, root=Path()))
    text = json.dumps(content, ensure_ascii=False)
    path = SNAPSHOTS / f"{hashlib.sha256(text.encode()).hexdigest()[:16]}.json"
    if not path.exists():
        atomic_write_text(path, text)
    return path


def read_snapshot(path: Path) -> Configuration:
    """Read a configuration that was written, and checked before."""
    return validated(Configuration, read_json(path), f"{path}, the configuration of a run")


def _drop_tasks(scales: Mapping[str, Content]) -> None:
    """Leave out the inherited tasks that scales set to null."""
    tasks_of = {name: scale.get("tasks") for name, scale in scales.items()}
    of_scales = {name: tasks for name, tasks in tasks_of.items() if isinstance(tasks, Mapping)}
    known = {task for tasks in of_scales.values() for task in tasks if tasks[task] is not None}
    for name, tasks in of_scales.items():
        for task in (task for task in tasks if tasks[task] is None):
            families.require(task, known, "task", f"{file_of('scales', name)}: key 'tasks'")
        scales[name]["tasks"] = {task: tasks[task] for task in tasks if tasks[task] is not None}


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

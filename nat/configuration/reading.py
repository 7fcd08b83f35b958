"""Reading the files of the configuration, and one file with all that a run has read.

A run has one configuration from its start to its end: what its jobs are told does not change when
somebody edits `config/` meanwhile.
"""

import json
from dataclasses import replace
from pathlib import Path

from nat.configuration import changes, families
from nat.configuration.checks import check
from nat.configuration.configuration import Configuration
from nat.configuration.files import FOLDERS, SETTINGS, read_folder, read_yaml
from nat.configuration.json_values import WITH_TASKS
from nat.configuration.merging import Content, merged, without
from nat.configuration.models import MODELS, Settings, read_model
from nat.configuration.overrides import RunChoice
from nat.files import read_json, write_by_content
from nat.options import options_of, validated

SNAPSHOTS = Path("results/jobs/configuration")


def read(choice: RunChoice | str | None = None, root: Path | str = ".") -> Configuration:
    """Read and validate all files in `root / "config"`, papers when they are asked for.

    `checks` compares what they say of each other.

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
        for name, content in files[folder].items() if folder != "papers" else ():
            _check(folder, content, origins[folder][name].place)
    origin = "--config" if choice.scale else f"{SETTINGS}: key 'scale'"
    choice = replace(choice, scale=choice.scale or settings.scale)
    families.require(choice.scale, files["scales"], "scale", origin)
    overridden = changes.override(choice, files, origins)
    _check("scales", files["scales"][choice.scale], origins["scales"][choice.scale].place)
    changes.add_copies(choice, files, origins, overridden)
    if own := choice.changes["config"]:
        settings = read_model(Settings, {**of_file, **own}, f"{SETTINGS} with 'override'")
    return Configuration(root, choice, settings, files, origins, overridden)


def load(choice: RunChoice | str | None = None, root: Path | str = ".") -> Configuration:
    """Read the configuration as `read` does, and check that all fits together."""
    configuration = read(choice, root)
    check(configuration)
    return configuration


def write_snapshot(configuration: Configuration) -> Path:
    """Write a configuration to a file that is named after its content, for `read_snapshot`."""
    content = options_of(replace(configuration, root=Path()))
    return write_by_content(SNAPSHOTS, json.dumps(content, ensure_ascii=False))


def read_snapshot(path: Path | str) -> Configuration:
    """Read a configuration that was written, and checked before."""
    return validated(Configuration, read_json(path), f"{path}, the configuration of a run")


def _check(folder: str, content: Content, where: str) -> None:
    """Validate an entry, also as tasks change it."""
    read_model(MODELS[folder], content, where)
    for task, change in content.get("tasks", {}).items() if folder in WITH_TASKS else ():
        plain = without(content, "tasks")
        read_model(MODELS[folder], merged(plain, change), f"{where}: 'tasks.{task}'")

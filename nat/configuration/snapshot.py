"""The configuration of a run as one file, for the jobs that read more than a part of it.

A run has one configuration from its start to its end: what its jobs are told does not change when
somebody edits `config/` meanwhile.
"""

import hashlib
import json
from dataclasses import asdict
from pathlib import Path

from nat.configuration.configuration import Configuration
from nat.configuration.models import Settings, read_model
from nat.configuration.overrides import Overrides
from nat.errors import UserError
from nat.files import atomic_write_text

FOLDER = Path("results/jobs/configuration")
AS_THEY_ARE = ("scale", "files", "places", "bases", "bases_first")
"""Attributes of a configuration that are JSON-able."""


def write(configuration: Configuration) -> Path:
    """Write a configuration to a file that is named after its content."""
    content = {
        **{name: getattr(configuration, name) for name in AS_THEY_ARE},
        "settings": configuration.settings.as_written(),
        "overrides": asdict(configuration.overrides),
    }
    text = json.dumps(content, sort_keys=False, ensure_ascii=False)
    path = FOLDER / f"{hashlib.sha256(text.encode()).hexdigest()[:16]}.json"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        atomic_write_text(path, text)
    return path


def restore(path: Path, root: Path = Path()) -> Configuration:
    """Read a configuration that `write` has written; it was checked before.

    Raises:
        UserError: if the file is missing or no such file.
    """
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        overrides = content.pop("overrides")
        overrides["given"] = tuple(overrides["given"])
        settings = read_model(Settings, content.pop("settings"), str(path))
        return Configuration(
            root=root, settings=settings, overrides=Overrides(**overrides), **content
        )
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UserError(f"{path} is no configuration of a run ({error}); start it again") from error

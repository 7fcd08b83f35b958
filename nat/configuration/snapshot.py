"""The configuration of a run as one file, for the jobs that read more than a part of it.

A run has one configuration from its start to its end: what its jobs are told does not change when
somebody edits `config/` meanwhile.
"""

import hashlib
import json
from dataclasses import asdict
from pathlib import Path

from nat.configuration.configuration import Configuration
from nat.configuration.families import Origin
from nat.configuration.models import Settings, read_model
from nat.configuration.overrides import Overrides
from nat.errors import UserError
from nat.files import atomic_write_text

FOLDER = Path("results/jobs/configuration")


def write(configuration: Configuration) -> Path:
    """Write a configuration to a file that is named after its content."""
    content = {
        "scale": configuration.scale,
        "settings": configuration.settings.as_written(),
        "files": configuration.files,
        "origins": configuration.origins,
        "overrides": asdict(configuration.overrides),
    }
    text = json.dumps(content, ensure_ascii=False)
    path = FOLDER / f"{hashlib.sha256(text.encode()).hexdigest()[:16]}.json"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        atomic_write_text(path, text)
    return path


def restore(path: Path, root: Path = Path()) -> Configuration:
    """Read a configuration that `write` has written; it was checked before."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        overrides = content["overrides"]
        overrides["given"] = tuple(overrides["given"])
        origins = {
            folder: {name: Origin(*each) for name, each in entries.items()}
            for folder, entries in content["origins"].items()
        }
        settings = read_model(Settings, content["settings"], str(path))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UserError(f"{path} is no configuration of a run ({error}); start it again") from error
    return Configuration(
        root, content["scale"], settings, content["files"], origins, Overrides(**overrides)
    )

"""The configuration of a run as one file, for the jobs that read more than a part of it.

A run has one configuration from its start to its end: what its jobs are told does not change when
somebody edits `config/` meanwhile.
"""

import hashlib
import json
from dataclasses import replace
from pathlib import Path

from nat.configuration.configuration import Configuration
from nat.files import atomic_write_text, read_json
from nat.options import options_of, validated

FOLDER = Path("results/jobs/configuration")


def write(configuration: Configuration) -> Path:
    """Write a configuration to a file that is named after its content."""
    content = options_of(replace(configuration, root=Path()))
    text = json.dumps(content, ensure_ascii=False)
    path = FOLDER / f"{hashlib.sha256(text.encode()).hexdigest()[:16]}.json"
    if not path.exists():
        atomic_write_text(path, text)
    return path


def restore(path: Path) -> Configuration:
    """Read a configuration that `write` has written; it was checked before."""
    return validated(Configuration, read_json(path), f"{path}, the configuration of a run")

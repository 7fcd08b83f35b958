"""What code that travels with a model has in place of modules that only this project needs.

Elsewhere no file has a recorded checksum, no other process writes beside it, and the only methods
are those that came along. `nat.export.flat` replaces imports from its `REPLACED` with those of this
module.
"""

import importlib
from pathlib import Path
from typing import Any

LanguageModel = Any  # language models do not travel
Method = dict[str, Any]
"""A method by name, with its options."""


def build(family: str, method: Method) -> Any:
    """Build a method."""
    options = {key: value for key, value in method.items() if key != "method"}
    module = importlib.import_module(f".nat_{family}_{method['method']}", __package__)
    return module.METHOD(**options)


def verified(path: Path | str) -> Path:
    """Return the path."""
    return Path(path)


def unreadable(_path: Path | str, error: OSError) -> OSError:
    """Return the error of a file that the system does not give, which names the file."""
    return error


def remedy(_path: Path | str) -> str:
    """Advice for a damaged file, as the end of a message."""
    return "fetch the files of the model again"


def atomic_write_text(path: Path | str, text: str) -> None:
    """Write a text as UTF-8."""
    Path(path).write_text(text, encoding="utf-8")

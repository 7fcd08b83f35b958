"""What code that travels with a model has in place of modules that only this project needs.

Elsewhere no file has a recorded checksum, no other process writes beside it, and the only methods
are those that came along. `nat.export.flat` replaces imports from its `REPLACED` with those of this
module.
"""

import importlib
from contextlib import nullcontext
from pathlib import Path
from typing import Any

LanguageModel = Any  # language models do not travel
Method = dict[str, Any]
"""A method by name, with its options."""
reading = nullcontext


def build(family: str, method: Method) -> Any:
    """Build a method."""
    options = {key: value for key, value in method.items() if key != "method"}
    module = importlib.import_module(f".nat_{family}_{method['method']}", __package__)
    return module.METHOD(**options)


def atomic_write_text(path: Path | str, text: str) -> None:
    """Write a text as UTF-8."""
    Path(path).write_text(text, encoding="utf-8")

"""Settings of a training, looked up in its effective configuration."""

from collections.abc import Mapping
from typing import Any

from nat.configuration import Configuration
from nat.configuration.lengths import UNITS
from nat.configuration.papers import Setting
from nat.errors import UserError
from nat.spelling import hint

NONE, NOT_USED = "none", "not used"


def effective(configuration: Configuration, system: str) -> dict[str, Any]:
    """The effective configuration of a system's training, without the name of a corpus."""
    corpus = next(iter(configuration.tasks.values()))
    if corpus not in configuration.corpora:  # settings do not depend on it
        corpus = configuration.corpora[0]
    training = configuration.training(corpus, system).as_json()
    del training["corpus"]
    return training


def setting(training: Mapping[str, Any], row: Setting, where: str) -> str:
    """A setting as text; `not used` where the method of a system has no such option.

    Raises:
        UserError: if a training has no such setting.
    """
    found: Any = training
    parts = row.key.split(".")
    for depth, part in enumerate(parts):
        if isinstance(found, list) and part.isdigit() and int(part) < len(found):
            found = found[int(part)]
            continue
        if not isinstance(found, Mapping) or part not in found:
            if depth and parts[0] in ("input", "target"):
                return NOT_USED
            in_epochs = _in_epochs(part) if parts[0] == "recipe" and depth == 1 else ""
            if in_epochs and in_epochs in found:
                unit = "epochs" if in_epochs.endswith("epochs") else "an epoch"
                return f"{_text(found[in_epochs])} {unit}"
            raise UserError(
                f"{where}: row '{row.label}': a training has no setting '{row.key}'; "
                f"{hint(part, found if isinstance(found, Mapping) else [])}"
            )
        found = found[part]
    text = _text(found)
    return str(row.names.get(text, text))


def _in_epochs(key: str) -> str:
    """The key of a recipe that gives the same length in epochs; empty if there is none."""
    return next((epochs[0] for updates, epochs in UNITS if key in updates), "")


def _text(value: Any) -> str:
    if value is None:
        return NONE
    if isinstance(value, list):
        return ", ".join(_text(item) for item in value)
    if isinstance(value, float):
        return f"{value:g}"
    return str(value)

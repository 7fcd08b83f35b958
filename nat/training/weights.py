"""Which weights a result was made from: what was made from others is not used with a model.

Snakemake makes a result again when its model changes. Whoever opens a result without Snakemake, as
the command `nat` does, passes it through `check_weights`.
"""

from pathlib import Path

from nat.checksums import recorded, remedy, sha256_of
from nat.errors import UserError
from nat.files import read_json

WEIGHTS = "weights"
"""Key of the SHA-256 of the `model.pt` that a result was made from."""

CONVERTED = "model.json"
"""File of a converted model with that key."""


def checksum_of(model: Path) -> str:
    """SHA-256 of `model.pt`, from its record if there is one.

    Raises:
        UserError: if there is none and the file cannot be read.
    """
    return recorded(model) or sha256_of(model)


def check_weights(path: Path, model: Path) -> None:
    """Refuse a result that was made from other weights than those of a model.

    A result of an earlier version of this project, which does not say what it was made from, is
    refused if the model is newer, as Snakemake decides.

    Args:
        path: of the folder of a converted model, or of options that were tuned.
        model: `model.pt`, which exists.

    Raises:
        UserError: if it was.
    """
    file = path / CONVERTED if path.is_dir() else path
    found = read_json(file).get(WEIGHTS) if file.exists() else None
    if found is None:
        is_other = path.exists() and path.stat().st_mtime < model.stat().st_mtime
    else:
        is_other = found != checksum_of(model)
    if is_other:
        raise UserError(f"{path} was made from other weights than those of {model}; {remedy(path)}")

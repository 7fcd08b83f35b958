"""Where the files of the configuration and its mirror are, and how messages name them."""

from pathlib import Path

from nat.errors import UserError

SETTINGS = "config/config.yaml"
PAPER_SCALE = "paper"
"""The file in config/scales that has the papers' own settings."""

# folder in config/: what one of its files describes
FOLDERS = {
    "scales": "scale",
    "corpora": "corpus",
    "recipes": "recipe",
    "systems": "system",
    "decodings": "decoding",
    "papers": "paper",
}


def file_of(folder: str, name: str) -> str:
    """Path of a configuration file for messages."""
    return f"config/{folder}/{name}.yaml"


def mirror_of(written: str | None, root: Path) -> Path | None:
    """The folder that the key `mirror` of `SETTINGS` names; None without one.

    Raises:
        UserError: for the home folder of a user who does not exist.
    """
    if written is None:
        return None
    try:
        return root / Path(written).expanduser()
    except RuntimeError as error:
        raise UserError(
            f"{SETTINGS}: key 'mirror': found {written}, but there is no such home folder; "
            "write the path out"
        ) from error

"""Where the files of the configuration are, and how messages name them."""

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

"""Which models of fairseq's own are used here, and whether this machine can train them.

fairseq computes the labels of models that insert and delete tokens in compiled parts, which an
installation may lack. This module does not import fairseq.
"""

import importlib.util
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from typing import Literal

FairseqModelName = Literal[
    "iterative_nonautoregressive_transformer",
    "nacrf_transformer",
    "insertion_transformer",
    "levenshtein_transformer",
]
COMPILED = ("insertion_transformer", "levenshtein_transformer")
"""Those whose training needs fairseq's compiled parts."""

NEEDS_COMPILED = "not run: needs fairseq's compiled parts"


def has_compiled_parts() -> bool:
    """Return True if fairseq is installed with `libnat`."""
    spec = importlib.util.find_spec("fairseq")
    folders = [] if spec is None else spec.submodule_search_locations or []
    return any(
        Path(folder, f"libnat{suffix}").exists()
        for folder in folders
        for suffix in EXTENSION_SUFFIXES
    )

"""Languages and splits of a corpus, as its file names them."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from nat.data.sources import parts_of

TRAIN = "train"


def sides(corpus: Mapping[str, Any]) -> tuple[str, str]:
    """Source and target language codes of a corpus."""
    return corpus["source"], corpus["target"]


def split_names(corpus: Mapping[str, Any]) -> list[str]:
    """Names of the splits of a corpus, in the order of its file."""
    if "generator" in corpus:
        return list(corpus["generator"]["pairs"])
    return list(corpus["derived"]["splits"] if "derived" in corpus else corpus["splits"])


def local_files(corpus: Mapping[str, Any], root: Path) -> list[Path]:
    """The user's own files that a corpus is made of (none for downloads and generators)."""
    return [
        root / name
        for split in (corpus.get("splits") or {}).values()
        for part in parts_of(split)
        for names in part.get("files", {}).values()
        for name in ([names] if isinstance(names, str) else names)
    ]


def derived_from(corpus: Mapping[str, Any]) -> str | None:
    """The corpus that this one is derived from, whose text must be there first."""
    return str(corpus["derived"]["from"]) if "derived" in corpus else None

"""Languages and splits of a corpus, and the folder of each split.

The text that trainings read, `train` and `valid`, lies at `results/corpora/{corpus}`. Every test
set has its own folder in it, `tests/{split}`, with the same steps, so that an additional test set
does not change any file that a training reads.
"""

import copy
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from nat.data.sources import parts_of

TRAIN, VALID = "train", "valid"

CORPORA = Path("results/corpora")
"""Folder of all corpora."""


def sides(corpus: Mapping[str, Any]) -> tuple[str, str]:
    """Source and target language codes of a corpus."""
    return corpus["source"], corpus["target"]


def split_names(corpus: Mapping[str, Any]) -> list[str]:
    """Names of the splits of a corpus, in the order of its file."""
    if "generator" in corpus:
        return list(corpus["generator"]["pairs"])
    return list(corpus["derived"]["splits"] if "derived" in corpus else corpus["splits"])


def test_names(corpus: Mapping[str, Any]) -> list[str]:
    """Names of the test sets of a corpus: the splits that no training reads."""
    return [split for split in split_names(corpus) if split not in (TRAIN, VALID)]


def is_cut_out(corpus: Mapping[str, Any], split: str) -> bool:
    """Whether a split is cut out of the training text."""
    return "every" in (corpus.get("splits") or {}).get(split, {})


def folder_of(corpus: str, split: str, corpora: Path = CORPORA) -> Path:
    """The folder with the steps of a split of a corpus."""
    whole = corpora / corpus
    return whole if split in (TRAIN, VALID) else whole / "tests" / split


def part_of(corpus: Mapping[str, Any], splits: Iterable[str]) -> dict[str, Any]:
    """The description of a corpus, restricted to some of its splits."""
    kept = list(splits)
    part = copy.deepcopy(dict(corpus))
    if "generator" in part:
        part["generator"]["pairs"] = _only(part["generator"]["pairs"], kept)
    elif "derived" in part:
        part["derived"]["splits"] = [name for name in part["derived"]["splits"] if name in kept]
    else:
        part["splits"] = _only(part["splits"], kept)
    part["expected"] = {
        step: sizes if step == "vocabulary" else _only(sizes, kept)
        for step, sizes in part.get("expected", {}).items()
    }
    return part


def training_part(corpus: Mapping[str, Any]) -> dict[str, Any]:
    """The part of a corpus that trainings read."""
    return part_of(corpus, (TRAIN, VALID))


def text_part(corpus: Mapping[str, Any], test: str | None = None) -> dict[str, Any]:
    """The part of a corpus whose raw text is made in one step.

    Args:
        corpus: the corpus as its configuration file gives it.
        test: name of a test set; None for the training text, `valid`, and what is cut out of it.
    """
    if test is not None:
        return part_of(corpus, [test])
    cut = [split for split in test_names(corpus) if is_cut_out(corpus, split)]
    return part_of(corpus, [TRAIN, VALID, *cut])


def local_files(corpus: Mapping[str, Any], root: Path) -> dict[str, Path]:
    """The local files that the text of a corpus is made from, by the key that names them.

    Downloads and generators have none.
    """
    found: dict[str, Path] = {}
    for split, description in (corpus.get("splits") or {}).items():
        for number, part in enumerate(parts_of(description)):
            key = f"splits.{split}" + (f".parts[{number}]" if "parts" in description else "")
            found |= _files_of(part, key, root)
    return found


def local_references(corpus: Mapping[str, Any], root: Path) -> dict[str, Path]:
    """The local files with further references, by the key that names them."""
    found: dict[str, Path] = {}
    for split, description in (corpus.get("splits") or {}).items():
        for number, part in enumerate(description.get("references", [])):
            found |= _files_of(part, f"splits.{split}.references[{number}]", root)
    return found


def _files_of(part: Mapping[str, Any], key: str, root: Path) -> dict[str, Path]:
    found = {}
    for label, names in part.get("files", {}).items():
        if isinstance(names, str):
            found[f"{key}.files.{label}"] = root / names
        else:
            found |= {f"{key}.files.{label}[{n}]": root / name for n, name in enumerate(names)}
    return found


def _only(values: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if name in names}


def derived_from(corpus: Mapping[str, Any]) -> str | None:
    """The corpus that this one is derived from, whose text must be made first."""
    return str(corpus["derived"]["from"]) if "derived" in corpus else None

"""Languages and splits of a corpus, and the folder of each split.

The text that trainings read, `train` and `valid`, lies at `results/corpora/{corpus}`. Every test
set has its own folder in it, `tests/{split}`, with the same steps, so that an additional test set
does not change any file that a training reads.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from nat.data.corpus import Corpus, FurtherReferences
from nat.data.sources import sources_of

Kind = TypeVar("Kind")

TRAIN, VALID = "train", "valid"

CORPORA = Path("results/corpora")
"""Folder of all corpora."""


def sides(corpus: Corpus) -> tuple[str, str]:
    """Source and target language codes of a corpus."""
    return corpus.source, corpus.target


def split_names(corpus: Corpus) -> list[str]:
    """Names of the splits of a corpus: train, valid, test, then others in the order of its file."""
    if corpus.generator is not None:
        names = list(corpus.generator.pairs)
    else:
        names = list(corpus.splits if corpus.derived is None else corpus.derived.splits)
    order = [TRAIN, VALID, "test", *names]
    return sorted(names, key=order.index)


def test_names(corpus: Corpus) -> list[str]:
    """Names of the test sets of a corpus: the splits that no training reads."""
    return [split for split in split_names(corpus) if split not in (TRAIN, VALID)]


def held_out(description: Corpus) -> list[str]:
    """The splits of a corpus besides the training text."""
    return [split for split in split_names(description) if split != TRAIN]


def is_cut_out(corpus: Corpus, split: str) -> bool:
    """Return True for a split that is cut out of the training text."""
    return split in corpus.splits and corpus.splits[split].every is not None


def is_segmented(corpus: Corpus, split: str) -> bool:
    """Return True if the lines of a split consist of subwords, see `nat.data.corpus.Split`."""
    of = TRAIN if is_cut_out(corpus, split) else split
    return of in corpus.splits and corpus.splits[of].segmented


def folder_of(corpus: str, split: str, corpora: Path = CORPORA) -> Path:
    """The folder with the steps of a split of a corpus."""
    whole = corpora / corpus
    return whole if split in (TRAIN, VALID) else whole / "tests" / split


def part_of(corpus: Corpus, splits: Iterable[str]) -> Corpus:
    """A corpus, restricted to some of its splits."""
    kept = list(splits)
    expected = corpus.expected
    of_splits = {
        step: _only(getattr(expected, step), kept)
        for step in expected.model_fields_set - {"vocabulary"}
    }
    changes: dict[str, Any] = {"expected": expected.model_copy(update=of_splits)}
    if corpus.generator is not None:
        pairs = _only(corpus.generator.pairs, kept)
        changes["generator"] = corpus.generator.model_copy(update={"pairs": pairs})
    elif corpus.derived is not None:
        names = [name for name in corpus.derived.splits if name in kept]
        changes["derived"] = corpus.derived.model_copy(update={"splits": names})
    else:
        changes["splits"] = _only(corpus.splits, kept)
    return corpus.model_copy(update=changes)


def training_part(corpus: Corpus) -> Corpus:
    """The part of a corpus that trainings read."""
    return part_of(corpus, (TRAIN, VALID))


def text_part(corpus: Corpus, test: str | None = None) -> Corpus:
    """The part of a corpus whose raw text is made in one step.

    Args:
        corpus: the corpus.
        test: name of a test set; None for the training text, `valid`, and what is cut out of it.
    """
    if test is not None:
        of_training: dict[str, Any] = {"subwords": None, "distilled": {}}
        given = {key: of_training[key] for key in of_training if key in corpus.model_fields_set}
        return part_of(corpus, [test]).model_copy(update=given)
    cut = [split for split in test_names(corpus) if is_cut_out(corpus, split)]
    return part_of(corpus, [TRAIN, VALID, *cut])


def prepared_as(corpus: Corpus, split: str) -> dict[str, Any]:
    """The keys by which the text of a split is made and prepared, JSON-able, as written.

    Keys that change no text, such as sizes that are only checked, are left out.
    """
    found = text_part(corpus, None if split in (TRAIN, VALID) else split).as_written()
    for description in found.get("splits", {}).values():
        description.pop("pairs", None)
    left_out = ("description", "licensed_by", "expected")
    return {key: found[key] for key in found if key not in left_out}


def local_files(corpus: Corpus, root: Path) -> dict[str, Path]:
    """The local files that the text of a corpus is made from, by the key that names them.

    Downloads and generators have none.
    """
    return _local(corpus, root, references=False)


def local_references(corpus: Corpus, root: Path) -> dict[str, Path]:
    """The local files with further references, by the key that names them."""
    return _local(corpus, root, references=True)


def _local(corpus: Corpus, root: Path, references: bool) -> dict[str, Path]:
    found = {}
    for key, source in sources_of(corpus).items():
        if isinstance(source, FurtherReferences) == references:
            for label, names in source.files.items():
                if isinstance(names, str):
                    found[f"{key}.files.{label}"] = root / names
                else:
                    each = enumerate(names)
                    found |= {f"{key}.files.{label}[{n}]": root / name for n, name in each}
    return found


def _only(values: Mapping[str, Kind], names: Iterable[str]) -> dict[str, Kind]:
    return {name: value for name, value in values.items() if name in names}


def derived_from(corpus: Corpus) -> str | None:
    """The corpus that this one is derived from, whose text must be made first."""
    return None if corpus.derived is None else corpus.derived.source

"""The parts of a corpus: its splits, as the steps of their text read them, and its files."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from nat.data.corpus import Corpus
from nat.data.origins import FurtherReferences, Source, with_archive
from nat.data.splits import MONOLINGUAL, TRAIN, together_with


def part_of(corpus: Corpus, splits: Iterable[str]) -> Corpus:
    """A corpus, restricted to some of its splits."""
    kept, generator, derived = set(splits), corpus.generator, corpus.derived
    own = {name: its for name, its in corpus.splits.items() if name in kept}
    changed: dict[str, Any] = {"splits": own}
    if generator is not None:
        pairs = {name: number for name, number in generator.pairs.items() if name in kept}
        changed = {"generator": generator.model_copy(update={"pairs": pairs})}
    elif derived is not None:
        names = {"splits": [name for name in derived.splits if name in kept]}
        changed = {"derived": derived.model_copy(update=names)}
    return corpus.model_copy(update=changed)


def text_part(corpus: Corpus, split: str = TRAIN) -> Corpus:
    """The part of a corpus whose raw text is made in one step.

    It is a test set, monolingual text, or the training text with `valid` and what is cut out of it.
    """
    splits = [*together_with(split)]
    left_out: dict[str, Any] = {"subwords": None, "distilled": {}, "monolingual": None}
    if TRAIN in splits:
        splits += [test for test in corpus.test_names if corpus.is_cut_out(test)]
        left_out = {"monolingual": None}
    elif split == MONOLINGUAL:
        del left_out["monolingual"]
    own = {key: none for key, none in left_out.items() if key in corpus.model_fields_set}
    return part_of(corpus, splits).model_copy(update=own)


def prepared_as(corpus: Corpus, split: str) -> dict[str, Any]:
    """The keys by which the text of a split is made and prepared, JSON-able, as written."""
    written = text_part(corpus, split).as_written()
    for description in written.get("splits", {}).values():
        description.pop("pairs", None)
    left_out = {"description", "licensed_by", "licence", "dataset"}
    left_out |= {"expected", "bleu_tokeniser", "least_perfect_score"}
    if split != MONOLINGUAL:
        left_out.add("monolingual")
    return {key: value for key, value in written.items() if key not in left_out}


def sources_of(corpus: Corpus) -> dict[str, Source]:
    """All descriptions of files of a corpus by their key in the corpus file."""
    sources: dict[str, Source] = {} if corpus.subwords is None else {"subwords": corpus.subwords}
    sources |= {f"distilled.{teacher}": text for teacher, text in corpus.distilled.items()}
    sources |= monolingual_files(corpus)
    for name, split in corpus.splits.items():
        sources |= {} if split.every else split.parts_by_key(f"splits.{name}")
        for number, part in enumerate(split.references):
            sources[f"splits.{name}.references[{number}]"] = part
    return sources


def addresses_of(corpus: Corpus) -> dict[str, str]:
    """The addresses that all files of a corpus come from, by key."""
    return {
        f"{key}.{of_url}": url
        for key, source in sources_of(corpus).items()
        for of_url, url in with_archive(source, corpus.sides).addresses.items()
    }


def local_files(corpus: Corpus, *, references: bool = False) -> list[tuple[str, Path]]:
    """The local files of the text of a corpus, or of its further references, each with its key."""
    return [
        (f"{key}.files.{label}", Path(name))
        for key, source in sources_of(corpus).items()
        if source.files and isinstance(source, FurtherReferences) == references
        for label, names in source.labelled.items()
        for name in names
    ]


def monolingual_files(corpus: Corpus) -> dict[str, Source]:
    """The origins of monolingual text by their key; a generated corpus draws its own.

    Those without the source language are left out, as are references in the other language below.
    """
    parts = {} if corpus.monolingual is None else corpus.monolingual.parts_by_key(MONOLINGUAL)
    return {key: part for key, part in parts.items() if corpus.source in part.labelled}


def listed_references(corpus: Corpus, split: str) -> list[tuple[int, FurtherReferences]]:
    """The references of a split in the corpus file, with their numbers there.

    Those in the other language are left out: a corpus may reverse the direction of another one.
    """
    numbered = enumerate(corpus.splits[split].references if split in corpus.splits else [])
    return [(number, part) for number, part in numbered if corpus.target in part.labelled]


def has_references(corpus: Corpus, split: str) -> bool:
    """Return True for a split with references: listed ones, or those of a generator."""
    return has_all_references(corpus, split) or bool(listed_references(corpus, split))


def has_all_references(corpus: Corpus, split: str) -> bool:
    """Return True if the references of a split are all correct translations of its sentences.

    Those of a generator are: every noise-free target is among them.
    """
    return corpus.generator is not None and split != TRAIN

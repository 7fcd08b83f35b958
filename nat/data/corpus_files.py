"""The files that the text and the references of a corpus come from, by their keys in its file."""

from pathlib import Path

from nat.data.corpus import Corpus
from nat.data.origins import FurtherReferences, Source, with_archive
from nat.data.splits import TRAIN


def sources_of(corpus: Corpus) -> dict[str, Source]:
    """All descriptions of files of a corpus by their key in the corpus file."""
    sources: dict[str, Source] = {} if corpus.subwords is None else {"subwords": corpus.subwords}
    sources |= {f"distilled.{teacher}": text for teacher, text in corpus.distilled.items()}
    for name, split in corpus.splits.items():
        sources |= split.parts_by_key(name)
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

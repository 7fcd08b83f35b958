"""Several references of the sentences of a split.

A split of a corpus file may list further references (`references`): a file of the target language
whose line n is a reference of sentence n, a pair of files whose lines belong to the sentences with
the same source, or a file in the format `extra_refs`. They lie in the folder `references` of the
split as `{split}.{target}.jsonl`, with a line for each sentence that has any:

    {"id": 17, "references": ["...", "..."], "weights": [0.65, 0.35]}

`id` counts the sentences of the split from 0. `weights` sum to 1 and are there only where the
probabilities of the references are known, as in generated corpora, whose references are all
noise-free targets. `nat.data.text` makes the files, and `nat.measures.score` reads them.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from nat.data.corpus import Corpus, FurtherReferences
from nat.data.splits import TRAIN
from nat.files import atomic_write_text


def listed(corpus: Corpus, split: str) -> list[tuple[int, FurtherReferences]]:
    """The references of a split in the corpus file, with their numbers there.

    Those in the other language are left out: a corpus may reverse the direction of another one.
    """
    numbered = enumerate(corpus.splits[split].references if split in corpus.splits else [])
    return [(number, part) for number, part in numbered if corpus.target in part.labelled]


def has_references(corpus: Corpus, split: str) -> bool:
    """Return True for a split with references: listed ones, or those of a generator."""
    return are_complete(corpus, split) or bool(listed(corpus, split))


def are_complete(corpus: Corpus, split: str) -> bool:
    """Return True if the references of a split are all correct translations of its sentences.

    Those of a generator are: every noise-free target is among them.
    """
    return corpus.generator is not None and split != TRAIN


def references_path(folder: Path, split: str, target: str) -> Path:
    """The file of references of a split in the folder `references`."""
    return folder / f"{split}.{target}.jsonl"


def write_references(
    path: Path, references: Mapping[int, Sequence[str] | Mapping[str, float]]
) -> None:
    """Write the references of sentences by their number, with weights where these are known."""
    rows = (
        {"id": number, "references": list(several)}
        | ({"weights": list(several.values())} if isinstance(several, Mapping) else {})
        for number, several in references.items()
    )
    atomic_write_text(path, "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))

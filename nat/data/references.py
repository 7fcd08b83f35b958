"""Several references of the sentences of a split.

A split of a corpus file may list further references (`references`): a file of the target language
whose line n is a reference of sentence n, a pair of files whose lines belong to the sentences with
the same source, or a file in the format `extra_refs`. They lie in the folder `references` of the
split as `{split}.{target}.jsonl`, with a line for each sentence that has any:

    {"id": 17, "references": ["...", "..."], "weights": [0.65, 0.35]}

`id` counts the sentences of the split from 0. `weights` sum to 1 and are there only where the
probabilities of the references are known, as in generated corpora, whose references are all
noise-free targets. The reader is `nat.measures.score.read_references`.
"""

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path

from nat.data.corpus import Corpus, FurtherReferences
from nat.data.formats import EXTRA_REFERENCES, read_format, read_sentences
from nat.data.lines import read_lines
from nat.data.sources import Place, fetch
from nat.data.splits import TRAIN, sides
from nat.errors import UserError
from nat.files import atomic_directory, atomic_write_text, write_json


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


def make_references(
    corpus: Corpus, splits: Sequence[str], text: Path, output: Path, place: Place
) -> None:
    """Write `{split}.{target}.jsonl` of splits, and `references.json`, to the folder `output`.

    `text` is the folder of their raw text. Raises a `UserError` if a file cannot be obtained, or
    does not belong to the split.
    """
    source, target = sides(corpus)
    change = corpus.preparation(target).changed
    facts = {}
    with atomic_directory(output) as folder:
        for split in splits:
            sentences = list(read_lines(text / f"{split}.{source}"))
            several: defaultdict[int, list[str]] = defaultdict(list)
            read_from = []
            for number, part in listed(corpus, split):
                fetched = fetch(part, corpus, f"splits.{split}.references[{number}]", place)
                read_from += fetched.read_from(target)
                with fetched.opened(folder) as files:
                    before = sum(map(len, several.values()))
                    for ids, line in _references_of(corpus, part, files, sentences):
                        for sentence in ids if line.strip() else ():
                            several[sentence].append(change(line))
                    if sum(map(len, several.values())) == before:
                        raise UserError(
                            f"{' + '.join(map(str, chain(*files.values())))}: no reference of a "
                            "sentence of the split; remove the entry"
                        )
            path = references_path(folder, split, target)
            write_references(path, {id: several[id] for id in sorted(several)})
            facts[split] = {
                "sentences": len(several),
                "references": sum(map(len, several.values())),
                "read_from": read_from,
            }
        write_json(folder / "references.json", {"splits": facts})


def _references_of(
    corpus: Corpus,
    part: FurtherReferences,
    files: Mapping[str, Sequence[Path]],
    sentences: Sequence[str],
) -> Iterator[tuple[Sequence[int], str]]:
    """References with the numbers of their sentences, one reference at a time."""
    source, target = sides(corpus)
    if part.format != EXTRA_REFERENCES and source not in files:
        lines = [line for path in files[target] for line in read_sentences(part.format, path)]
        if len(lines) != len(sentences):
            raise UserError(
                f"{files[target][0]} has {len(lines)} lines for the {len(sentences)} sentences of "
                "the split; line n must be a reference of sentence n, or give their sources as "
                f"well, under '{source}'"
            )
        yield from (([number], line) for number, line in enumerate(lines))
        return
    change = corpus.preparation(source).changed
    numbers: defaultdict[str, list[int]] = defaultdict(list)
    for number, sentence in enumerate(sentences):
        numbers[" ".join(sentence.split())].append(number)
    for its_source, line in read_format(part, files, source, target):
        yield numbers.get(" ".join(change(its_source).split()), []), line

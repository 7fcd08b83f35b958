"""Several references of the sentences of a split.

A split of a corpus file may list further references (`references`), each from separate files: a
file of the target language whose line n is a reference of sentence n, a pair of files whose lines
belong to the sentences with the same source, or a file in the format `extra_refs`.

They lie in the folder `references` of the split as `{split}.{target}.jsonl`, one JSON object per
line for each sentence that has any:

    {"id": 17, "references": ["...", "..."], "weights": [0.65, 0.35]}

`id` counts the sentences of the split from 0. `references` are those that the corpus file lists, in
its order; the split's own target is among them only if it is listed. `weights` sum to 1 and are
there only where the probabilities of the references are known, as in generated corpora, whose
references are all noise-free targets. A measure that is an expectation over references weighs with
them; where they are missing, all references of a sentence count alike. The reader is
`nat.measures.score.read_references`.
"""

import json
import re
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from nat.data.corpus import Corpus, FurtherReferences
from nat.data.diacritics import line_change
from nat.data.formats import EXTRA_REFERENCES, read_sentences
from nat.data.lines import read_lines
from nat.data.sources import Place, fetch
from nat.data.splits import TRAIN, sides
from nat.errors import UserError
from nat.files import atomic_directory, atomic_write_text, write_json

_NUMBERED = re.compile(r"([STR])(\d*)-(\d+)")


@dataclass(frozen=True)
class References:
    """The references of a sentence.

    Attributes:
        texts: raw text, at least one.
        weights: their probabilities, summing to 1; None where they are not known.
    """

    texts: Sequence[str]
    weights: Sequence[float] | None = None


def listed(corpus: Corpus, split: str) -> list[tuple[int, FurtherReferences]]:
    """The references of a split in the corpus file, with their numbers there.

    Those in the other language are left out: a corpus may reverse the direction of another one.
    """
    _, target = sides(corpus)
    numbered = enumerate(corpus.splits[split].references if split in corpus.splits else [])
    return [(number, part) for number, part in numbered if target in part.labelled]


def has_references(corpus: Corpus, split: str) -> bool:
    """Return True for a split with references: listed ones, or those of a generator."""
    if corpus.generator is not None:
        return split != TRAIN
    return bool(listed(corpus, split))


def are_complete(corpus: Corpus, split: str) -> bool:
    """Return True if the references of a split are all correct translations of its sentences.

    Those of a generator are: every noise-free target is among them.
    """
    return corpus.generator is not None and split != TRAIN


def references_path(folder: Path, split: str, target: str) -> Path:
    """The file of references of a split in the folder `references`."""
    return folder / f"{split}.{target}.jsonl"


def write_references(path: Path, references: Mapping[int, References]) -> None:
    """Write the references of sentences by their number."""
    rows = (
        {"id": number, "references": list(one.texts)}
        | ({} if one.weights is None else {"weights": list(one.weights)})
        for number, one in references.items()
    )
    atomic_write_text(path, "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))


def make_references(
    corpus: Corpus, splits: Sequence[str], text: Path, output: Path, place: Place
) -> None:
    """Write `{split}.{target}.jsonl` and `references.json` to the folder `output`.

    Args:
        corpus: the corpus.
        splits: those with references.
        text: folder of their raw text.
        output: folder to make; it appears whole or not at all.
        place: where files are searched for.

    Raises:
        UserError: if a file cannot be obtained, or does not belong to the split, or none is listed.
    """
    source, target = sides(corpus)
    with atomic_directory(output) as folder:
        facts = {}
        for split in splits:
            sentences = list(read_lines(text / f"{split}.{source}"))
            texts: dict[int, list[str]] = {}
            read_from = []
            for number, description in listed(corpus, split):
                key = f"config/corpora/{place.name}.yaml, splits.{split}.references[{number}]"
                part = fetch(description, source, target, key, place)
                read_from += part.read_from(target)
                with tempfile.TemporaryDirectory(prefix=".members.", dir=folder) as members:
                    files = part.paths(Path(members))
                    try:
                        found = list(_references_of(corpus, description, files, sentences))
                    except ValueError as error:
                        named = " + ".join([*part.read_from(source), *part.read_from(target)])
                        raise UserError(f"{key} ({named}): {error}") from error
                for sentence, reference in found:
                    texts.setdefault(sentence, []).append(reference)
            several = {number: References(texts[number]) for number in sorted(texts)}
            write_references(references_path(folder, split, target), several)
            facts[split] = {
                "sentences": len(several),
                "references": sum(len(one.texts) for one in several.values()),
                "read_from": read_from,
            }
        write_json(folder / "references.json", {"splits": facts})


def _references_of(
    corpus: Corpus,
    description: FurtherReferences,
    files: Mapping[str, Sequence[Path]],
    sentences: Sequence[str],
) -> Iterator[tuple[int, str]]:
    """References with the numbers of their sentences; empty lines are skipped.

    Raises:
        ValueError: if they do not belong to the sentences, or there are none.
    """
    source, target = sides(corpus)
    change = line_change(corpus, target)
    found: Iterable[tuple[Sequence[int], str]]  # sentences of each reference
    if source not in files and description.format != EXTRA_REFERENCES:
        lines = _lines(description, files[target])
        if len(lines) != len(sentences):
            raise ValueError(
                f"{len(lines)} lines for the {len(sentences)} sentences of the split; line n must "
                f"be a reference of sentence n (or give their sources as well, under '{source}')"
            )
        found = (([number], line) for number, line in enumerate(lines))
    else:
        numbers: dict[str, list[int]] = {}
        for number, sentence in enumerate(sentences):
            numbers.setdefault(" ".join(sentence.split()), []).append(number)
        same_text = line_change(corpus, source)
        found = (
            (numbers.get(" ".join(same_text(its_source).split()), []), line)
            for its_source, line in _with_sources(description, files, source, target)
        )
    known = False
    for places, line in found:
        if line.strip():
            known = known or bool(places)
            yield from ((number, change(line)) for number in places)
    if not known:
        raise ValueError("no reference of a sentence of the split; remove the entry")


def _lines(description: FurtherReferences, paths: Sequence[Path]) -> list[str]:
    return [line for path in paths for line in read_sentences(description.format, path)]


def _with_sources(
    description: FurtherReferences, files: Mapping[str, Sequence[Path]], source: str, target: str
) -> Iterator[tuple[str, str]]:
    """Sources and references, one reference at a time.

    In the format of Ott et al. (2018) a file has lines `S-7<tab>source`, `T-7<tab>published
    reference`, `R1-7<tab>further reference` ...; only the further ones are references here.
    """
    if description.format != EXTRA_REFERENCES:
        given, lines = (_lines(description, files[side]) for side in (source, target))
        if len(given) != len(lines):
            raise ValueError(
                f"{len(given)} lines of '{source}' but {len(lines)} of '{target}'; line n of one "
                "must be the source of the reference in line n of the other"
            )
        yield from zip(given, lines, strict=True)
        return
    for path in files[target]:
        sources: dict[str, str] = {}
        for number, line in enumerate(read_lines(path), start=1):
            label, _, text = line.partition("\t")
            match = _NUMBERED.fullmatch(label)
            if match is None or (match[1] == "R" and match[3] not in sources):
                raise ValueError(
                    f"{path}, line {number}: expected a label such as S-1, T-1 or R1-1 before a "
                    f"tab, and S-1 before R1-1; found '{label[:20]}'"
                )
            kind, _, sentence = match.groups()
            if kind == "S":
                sources[sentence] = text
            elif kind == "R":
                yield sources[sentence], text

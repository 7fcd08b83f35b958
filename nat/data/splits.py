"""Splits of a corpus: their names, folders, origins, references and expected sizes.

The text that trainings read, `train` and `valid`, lies at `results/corpora/{corpus}`. Every test
set has its own folder in it, `tests/{split}`, with the same steps, so that an additional test set
does not change any file that a training reads.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from nat.data.corpus import Corpus, FurtherReferences, PairSource, SizeAbout, Source, Split, Step
from nat.data.raw_text import Preparation
from nat.errors import UserError
from nat.files import atomic_write_text
from nat.options import hint

Value = TypeVar("Value")

TRAIN, VALID = "train", "valid"

CORPORA = Path("results/corpora")  # folder of all corpora

GIVEN = "given"
"""Folder in the text of a corpus with what it has from elsewhere besides text: subwords, and
`{teacher}.{target}`, a published translation of the training text."""

PERFECT = "perfect.json"
"""The file in the folder `tokens` of a test set with the score of a perfect translation."""


def sides(corpus: Corpus) -> tuple[str, str]:
    """Source and target language of a corpus."""
    return corpus.source, corpus.target


def split_names(corpus: Corpus) -> list[str]:
    """Names of the splits of a corpus: train, valid, test, then others in the order of its file."""
    if corpus.generator is not None:
        names = list(corpus.generator.pairs)
    else:
        names = list(corpus.splits if corpus.derived is None else corpus.derived.splits)
    return sorted(names, key=[TRAIN, VALID, "test", *names].index)


def test_names(corpus: Corpus) -> list[str]:
    """Names of the test sets of a corpus: the splits that no training reads."""
    return [split for split in split_names(corpus) if split not in (TRAIN, VALID)]


def held_out(corpus: Corpus) -> list[str]:
    """The splits of a corpus besides the training text."""
    return [split for split in split_names(corpus) if split != TRAIN]


def is_cut_out(corpus: Corpus, split: str) -> bool:
    """Return True for a split that is cut out of the training text."""
    return split in corpus.splits and corpus.splits[split].every is not None


def is_segmented(corpus: Corpus, split: str) -> bool:
    """Return True if the lines of a split consist of subwords, see `nat.data.corpus.Split`."""
    origin = TRAIN if is_cut_out(corpus, split) else split
    return origin in corpus.splits and corpus.splits[origin].segmented


def preparations(corpus: Corpus, split: str) -> tuple[Preparation, Preparation]:
    """How the lines of both sides of a split are prepared."""
    one, other = (corpus.preparation(each, is_segmented(corpus, split)) for each in sides(corpus))
    return one, other


def folder_of(corpus: str, split: str, corpora: Path = CORPORA) -> Path:
    """The folder with the steps of a split of a corpus."""
    whole = corpora / corpus
    return whole if split in (TRAIN, VALID) else whole / "tests" / split


def part_of(corpus: Corpus, splits: Iterable[str]) -> Corpus:
    """A corpus, restricted to some of its splits."""
    kept, generator, derived = set(splits), corpus.generator, corpus.derived
    changes: dict[str, Any] = {
        "expected": {
            step: sizes if step == "vocabulary" else _only(sizes, kept)
            for step, sizes in corpus.expected.items()
        }
    }
    if generator is not None:
        pairs = {"pairs": _only(generator.pairs, kept)}
        changes["generator"] = generator.model_copy(update=pairs)
    elif derived is not None:
        names = {"splits": [name for name in derived.splits if name in kept]}
        changes["derived"] = derived.model_copy(update=names)
    else:
        changes["splits"] = _only(corpus.splits, kept)
    return corpus.model_copy(update=changes)


def _only(values: Mapping[str, Value], names: set[str]) -> dict[str, Value]:
    return {name: value for name, value in values.items() if name in names}


def training_part(corpus: Corpus) -> Corpus:
    """The part of a corpus that trainings read."""
    return part_of(corpus, (TRAIN, VALID))


def text_part(corpus: Corpus, split: str = TRAIN) -> Corpus:
    """The part of a corpus whose raw text is made in one step: a test set, or the training text,
    `valid`, and what is cut out of it."""
    if split in (TRAIN, VALID):
        cut = [test for test in test_names(corpus) if is_cut_out(corpus, test)]
        return part_of(corpus, [TRAIN, VALID, *cut])
    of_training: dict[str, Any] = {"subwords": None, "distilled": {}}
    return part_of(corpus, [split]).model_copy(update=_only(of_training, corpus.model_fields_set))


def prepared_as(corpus: Corpus, split: str) -> dict[str, Any]:
    """The keys by which the text of a split is made and prepared, JSON-able, as written."""
    written = text_part(corpus, split).as_written()
    for description in written.get("splits", {}).values():
        description.pop("pairs", None)
    left_out = {"description", "licensed_by", "licence", "dataset"}
    left_out |= {"expected", "bleu_tokeniser", "least_perfect_score"}
    return {key: value for key, value in written.items() if key not in left_out}


def parts_by_key(name: str, split: Split) -> dict[str, PairSource]:
    """The parts of a split by their key in the corpus file; none if it is cut out of `train`."""
    if split.parts:
        return {f"splits.{name}.parts[{number}]": part for number, part in enumerate(split.parts)}
    return {} if split.every is not None else {f"splits.{name}": split}


def sources_of(corpus: Corpus) -> dict[str, Source]:
    """All descriptions of files of a corpus by their key in the corpus file."""
    sources: dict[str, Source] = {} if corpus.subwords is None else {"subwords": corpus.subwords}
    sources |= {f"distilled.{teacher}": text for teacher, text in corpus.distilled.items()}
    for name, split in corpus.splits.items():
        sources |= parts_by_key(name, split)
        for number, part in enumerate(split.references):
            sources[f"splits.{name}.references[{number}]"] = part
    return sources


def with_archive(source: Source, corpus: Corpus) -> Source:
    """A source with a test set of sacreBLEU described by its archive, checksum and members.

    Raises a `UserError` if there is no such test set.
    """
    if not isinstance(source, PairSource) or source.sacrebleu is None:
        return source
    from sacrebleu.dataset import DATASETS  # takes half a second

    name, pair = source.sacrebleu, f"{corpus.source}-{corpus.target}"
    known = DATASETS.get(name)
    if known is None or not (known.data and known.md5):
        raise UserError(f"sacreBLEU has no test set '{name}'; {hint(name, DATASETS)}")
    if pair not in known.langpairs:
        pairs = ", ".join(sorted(known.langpairs))
        raise UserError(f"sacreBLEU's test set '{name}' is not for {pair}; it has {pairs}")
    members = dict(zip(sides(corpus), known.langpairs[pair][:2], strict=True))
    (archive, *_), (md5, *_) = known.data, known.md5
    return PairSource(archive=archive, md5=md5, members=members, format="segments")


def addresses_of(corpus: Corpus) -> dict[str, str]:
    """The addresses that all files of a corpus come from, by key."""
    return {
        f"{key}.{of_url}": url
        for key, source in sources_of(corpus).items()
        for of_url, url in with_archive(source, corpus).addresses.items()
    }


def local_files(corpus: Corpus, *, references: bool = False) -> dict[str, Path]:
    """The local files of the text of a corpus, or of its further references, by their keys."""
    files = {}
    for key, source in sources_of(corpus).items():
        if isinstance(source, FurtherReferences) == references:
            for label, names in source.files.items():
                if isinstance(names, str):
                    files[f"{key}.files.{label}"] = Path(names)
                else:
                    several = enumerate(names)
                    files |= {f"{key}.files.{label}[{n}]": Path(name) for n, name in several}
    return files


def listed_references(corpus: Corpus, split: str) -> list[tuple[int, FurtherReferences]]:
    """The references of a split in the corpus file, with their numbers there.

    Those in the other language are left out: a corpus may reverse the direction of another one.
    """
    numbered = enumerate(corpus.splits[split].references if split in corpus.splits else [])
    return [(number, part) for number, part in numbered if corpus.target in part.labelled]


def has_references(corpus: Corpus, split: str) -> bool:
    """Return True for a split with references: listed ones, or those of a generator."""
    return are_complete(corpus, split) or bool(listed_references(corpus, split))


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
    """Write the references of sentences by their number, a line for each sentence that has any.

        {"id": 17, "references": ["...", "..."], "weights": [0.65, 0.35]}

    `id` counts the sentences of the split from 0. `weights` sum to 1 and are there only where the
    probabilities of the references are known, as in generated corpora, whose references are all
    noise-free targets.
    """
    rows = (
        {"id": number, "references": list(several)}
        | ({"weights": list(several.values())} if isinstance(several, Mapping) else {})
        for number, several in references.items()
    )
    atomic_write_text(path, "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))


def check_expected(corpus: Corpus, step: Step, counts: Mapping[str, int], folder: Path) -> None:
    """Compare the counts of a step, made in a folder, with those of the corpus file.

    Raises a `UserError` for the first outside its tolerance, or if no training pair is left.
    """
    if counts.get(TRAIN) == 0:
        options = corpus.preprocessing
        raise UserError(
            f"{folder}: no training pair is left with preprocessing.max_tokens "
            f"{options.max_tokens} and preprocessing.max_ratio {options.max_ratio:g}; widen them"
        )
    for name, due in corpus.expected.get(step, {}).items():
        number, tolerance = (due.about, due.tolerance) if isinstance(due, SizeAbout) else (due, 0)
        if abs(counts[name] - number) > tolerance * number:
            margin = f" plus or minus {100 * tolerance:g} %" if tolerance else ""
            raise UserError(
                f"{folder}: {name} is {counts[name]:,} where 'expected.{step}.{name}' of the "
                f"corpus file says {number:,}{margin}; look for a mistake in the preprocessing or "
                "the downloads, or correct the key"
            )

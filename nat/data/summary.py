"""The summary `corpus.json`: what each step of the preparation kept and wrote."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from nat.checksums import remedy
from nat.data.binarised import BinarisedText
from nat.data.corpus import Corpus
from nat.data.flags import counted, sentences
from nat.data.inspection import flags_of
from nat.data.invented.language import language_of
from nat.data.invented.law import corpus_subword_entropies
from nat.data.lines import count_lines, read_lines
from nat.data.splits import PERFECT, TRAIN, folder_of, sides, split_names
from nat.data.subwords import PIECES, splitter_at, subwords_file
from nat.data.vocabulary import SIDES, SPECIALS, UNK, Vocabularies
from nat.errors import UserError
from nat.files import read_json

QUANTILES = ("0.01", "0.5", "0.99")


def summarise(name: str, corpus: Corpus, folder: Path) -> dict[str, Any]:
    """Summarise a prepared corpus, with the exact entropies of a generated one.

    Those of subwords are only of held-out splits. Raises a `UserError` if a step is missing or two
    steps disagree on a count.
    """
    splits: dict[str, Any] = {}
    origins: dict[str, None] = {}
    entropies: dict[str, Any] = {}
    for split in split_names(corpus):
        its_folder = folder_of(folder.name, split, folder.parent)
        text = read_json(its_folder / "text" / "text.json")
        cleaned = read_json(its_folder / "clean" / "clean.json")["splits"][split]
        tokenised = read_json(its_folder / "tokens" / "tokens.json")["splits"][split]
        origins |= dict.fromkeys(text["origin"].split(" and "))
        if "entropies" in text and corpus.generator is not None:
            entropies[split] = text["entropies"][split]
            if split != TRAIN:
                splitter = splitter_at(subwords_file(folder / "bpe", "target"))
                sources = read_lines(its_folder / "text" / f"{split}.{corpus.source}")
                language = language_of(corpus.generator)
                of_subwords = corpus_subword_entropies(language, splitter, sources)
                entropies[split] |= {"subwords": of_subwords}
        _check(its_folder / "clean/clean.json", cleaned["read"], text["pairs"][split])
        kept = cleaned.pop("kept")
        splits[split] = {
            "pairs": tokenised["kept"],
            **cleaned,
            "languages": {
                language: _describe(its_folder, f"{split}.{language}", kept, tokenised["kept"])
                for language in sides(corpus)
            },
            "ratios": _ratios(its_folder / "binarised", split, sides(corpus)),
        }
        for reason, count in tokenised["dropped"].items():
            splits[split]["dropped"][reason] += count
        if (perfect := its_folder / "tokens" / PERFECT).exists():  # older test sets have none
            splits[split]["perfect"] = read_json(perfect)
    vocabularies, of_sides = Vocabularies.load(folder / "binarised"), {}
    for side in SIDES:
        path = subwords_file(folder / "bpe", side)
        sizes = {"size": len(getattr(vocabularies, side)), "special": len(SPECIALS)}
        if path.name == PIECES:
            of_sides[side] = {**sizes, "kind": "sentencepiece"}
        else:
            of_sides[side] = {**sizes, "kind": "bpe", "merges": count_lines(path) - 1}
    summary = {
        "corpus": name,
        "source": corpus.source,
        "target": corpus.target,
        "origin": " and ".join(origins),
        "splits": splits,
        "flags": flags_of(corpus, folder),
        "vocabulary": of_sides["target"] if vocabularies.is_joint else of_sides,
    }
    return summary | ({"entropies": entropies} if entropies else {})


def _describe(folder: Path, name: str, cleaned: int, pairs: int) -> dict[str, Any]:
    for step, due in (("clean", cleaned), ("tokens", pairs), ("bpe", pairs)):
        _check(folder / step / name, count_lines(folder / step / name), due)
    binarised = BinarisedText(folder / "binarised" / name)
    _check(folder / "binarised" / name, len(binarised), pairs)
    tokens = int(binarised.lengths.sum())
    return {
        "words": sum(len(line.split()) for line in read_lines(folder / "tokens" / name)),
        "tokens": tokens,
        "mean_length": round(tokens / pairs, 3),
        "max_length": int(binarised.lengths.max()),
        "lengths": _quantiles(binarised.lengths),
        "empty": int((binarised.lengths == 0).sum()),
        "unknown_rate": int((binarised.tokens == UNK).sum()) / max(tokens, 1),
    }


def _ratios(folder: Path, split: str, languages: Sequence[str]) -> dict[str, float]:
    """Quantiles of target tokens for each source token, of pairs without an empty side."""
    one, other = (BinarisedText(folder / f"{split}.{each}").lengths for each in languages)
    filled = (one > 0) & (other > 0)
    return _quantiles(other[filled] / one[filled]) if filled.any() else {}


def _quantiles(values: np.ndarray) -> dict[str, float]:
    numbers = np.quantile(values, [float(share) for share in QUANTILES], method="nearest")
    return dict(zip(QUANTILES, map(float, numbers.round(3)), strict=True))


def told(summary: Mapping[str, Any]) -> Iterator[str]:
    """What a reader should know about a corpus, line by line, from its summary."""
    for split, own in summary["splits"].items():
        lengths = (f"{each} {_range(its['lengths'])}" for each, its in own["languages"].items())
        yield (
            f"{split}: {counted(own['pairs'], 'pair')}; subwords in 98% of the lines: "
            f"{', '.join(lengths)}; target to source {_range(own['ratios'])}"
        )
    yield from sentences(summary["flags"])
    for split, own in summary["splits"].items():
        if own.get("perfect", {}).get("flags"):
            yield f"{split}: {'; '.join([own['perfect']['note'], *own['perfect']['flags']])}"


def _range(quantiles: Mapping[str, float]) -> str:
    low, median, high = (f"{quantiles[share]:g}" for share in QUANTILES) if quantiles else "---"
    return f"{low} to {high} (median {median})"


def _check(path: Path, count: int, due: int) -> None:
    """Refuse a step that was made from another number of sentences than the one before has."""
    if count != due:
        raise UserError(
            f"{path} counts {count} sentences where the step before counts {due}; {remedy(path)}"
        )

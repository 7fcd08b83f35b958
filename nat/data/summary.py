"""The summary `corpus.json`: what each step of the preparation kept and wrote."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from nat.data.binarised import BinarisedText
from nat.data.corpus import Corpus
from nat.data.flags import counted, sentence
from nat.data.inspection import flags_of
from nat.data.invented.language import language_of
from nat.data.invented.law import corpus_subword_entropies
from nat.data.lines import count_lines, read_lines
from nat.data.splits import PERFECT, TRAIN, folder_of, sides, split_names
from nat.data.subwords import PIECES, splitter_at, subwords_file
from nat.data.vocabulary import SIDES, SPECIALS, UNK, Vocabularies
from nat.files import read_json

QUANTILES = ("0.01", "0.5", "0.99")


def summarise(name: str, corpus: Corpus, folder: Path) -> dict[str, Any]:
    """Summarise a prepared corpus, with the exact entropies of a generated one.

    Those of subwords are only of held-out splits. Raises a `UserError` if a step is missing.
    """
    splits: dict[str, Any] = {}
    origins: dict[str, None] = {}
    entropies: dict[str, Any] = {}
    for split in split_names(corpus):
        own = folder_of(folder.name, split, folder.parent)
        text = read_json(own / "text" / "text.json")
        cleaned, tokenised = (
            read_json(own / step / f"{step}.json")["splits"][split] for step in ("clean", "tokens")
        )
        origins |= dict.fromkeys(text["origin"].split(" and "))
        if corpus.generator is not None:
            entropies[split] = text["entropies"][split]
            if split != TRAIN:
                splitter = splitter_at(subwords_file(folder / "bpe", "target"))
                sources = read_lines(own / "text" / f"{split}.{corpus.source}")
                language = language_of(corpus.generator)
                of_subwords = corpus_subword_entropies(language, splitter, sources)
                entropies[split] |= {"subwords": of_subwords}
        del cleaned["kept"]
        splits[split] = {
            "pairs": tokenised["kept"],
            **cleaned,
            "languages": {each: _describe(own, f"{split}.{each}") for each in sides(corpus)},
            "ratios": _ratios(own / "binarised", split, sides(corpus)),
        }
        for reason, count in tokenised["dropped"].items():
            splits[split]["dropped"][reason] += count
        if (perfect := own / "tokens" / PERFECT).exists():
            splits[split]["perfect"] = read_json(perfect)
    vocabularies, of_sides = Vocabularies.load(folder / "binarised"), {}
    for side in SIDES:
        path = subwords_file(folder / "bpe", side)
        sizes = {"size": len(getattr(vocabularies, side)), "special": len(SPECIALS)}
        bpe = {"kind": "bpe", "merges": count_lines(path) - 1}
        of_sides[side] = sizes | ({"kind": "sentencepiece"} if path.name == PIECES else bpe)
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


def _describe(folder: Path, name: str) -> dict[str, Any]:
    """Numbers of one side of a split."""
    binarised = BinarisedText(folder / "binarised" / name)
    tokens = int(binarised.lengths.sum())
    return {
        "words": sum(len(line.split()) for line in read_lines(folder / "tokens" / name)),
        "tokens": tokens,
        "mean_length": round(tokens / len(binarised), 3),
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
    yield from map(sentence, summary["flags"])
    for split, own in summary["splits"].items():
        if own.get("perfect", {}).get("flags"):
            yield f"{split}: {'; '.join([own['perfect']['note'], *own['perfect']['flags']])}"


def _range(quantiles: Mapping[str, float]) -> str:
    low, median, high = (f"{quantiles[share]:g}" for share in QUANTILES) if quantiles else "---"
    return f"{low} to {high} (median {median})"

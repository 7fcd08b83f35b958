"""The summary `corpus.json`: what each step kept, and what one would look for by hand."""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from nat.data.binarised import BinarisedText
from nat.data.clean import Seen, digest_of
from nat.data.corpus import Corpus
from nat.data.flags import Flag, TextFlags, counted, read_flags, sentence
from nat.data.invented.language import language_of
from nat.data.invented.law import corpus_subword_entropies
from nat.data.lines import count_lines, read_lines, read_pairs
from nat.data.raw_text import MOSES, PIECES, has_rules
from nat.data.splits import PERFECT, TRAIN, folder_of
from nat.data.subwords import splitter_at, subwords_file
from nat.data.vocabulary import SIDES, SPECIALS, UNK, Vocabularies
from nat.files import read_json

QUANTILES = ("0.01", "0.5", "0.99")

_ENTITY = re.compile(r"&(?:[A-Za-z]{2,8}|#\d{1,7}|#x[0-9A-Fa-f]{1,6});")

REPEATED = "repeated pairs"
IN_TRAINING = "pairs that are in the training text"
SOURCE_IN_TRAINING = "pairs whose source is in the training text, with another target"
ENTITIES = "pairs with XML entities"
NO_RULES = "pairs in '{}', a language that Moses has no rules for"

_REMEDIES = {
    REPEATED: "'preprocessing.drop_duplicates: true' leaves them out",
    IN_TRAINING: "take them out of the training text, or scores are too good",
    SOURCE_IN_TRAINING: "take them out of the training text, if its text is to be unknown",
    NO_RULES: "it gets those of English; 'tokeniser: unicode' restores any text",
    ENTITIES: "put the characters that they stand for, unless they are meant",
}


def summarise(corpus: Corpus, folder: Path) -> dict[str, Any]:
    """Summarise a prepared corpus, with the exact entropies of a generated one.

    Those of subwords are only of held-out splits. Raises a `UserError` if a step is missing.
    """
    learned = folder_of(folder.name, TRAIN, folder.parent)
    splits: dict[str, Any] = {}
    origins: dict[str, None] = {}
    entropies: dict[str, Any] = {}
    for split in corpus.split_names:
        own = folder_of(folder.name, split, folder.parent)
        text = read_json(own / "text" / "text.json")
        cleaned, tokenised = (
            read_json(own / step / f"{step}.json")["splits"][split] for step in ("clean", "tokens")
        )
        origins |= dict.fromkeys(text["origin"].split(" and "))
        if corpus.generator is not None:
            entropies[split] = text["entropies"][split]
            if split != TRAIN:
                splitter = splitter_at(subwords_file(learned / "bpe", "target"))
                sources = read_lines(own / "text" / f"{split}.{corpus.source}")
                language = language_of(corpus.generator)
                of_subwords = corpus_subword_entropies(language, splitter, sources)
                entropies[split] |= {"subwords": of_subwords}
        del cleaned["kept"]
        splits[split] = {
            "pairs": tokenised["kept"],
            **cleaned,
            "languages": {each: _describe(own, f"{split}.{each}") for each in corpus.sides},
            "ratios": _ratios(own / "binarised", split, corpus.sides),
        }
        for reason, count in tokenised["dropped"].items():
            splits[split]["dropped"][reason] += count
        if (perfect := own / "tokens" / PERFECT).exists():
            splits[split]["perfect"] = read_json(perfect)
    vocabularies, of_sides = Vocabularies.load(learned / "binarised"), {}
    for side, vocabulary in zip(SIDES, vocabularies, strict=True):
        path = subwords_file(learned / "bpe", side)
        sizes = {"size": len(vocabulary), "special": len(SPECIALS)}
        bpe = {"kind": "bpe", "merges": count_lines(path) - 1}
        of_sides[side] = sizes | ({"kind": "sentencepiece"} if path.name == PIECES else bpe)
    summary = {
        "corpus": folder.name,
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


def flags_of(corpus: Corpus, folder: Path) -> list[Flag]:
    """All flags of a prepared corpus: of its steps, and of what a look at all splits shows."""
    noticed: list[Flag] = []
    folders = {split: folder_of(folder.name, split, folder.parent) for split in corpus.split_names}
    for own in dict.fromkeys(folders.values()):
        for report in (own / step / f"{step}.json" for step in ("text", "clean", "tokens", "bpe")):
            noticed += read_flags(report) if report.exists() else []
    flags = TextFlags()
    for language in corpus.sides:
        if corpus.preparation(language).tokeniser in MOSES and not has_rules(language):
            path, kind = folders[TRAIN] / "clean" / f"{TRAIN}.{language}", NO_RULES.format(language)
            first, count = next(read_lines(path), ""), count_lines(path)
            where = f"line 1 of {path}"
            flags.add(kind, TRAIN, _REMEDIES[NO_RULES], where, first, count=count)
    _look(corpus, folders, flags)
    return noticed + flags.listed


def _look(corpus: Corpus, folders: Mapping[str, Path], flags: TextFlags) -> None:
    """Look at the clean pairs of all splits."""

    def clean(split: str) -> Iterator[tuple[int, tuple[str, str], bytes, bytes]]:
        """The number of each pair, the pair, and what it and its source are known by."""
        lowercase = corpus.preparations(split)[0].lowercase
        pairs = read_pairs(folders[split] / "clean", split, corpus.sides)
        for number, (source, target) in enumerate(pairs, start=1):
            both, alone = (digest_of(source, each, lowercase) for each in (target, ""))
            yield number, (source, target), both, alone

    seen, sources = Seen(), Seen()
    for split in (TRAIN, *corpus.held_out):
        others = corpus.is_segmented(split)
        for number, pair, both, alone in clean(split):
            kinds = []
            if split == TRAIN:
                sources.add(alone)
                kinds += [REPEATED] if seen.add(both) else []
            elif both in seen:
                kinds.append(IN_TRAINING)
            elif alone in sources:
                kinds.append(SOURCE_IN_TRAINING)
            # escapes in the subwords of others are flagged where these are read
            if not others and any("&" in side and _ENTITY.search(side) for side in pair):
                kinds.append(ENTITIES)
            for kind in kinds:
                where = f"line {number} of {folders[split] / 'clean'}"
                flags.add(kind, split, _REMEDIES[kind], where, *pair)


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

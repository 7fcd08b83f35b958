"""The summary `corpus.json`: what each step of the preparation kept, and what it made."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from nat.data.binarised import BinarisedText
from nat.data.bpe import CODES, PIECES
from nat.data.lines import count_lines, read_lines
from nat.data.splits import sides, split_names
from nat.data.vocabulary import SPECIALS, UNK, Vocabulary
from nat.errors import UserError
from nat.files import read_json


def summarise(name: str, corpus: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """Collect the facts of a prepared corpus and check that its steps agree.

    Per split: pairs read and kept, what was dropped or found faulty, and per language the number
    of words (before BPE) and tokens (subwords), mean and largest length in tokens, and the share
    of tokens that the dictionary does not know. A generated corpus adds its exact entropies.

    Args:
        name: name of the corpus.
        corpus: the corpus as its configuration file gives it.
        folder: folder with `text`, `clean`, `tokens`, `bpe` and `binarised`.

    Raises:
        UserError: if a step is missing or two steps disagree on a count.
    """
    text = read_json(folder / "text" / "text.json")
    cleaned = read_json(folder / "clean" / "clean.json")["splits"]
    tokenised = read_json(folder / "tokens" / "tokens.json")["splits"]
    vocabulary = Vocabulary.load(folder / "binarised" / "vocabulary.txt")
    splits: dict[str, Any] = {}
    for split in split_names(corpus):
        facts = cleaned[split]
        if facts["read"] != text["pairs"][split]:
            raise UserError(
                f"{folder / 'text'} has {text['pairs'][split]} pairs of {split}, but "
                f"{folder / 'clean'} was made from {facts['read']}; make the corpus again"
            )
        kept = tokenised[split]["kept"]
        languages = {
            language: _describe(folder, f"{split}.{language}", facts["kept"], kept)
            for language in sides(corpus)
        }
        splits[split] = {"pairs": kept, **facts, "languages": languages}
        for reason, count in tokenised[split]["dropped"].items():
            splits[split]["dropped"][reason] += count
        del splits[split]["kept"]
    source, target = sides(corpus)
    summary = {
        "corpus": name,
        "source": source,
        "target": target,
        "origin": text["origin"],
        "splits": splits,
        "vocabulary": {
            "size": len(vocabulary),
            "special": len(SPECIALS),
            **_subwords(folder / "bpe"),
        },
    }
    if "entropies" in text:
        summary["entropies"] = text["entropies"]
    return summary


def _subwords(folder: Path) -> dict[str, Any]:
    if (folder / PIECES).exists():
        return {"kind": "sentencepiece"}
    return {"kind": "bpe", "merges": count_lines(folder / CODES) - 1}


def _describe(folder: Path, name: str, cleaned: int, pairs: int) -> dict[str, Any]:
    binarised = BinarisedText(folder / "binarised" / name)
    due = {"clean": cleaned, "tokens": pairs, "bpe": pairs, "binarised": pairs}
    found = {step: count_lines(folder / step / name) for step in ("clean", "tokens", "bpe")}
    found["binarised"] = len(binarised)
    for step, count in found.items():
        if count != due[step]:
            raise UserError(
                f"{folder / step / name} has {count} sentences where the step before "
                f"counts {due[step]}; make the corpus again"
            )
    tokens = int(binarised.lengths.sum())
    return {
        "words": sum(len(line.split()) for line in read_lines(folder / "tokens" / name)),
        "tokens": tokens,
        "mean_length": round(tokens / pairs, 3),
        "max_length": int(binarised.lengths.max()),
        "empty": int((binarised.lengths == 0).sum()),
        "unknown_rate": int((binarised.tokens == UNK).sum()) / max(tokens, 1),
    }

"""The summary `corpus.json`: what each step of the preparation kept and wrote."""

from pathlib import Path
from typing import Any

from nat.checksums import remedy
from nat.data.binarised import BinarisedText
from nat.data.bpe import PIECES, segments_of, subwords_file
from nat.data.corpus import Corpus
from nat.data.invented.subword_law import corpus_subword_entropies
from nat.data.invented.text import read_options
from nat.data.lines import count_lines, read_lines
from nat.data.splits import TRAIN, folder_of, sides, split_names
from nat.data.vocabulary import SIDES, SPECIALS, UNK, Side, Vocabularies, Vocabulary
from nat.errors import UserError
from nat.files import read_json


def summarise(name: str, corpus: Corpus, folder: Path) -> dict[str, Any]:
    """Summarise a prepared corpus and check that its steps agree.

    Per split: pairs read and kept, what was dropped or found faulty, and per language the number
    of words (before BPE) and tokens (subwords), mean and largest length in tokens, and the share
    of tokens that are unknown to their vocabulary. Generated corpora also have exact entropies, of
    words and, of held-out splits, of subwords.

    Args:
        name: name of the corpus.
        corpus: the corpus.
        folder: of the corpus, with `text`, `clean`, `tokens`, `bpe` and `binarised`, and with
            those of each test set in `tests/{split}`.

    Raises:
        UserError: if a step is missing or two steps disagree on a count.
    """
    vocabularies = Vocabularies.load(folder / "binarised")
    splits: dict[str, Any] = {}
    origins: dict[str, None] = {}
    entropies: dict[str, Any] = {}
    for split in split_names(corpus):
        its_folder = folder_of(folder.name, split, folder.parent)
        text = read_json(its_folder / "text" / "text.json")
        facts = read_json(its_folder / "clean" / "clean.json")["splits"][split]
        tokenised = read_json(its_folder / "tokens" / "tokens.json")["splits"][split]
        origins |= dict.fromkeys(text["origin"].split(" and "))
        if "entropies" in text:
            entropies[split] = text["entropies"][split]
            if split != TRAIN:
                entropies[split] |= {"subwords": _of_subwords(corpus, folder, its_folder, split)}
        _check(its_folder / "clean/clean.json", facts["read"], text["pairs"][split])
        kept = tokenised["kept"]
        languages = {
            language: _describe(its_folder, f"{split}.{language}", facts["kept"], kept)
            for language in sides(corpus)
        }
        splits[split] = {"pairs": kept, **facts, "languages": languages}
        for reason, count in tokenised["dropped"].items():
            splits[split]["dropped"][reason] += count
        del splits[split]["kept"]
    source, target = sides(corpus)
    summary = {
        "corpus": name,
        "source": source,
        "target": target,
        "origin": " and ".join(origins),
        "splits": splits,
        "vocabulary": (
            _vocabulary(vocabularies.target, folder, "target")
            if vocabularies.is_joint
            else {side: _vocabulary(getattr(vocabularies, side), folder, side) for side in SIDES}
        ),
    }
    if entropies:
        summary["entropies"] = entropies
    return summary


def _of_subwords(corpus: Corpus, folder: Path, its_folder: Path, split: str) -> dict[str, float]:
    """Exact entropies of the subwords of a split of a generated corpus, see `subword_law`."""
    assert corpus.generator is not None
    language, _ = read_options(corpus.generator, tuple(corpus.generator.pairs))
    source, _ = sides(corpus)
    sources = read_lines(its_folder / "text" / f"{split}.{source}")
    return corpus_subword_entropies(language, segments_of(folder / "bpe", "target").split, sources)


def _vocabulary(vocabulary: Vocabulary, folder: Path, side: Side) -> dict[str, Any]:
    """Sizes of a vocabulary, and what its subwords are."""
    sizes = {"size": len(vocabulary), "special": len(SPECIALS)}
    path = subwords_file(folder / "bpe", side)
    if path.name == PIECES:
        return {**sizes, "kind": "sentencepiece"}
    return {**sizes, "kind": "bpe", "merges": count_lines(path) - 1}


def _describe(folder: Path, name: str, cleaned: int, pairs: int) -> dict[str, Any]:
    binarised = BinarisedText(folder / "binarised" / name)
    due = {"clean": cleaned, "tokens": pairs, "bpe": pairs, "binarised": pairs}
    found = {step: count_lines(folder / step / name) for step in ("clean", "tokens", "bpe")}
    found["binarised"] = len(binarised)
    for step, count in found.items():
        _check(folder / step / name, count, due[step])
    tokens = int(binarised.lengths.sum())
    return {
        "words": sum(len(line.split()) for line in read_lines(folder / "tokens" / name)),
        "tokens": tokens,
        "mean_length": round(tokens / pairs, 3),
        "max_length": int(binarised.lengths.max()),
        "empty": int((binarised.lengths == 0).sum()),
        "unknown_rate": int((binarised.tokens == UNK).sum()) / max(tokens, 1),
    }


def _check(path: Path, count: int, due: int) -> None:
    """Refuse a step that was made from another number of sentences than the one before has."""
    if count != due:
        raise UserError(
            f"{path} counts {count} sentences where the step before counts {due}; {remedy(path)}"
        )

"""Corpora of tests."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from nat.data.binarised import binarise_folder
from nat.data.clean import filter_folder
from nat.data.corpus import Corpus
from nat.data.corpus_parts import part_of, text_part
from nat.data.sources import Place
from nat.data.subwords import bpe_folder
from nat.data.text import make_text
from nat.jobs.prepare import prepare_split
from nat.options import validated

PREPROCESSING = {
    "lowercase": False,
    "normalise_punctuation": False,
    "tokeniser": "none",
    "max_tokens": 100,
    "max_ratio": 9.0,
}


def corpus_file(source: str, target: str) -> dict[str, Any]:
    """The file of a corpus with a test set."""
    splits = {
        split: {"files": {language: f"{split}.{language}" for language in (source, target)}}
        for split in ("train", "valid", "test")
    }
    return {
        "source": source,
        "target": target,
        "splits": splits,
        "preprocessing": {**PREPROCESSING},
    }


def write_text(
    root: Path, languages: tuple[str, str] = ("en", "de"), **splits: Sequence[Sequence[str]]
) -> None:
    """Write the lines of both sides of splits, as the file of a corpus names them."""
    root.mkdir(exist_ok=True)
    for split, sides in splits.items():
        for language, lines in zip(languages, sides, strict=True):
            path = root / f"{split}.{language}"
            path.write_bytes("".join(f"{line}\n" for line in lines).encode())


def translation(number: int, tokens: str, status: str = "ok", **changes: Any) -> dict[str, Any]:
    """A line of a file of translations."""
    facts = {"id": number, "tokens": tokens, "text": tokens, "score": -1.0, "steps": 1}
    return {**facts, "status": status, **changes}


def as_corpus(content: Mapping[str, Any]) -> Corpus:
    """The corpus that a file describes; what it leaves out of `preprocessing` is filled in."""
    preprocessing = PREPROCESSING | content.get("preprocessing", {})
    return validated(Corpus, {**content, "preprocessing": preprocessing})


def prepare_corpus(name: str, corpus: Corpus, root: Path = Path()) -> Path:
    """Make all steps of a corpus and its set `test` as the rules do; returns that of `train`."""
    corpora = root / "results/corpora"
    folder, test = corpora / name / "train", corpora / name / "test"
    place = Place(name, root, None, root / "downloads")
    for output in (folder, test):
        make_text(text_part(corpus, output.name), output / "text", place, corpora)
    part = part_of(corpus, ("train", "valid"))
    filter_folder("clean", part, folder / "text", folder / "clean")
    filter_folder("tokens", part, folder / "clean", folder / "tokens")
    bpe_folder(part, folder / "tokens", folder / "bpe")
    binarise_folder(part, folder / "bpe", folder / "binarised")
    prepare_split(corpus, "test", test, folder / "bpe")
    return folder

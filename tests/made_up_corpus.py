"""Corpora of tests."""

from collections.abc import Mapping
from typing import Any

from nat.data.corpus import Corpus
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
    return {"source": source, "target": target, "splits": splits, "preprocessing": PREPROCESSING}


def as_corpus(content: Mapping[str, Any]) -> Corpus:
    """The corpus that a file describes; what it leaves out of `preprocessing` is filled in."""
    preprocessing = PREPROCESSING | content.get("preprocessing", {})
    return validated(Corpus, {**content, "preprocessing": preprocessing})

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


def as_corpus(content: Mapping[str, Any]) -> Corpus:
    """The corpus that a file describes; what it leaves out of `preprocessing` is filled in."""
    preprocessing = PREPROCESSING | content.get("preprocessing", {})
    return validated(Corpus, {**content, "preprocessing": preprocessing})

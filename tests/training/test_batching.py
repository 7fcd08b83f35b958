"""Batches of consecutive sentences, the same as fairseq's."""

import json
from pathlib import Path

import numpy as np
import pytest

from nat.data.batch import batch_ends
from tests.messages import told

STORED = [
    json.loads(line)
    for line in (Path(__file__).parent / "batches_of_fairseq.jsonl").read_text().splitlines()
]
"""The number of sentences in each batch that `batch_by_size` of fairseq-fixed 0.12.3.1 makes,
compiled, with `required_batch_size_multiple=1`."""


def sizes(tokens: list[int], max_tokens: int) -> list[int]:
    ends = batch_ends(np.array(tokens, dtype=np.int64), max_tokens)
    return np.diff(ends, prepend=0).tolist()


@pytest.mark.parametrize("case", STORED, ids=lambda case: case["name"])
def test_the_batches_are_those_of_fairseq(case: dict) -> None:
    assert sizes(case["tokens"], case["max_tokens"]) == case["sizes"]


def test_a_sentence_that_fits_no_batch_is_refused() -> None:
    with told("9 tokens", "8", error=ValueError):
        batch_ends(np.array([3, 9, 2]), 8)

from pathlib import Path

import pytest
from made_up_corpus import as_corpus

from nat.data.expected import check_expected
from tests.messages import told

SIDES = {"source": "en", "target": "de"}
EXPECTED = {"tokens": {"train": {"about": 1000, "tolerance": 0.01}, "test": 50}}
CORPUS = as_corpus({**SIDES, "expected": EXPECTED})


@pytest.mark.parametrize("train", [990, 1000, 1010])
def test_counts_within_the_tolerance(train: int) -> None:
    check_expected(CORPUS, "tokens", {"train": train, "valid": 7, "test": 50}, Path("f"))
    check_expected(CORPUS, "text", {"train": 1}, Path("f"))
    check_expected(as_corpus(SIDES), "tokens", {"train": 1}, Path("f"))


@pytest.mark.parametrize("train", [989, 1011])
def test_other_counts_are_told(train: int) -> None:
    with told("results/x/tokens", f"{train:,}", "'expected.tokens.train'", "1,000", "1 %"):
        check_expected(CORPUS, "tokens", {"train": train, "test": 50}, Path("results/x/tokens"))


def test_a_plain_number_is_exact() -> None:
    with told("'expected.tokens.test'", "49", "50"):
        check_expected(CORPUS, "tokens", {"train": 1000, "test": 49}, Path("f"))

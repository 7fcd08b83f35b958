"""Assignment of the latents of two references."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from made_up_corpus import as_corpus

from nat.analyses.latent_assignment import (
    assign,
    assignments,
    most_apart,
    moved,
    reordered,
    segmenter,
)
from nat.data.subwords import learn, segments_at
from tests.tiny import make_model


def test_a_permutation_is_found_again() -> None:
    numbers = np.random.default_rng(0)
    first = numbers.standard_normal((9, 4))
    order = numbers.permutation(9)
    second = first[order] + 0.01 * numbers.standard_normal((9, 4))
    np.testing.assert_array_equal(order[assign(first, second)], np.arange(9))


def test_the_sum_of_distances_decides_not_each_nearest_one() -> None:
    # both are nearest to 0; the cheapest way is to leave them where they are
    assert assign(np.array([[0.0], [0.4]]), np.array([[0.1], [3.0]])).tolist() == [0, 1]
    assert assign(np.zeros((1, 2)), np.ones((1, 2))).tolist() == [0]


def test_orders() -> None:
    assert reordered(["a", "b", "c"], ["a", "b", "c"]) == 0
    assert reordered(["a", "b", "c"], ["c", "b", "a"]) == 1
    assert reordered(["a", "b", "c"], ["c", "a", "b"]) == pytest.approx(2 / 3)
    assert reordered(["a", "x", "b"], ["b", "y", "a"]) == 1
    assert reordered(["a", "a", "b"], ["b", "a"]) == 0  # which "a" it is, nobody knows
    assert reordered([], ["a"]) == 0
    assert most_apart(["a b c", "x y z", "b c a", "c b a"]) == ("a b c", "c b a")
    # two words of which both are turned round tell less than three of four
    assert most_apart(["a b c d", "b a", "d b c a"]) == ("a b c d", "d b c a")
    assert most_apart(["a b", "a b"]) is None


@pytest.fixture
def model() -> Any:
    model = make_model(parts={"latent": {"dim": 3}})
    with torch.no_grad():
        for parameter in model.latent.parameters():
            parameter.add_(0.3 * torch.randn_like(parameter))
    return model


def test_the_same_reference_moves_nothing(model: Any) -> None:
    numbers = np.random.default_rng(1)
    sources = [numbers.integers(6, 29, length) for length in (5, 3, 0, 4)]
    references = {number: [numbers.integers(6, 29, 4).tolist()] * 2 for number in (0, 1, 2)}
    found = assignments(model, sources, references, 1000)
    assert found == {0: [0, 1, 2, 3, 4, 5], 1: [0, 1, 2, 3]}


def test_batches_do_not_matter(model: Any) -> None:
    numbers = np.random.default_rng(1)
    sources = [numbers.integers(6, 29, length) for length in (5, 3, 7, 4)]
    references = {
        number: [numbers.integers(6, 29, length).tolist() for length in (3 + number, 6)]
        for number in range(4)
    }
    alone, together = (assignments(model, sources, references, tokens) for tokens in (1, 1000))
    assert alone == together and sorted(alone) == [0, 1, 2, 3]
    for number, row in alone.items():
        assert sorted(row) == list(range(len(sources[number]) + 1))


def test_shares() -> None:
    pairs = {0: ("a b", "a b"), 1: ("a b", "b a")}
    found = moved({0: [0, 1, 2], 1: [1, 0, 2]}, pairs)
    assert found == {
        "latent_moved": pytest.approx(100 / 3),
        "latent_moved_with_order": pytest.approx(1),
    }
    assert moved({0: [0, 1]}, pairs) == {"latent_moved": 0}
    assert moved({}, pairs) == {}


def test_references_are_prepared_as_the_corpus(tmp_path: Path) -> None:
    (tmp_path / "codes").write_text(learn(["ab ab ab", "abc abc"], 2))
    options = {"tokeniser": "moses", "lowercase": True, "normalise_punctuation": True}
    split = segmenter(
        tmp_path, as_corpus({"source": "en", "target": "de", "preprocessing": options})
    )
    assert split("Abc, ab.") == segments_at(tmp_path / "codes").split("abc , ab .")
    assert split("AB") == "ab"
    # the quotation marks of the training text are normalised, too
    assert split("„Abc“") == split('"Abc"')

"""Choosing positions by confidence."""

from typing import Any

import pytest
import torch

from nat.alignment.reveal import least_confident, most_confident

INFINITY = float("inf")


@pytest.mark.parametrize(
    ("choose", "never", "first"),
    [
        (most_confident, -INFINITY, [False, True, False, True]),
        (least_confident, INFINITY, [True, False, True, False]),
    ],
)
def test_positions_of_each_row_are_marked(choose: Any, never: float, first: list[bool]) -> None:
    confidence = torch.tensor([[-1.0, -0.5, -3.0, -0.1], [-0.2, never, never, never]])
    marked = choose(confidence, torch.tensor([2, 1]))
    assert marked.tolist() == [first, [True, False, False, False]]


def test_ties_go_to_the_left() -> None:
    equal = torch.zeros(1, 40)
    for choose in (most_confident, least_confident):
        assert choose(equal, torch.tensor([3])).nonzero()[:, 1].tolist() == [0, 1, 2]


def test_none_and_all_can_be_chosen() -> None:
    confidence = torch.randn(2, 5, generator=torch.Generator().manual_seed(0))
    for choose in (most_confident, least_confident):
        assert choose(confidence, torch.tensor([0, 5])).sum(1).tolist() == [0, 5]

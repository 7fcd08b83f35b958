"""Choosing positions by confidence."""

from typing import Any

import pytest
import torch

from nat.alignment.reveal import least_confident, most_confident, most_confident_in_blocks


@pytest.mark.parametrize(
    ("choose", "first"),
    [
        (most_confident, [False, True, False, True]),
        (least_confident, [True, False, True, False]),
    ],
)
def test_positions_of_each_row_are_marked(choose: Any, first: list[bool]) -> None:
    confidence = torch.tensor([[-1.0, -0.5, -3.0, -0.1], [-0.2, -0.1, -0.3, -0.2]])
    only_first = [True, False, False, False]
    for number in (1, 2):
        marked = choose(
            confidence, torch.tensor([2, number]), torch.tensor([[True] * 4, only_first])
        )
        assert marked.tolist() == [first, only_first]


def test_ties_go_to_the_left() -> None:
    equal = torch.zeros(1, 40)
    for choose in (most_confident, least_confident):
        marked = choose(equal, torch.tensor([3]), equal.eq(0))
        assert marked.nonzero()[:, 1].tolist() == [0, 1, 2]


def test_blocks_by_hand() -> None:
    # blocks of 3: [0 1 2] [3 4 5] [6 7]; the first pass takes the last of each whole block
    confidence = torch.tensor([[-3.0, -1.0, -9.0, -1.0, -2.0, -0.1, -2.0, -1.0]])
    masked = torch.ones(1, 8, dtype=torch.bool)
    expected = [[2, 5], [1, 3, 7], [0, 4, 6]]
    for number, places in enumerate(expected, 1):
        revealed = most_confident_in_blocks(confidence, masked, 3, number)
        assert revealed[0].nonzero()[:, 0].tolist() == places
        masked = masked & ~revealed
    assert not masked.any()


@pytest.mark.parametrize("steps", [1, 2, 3, 4, 8])
@pytest.mark.parametrize("share", [0.3, 1.0])
def test_everything_is_revealed_once_and_never_two_neighbours(steps: int, share: float) -> None:
    numbers = torch.Generator().manual_seed(steps)
    masked = torch.rand(200, 21, generator=numbers) < share
    masked &= torch.arange(21) < torch.randint(1, 22, (200, 1), generator=numbers)
    left = masked
    for number in range(1, steps + 1):
        confidence = torch.randn(200, 21, generator=numbers)
        revealed = most_confident_in_blocks(confidence, left, steps, number)
        assert not (revealed & ~left).any()
        if steps > 1:
            assert not (revealed[:, 1:] & revealed[:, :-1]).any()
        left = left & ~revealed
    assert not left.any()

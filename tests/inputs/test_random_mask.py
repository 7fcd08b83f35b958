from itertools import combinations

import pytest
import torch

from nat.data.batch import Batch
from nat.data.vocabulary import MASK, PAD
from nat.inputs.random_mask import RandomMask
from tests.tiny import make_batch, without_model


def many(length: int, number: int = 24_000) -> Batch:
    target = torch.arange(length).expand(number, -1) + 6
    return Batch(torch.arange(number), target[:, :1], target)


@pytest.mark.parametrize("length", [1, 2, 5])
def test_number_of_masks_is_uniform_from_one_to_all(length: int) -> None:
    masked = RandomMask()(without_model(many(length))).loss_mask
    counts = masked.sum(1).bincount(minlength=length + 1)
    assert counts[0] == 0
    expected = 24_000 / length
    assert ((counts[1:] - expected).abs() < 5 * expected**0.5).all()


def test_every_set_of_positions_is_as_likely() -> None:
    found = RandomMask()(without_model(many(4))).loss_mask
    codes = (found.long() * torch.tensor([1, 2, 4, 8])).sum(1).bincount(minlength=16)
    for number in range(1, 5):
        sets = [sum(1 << place for place in chosen) for chosen in combinations(range(4), number)]
        expected = 24_000 / 4 / len(sets)
        assert all(abs(codes[code] - expected) < 5 * expected**0.5 for code in sets)


def test_masks_replace_exactly_what_carries_loss() -> None:
    for update in range(50):
        batch = make_batch()
        found = RandomMask()(without_model(batch, update))
        carries = found.loss_mask
        assert (found.tokens[carries] == MASK).all()
        assert torch.equal(found.tokens[~carries], batch.target[~carries])
        assert torch.equal(found.target, batch.target)
        assert not carries[batch.target.eq(PAD)].any()
        assert carries.any(1).all()
        assert not found.causal

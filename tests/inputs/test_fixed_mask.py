import math
from fractions import Fraction

import pytest
import torch

from nat.alignment.reveal import share_of
from nat.data.vocabulary import MASK
from nat.inputs.fixed_mask import FixedMask
from tests.tiny import make_batch, without_model


@pytest.mark.parametrize(
    ("revealed", "expected"),
    [(0.2, [0, 1, 2, 2, 4, 8, 80]), (0.01, [0, 1, 2, 3, 5, 10, 99]), (0.99, [0, 1, 1, 1, 1, 1, 1])],
)
def test_the_rest_is_masked_and_at_least_one(revealed: float, expected: list[int]) -> None:
    batch = make_batch([(1, length) for length in (0, 1, 2, 3, 5, 10, 100)])
    for update in range(5):
        found = FixedMask(revealed=revealed)(without_model(batch, update))
        carries = found.loss_mask
        assert carries.sum(1).tolist() == expected
        assert (found.tokens[carries] == MASK).all()
        assert torch.equal(found.tokens[~carries], batch.target[~carries])
        assert torch.equal(found.target, batch.target)


def test_a_half_is_a_half_whatever_the_share() -> None:
    lengths = torch.arange(1001)
    for share in ("0.3", "0.15", "0.58", "0.7"):
        products = [Fraction(share) * int(length) for length in lengths]
        assert share_of(lengths, float(share)).round().tolist() == list(map(round, products))
        assert share_of(lengths, float(share)).floor().tolist() == list(map(math.floor, products))
    # 0.3 * 95 = 28.5, of which the nearest even integer is shown
    found = FixedMask(revealed=0.3)(without_model(make_batch([(1, 95)])))
    assert found.loss_mask.sum() == 95 - 28

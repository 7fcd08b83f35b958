import torch

from nat.data.batch import Batch
from nat.data.vocabulary import MASK, PAD
from nat.inputs.full_mask import FullMask
from tests.tiny import make_context, make_model


def test_hand_made() -> None:
    batch = Batch.collate([0, 1, 2], [[9], [9], [9]], [[10, 11, 12], [13], []])
    found = FullMask()(make_context(make_model(), batch))
    assert found.tokens.tolist() == [[MASK] * 3, [MASK, PAD, PAD], [PAD] * 3]
    assert torch.equal(found.target, batch.target)
    assert torch.equal(found.loss_mask, ~found.padding)
    assert torch.equal(found.padding, batch.target_padding)
    assert not found.causal

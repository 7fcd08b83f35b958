import torch

from nat.data.batch import Batch
from nat.data.vocabulary import BOS, EOS, PAD
from nat.inputs.previous_tokens import PreviousTokens
from tests.tiny import make_context, make_model


def test_hand_made() -> None:
    batch = Batch.collate([0, 1, 2], [[9], [9], [9]], [[10, 11, 12], [13], []])
    found = PreviousTokens()(make_context(make_model(), batch))
    assert found.tokens.tolist() == [[BOS, 10, 11, 12], [BOS, 13, PAD, PAD], [BOS, *[PAD] * 3]]
    assert found.target.tolist() == [[10, 11, 12, EOS], [13, EOS, PAD, PAD], [EOS, *[PAD] * 3]]
    assert torch.equal(found.loss_mask, found.target.ne(PAD))
    assert torch.equal(found.padding, found.target.eq(PAD))
    assert found.causal

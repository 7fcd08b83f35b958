from collections.abc import Callable
from typing import Any

import torch

from nat.data.batch import Batch
from nat.data.vocabulary import MASK, PAD
from nat.inputs.full_mask import FullMask


def test_hand_made(make_model: Callable[..., Any], make_context: Callable[..., Any]) -> None:
    batch = Batch.collate([0, 1, 2], [[9], [9], [9]], [[10, 11, 12], [13], []])
    found = FullMask()(make_context(make_model(), batch))
    assert found.tokens.tolist() == [[MASK] * 3, [MASK, PAD, PAD], [PAD] * 3]
    assert torch.equal(found.target, batch.target)
    assert found.loss_mask.sum(1).tolist() == [3, 1, 0]
    assert not found.causal


def test_the_input_tells_nothing_but_the_length(
    make_model: Callable[..., Any],
    make_context: Callable[..., Any],
    make_batch: Callable[..., Batch],
) -> None:
    model = make_model()
    one, other = (FullMask()(make_context(model, make_batch(seed=seed))) for seed in (1, 2))
    assert torch.equal(one.tokens, other.tokens)
    assert not torch.equal(one.target, other.target)


def test_only_empty_targets(
    make_model: Callable[..., Any], make_context: Callable[..., Any]
) -> None:
    found = FullMask()(make_context(make_model(), Batch.collate([0], [[9]], [[]])))
    assert found.tokens.shape == (1, 0)

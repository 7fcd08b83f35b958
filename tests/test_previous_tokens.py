from collections.abc import Callable
from typing import Any

import torch

from nat.data.batch import Batch
from nat.data.vocabulary import BOS, EOS, PAD
from nat.inputs.previous_tokens import PreviousTokens


def shifted(make_model: Callable[..., Any], make_context: Callable[..., Any], batch: Batch) -> Any:
    return PreviousTokens()(make_context(make_model(), batch))


def test_hand_made(make_model: Callable[..., Any], make_context: Callable[..., Any]) -> None:
    batch = Batch.collate([0, 1, 2], [[9], [9], [9]], [[10, 11, 12], [13], []])
    found = shifted(make_model, make_context, batch)
    assert found.tokens.tolist() == [
        [BOS, 10, 11, 12],
        [BOS, 13, PAD, PAD],
        [BOS, PAD, PAD, PAD],
    ]
    assert found.target.tolist() == [
        [10, 11, 12, EOS],
        [13, EOS, PAD, PAD],
        [EOS, PAD, PAD, PAD],
    ]
    assert torch.equal(found.loss_mask, found.target.ne(PAD))
    assert torch.equal(found.padding, found.target.eq(PAD))
    assert found.causal


def test_only_empty_targets(
    make_model: Callable[..., Any], make_context: Callable[..., Any]
) -> None:
    found = shifted(make_model, make_context, Batch.collate([0, 1], [[9], []], [[], []]))
    assert found.tokens.tolist() == [[BOS], [BOS]]
    assert found.target.tolist() == [[EOS], [EOS]]


def test_the_batch_stays_as_it_was(
    make_model: Callable[..., Any],
    make_context: Callable[..., Any],
    make_batch: Callable[..., Batch],
) -> None:
    batch = make_batch()
    before = batch.target.clone()
    shifted(make_model, make_context, batch)
    assert torch.equal(batch.target, before)

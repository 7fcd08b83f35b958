from typing import Any

import pytest
import torch

from nat.data.batch import Batch
from nat.data.vocabulary import BOS, EOS, MASK, PAD
from nat.inputs.grouped_tokens import GroupedTokens
from nat.inputs.skip import BEGIN_OF_CHUNKS, Skip
from tests.tiny import make_batch, make_context, make_model


def rows(decoder_input: Any, row: int) -> tuple[list[int], list[int], list[int], list[bool]]:
    """Tokens, labels, positions and what is learned of a sentence, without its padding."""
    real = ~decoder_input.padding[row]
    return (
        decoder_input.tokens[row][real].tolist(),
        decoder_input.target[row][real].tolist(),
        decoder_input.positions[row][real].tolist(),
        decoder_input.loss_mask[row][real].tolist(),
    )


@pytest.fixture
def batch() -> Batch:
    targets = [[11, 12, 13, 14, 15], [11, 12, 13, 14], [11], []]
    return Batch.collate(range(4), [[9, 9]] * 4, targets)


def test_the_primary_tasks_of_every_second_token(batch: Batch) -> None:
    context = make_context(make_model(decoder={"chunk": 2}), batch)
    causal, at_once = Skip(curriculum=None)(context)
    assert causal.causal and not at_once.causal
    B, E, M = BEGIN_OF_CHUNKS, EOS, MASK
    assert rows(causal, 0) == ([B, 12, 14], [12, 14, E], [0, 2, 4], [True] * 3)
    assert rows(causal, 1) == ([B, 12, 14], [12, 14, E], [0, 2, 4], [True] * 3)
    assert rows(causal, 2) == ([B], [E], [0], [True])
    numbers = [1, 2, 3, 4, 5, 6]
    learned = [True, False] * 3
    assert rows(at_once, 0) == ([M, 12, M, 14, M, E], [11, 12, 13, 14, 15, E], numbers, learned)
    # the sentence ends where a chunk begins: its EOS is to be filled in
    assert rows(at_once, 1) == ([M, 12, M, 14, M, E], [11, 12, 13, 14, E, E], numbers, learned)
    assert rows(at_once, 2) == ([M, E], [11, E], [1, 2], [True, False])
    # nothing is learned of an empty target
    assert not causal.loss_mask[3].any() and not at_once.loss_mask[3].any()
    for task in (causal, at_once):
        assert torch.equal(task.tokens.eq(PAD), task.padding)


def test_nothing_is_learned_behind_the_end(batch: Batch) -> None:
    context = make_context(make_model(decoder={"chunk": 4}), batch)
    causal, at_once = Skip(curriculum=None)(context)
    assert rows(causal, 0)[:3] == ([BEGIN_OF_CHUNKS, 14], [14, EOS], [0, 4])
    tokens, labels, positions, learned = rows(at_once, 0)
    assert labels == [11, 12, 13, 14, 15, EOS, EOS, EOS]
    assert tokens == [MASK, MASK, MASK, 14, MASK, MASK, MASK, EOS]
    assert learned == [True, True, True, False, True, True, False, False]
    assert positions == [*range(1, 9)]


def test_the_auxiliary_tasks_come_first(batch: Batch) -> None:
    context = make_context(make_model(decoder={"chunk": 2}), batch, progress=0.0)
    causal, at_once = Skip()(context)
    target = [11, 12, 13, 14, 15]
    assert rows(causal, 0)[:3] == ([BOS, *target], [*target, EOS], [*range(6)])
    tokens, labels, positions, learned = rows(at_once, 0)
    assert labels == [*target, EOS] and positions == [*range(1, 7)]
    assert any(learned)
    shown = zip(labels, learned, strict=True)
    assert tokens == [MASK if hidden else label for label, hidden in shown]


@pytest.mark.parametrize(("curriculum", "share"), [(1.0, 0.36), (0.5, 0.6), (2.0, 0.1296)])
def test_the_curriculum(curriculum: float, share: float) -> None:
    batch = make_batch([(1, 4)] * 3000)
    context = make_context(make_model(decoder={"chunk": 2}), batch, progress=0.36)
    causal, _ = Skip(curriculum=curriculum)(context)
    primary = causal.tokens[:, 0].eq(BEGIN_OF_CHUNKS)
    assert primary.double().mean().item() == pytest.approx(share, abs=0.04)


@pytest.mark.parametrize("chunk", [2, 3, 4])
def test_the_longest_target_that_is_let_through_fits_the_positions(chunk: int) -> None:
    model = make_model(decoder={"chunk": chunk}, max_positions=16)
    longest = model.longest_target
    assert longest % chunk == chunk - 1 and longest + chunk + 1 > 16 - chunk
    batch = Batch.collate([0], [[9, 9]], [[11] * longest])
    context = make_context(model, batch)
    primary, auxiliary = (Skip(curriculum=each)(context) for each in (None, 1e6))
    for each in (*primary, *auxiliary, GroupedTokens()(context)):
        assert context.decode(each).isfinite().all()

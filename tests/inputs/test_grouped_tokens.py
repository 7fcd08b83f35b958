"""The semi-autoregressive Transformer: its input and its mask."""

import torch

from nat.data.batch import Batch
from nat.data.vocabulary import BOS, EOS, PAD
from nat.inputs.grouped_tokens import GroupedTokens
from tests.tiny import decoded, make_context, make_model


def test_groups_are_whole() -> None:
    targets = [[11, 12, 13, 14, 15], [11, 12, 13], [11], []]
    batch = Batch.collate(range(4), [[9, 9]] * 4, targets)
    found = GroupedTokens()(make_context(make_model(decoder={"chunk": 2}), batch))
    B, E, P = BOS, EOS, PAD
    assert found.tokens.tolist() == [
        [B, B, 11, 12, 13, 14],
        [B, B, 11, 12, P, P],
        [B, B, P, P, P, P],
        [B, B, P, P, P, P],
    ]
    assert found.target.tolist() == [
        [11, 12, 13, 14, 15, E],
        [11, 12, 13, E, P, P],
        [11, E, P, P, P, P],
        [E, E, P, P, P, P],
    ]
    assert found.loss_mask.sum(1).tolist() == [6, 4, 2, 0]
    three = GroupedTokens()(make_context(make_model(decoder={"chunk": 3}), batch))
    # behind EOS, but within its group
    assert three.target[1].tolist() == [11, 12, 13, E, E, E]
    assert three.tokens[1].tolist() == [B, B, B, 11, 12, 13]
    assert three.loss_mask[1].tolist() == [True] * 4 + [False] * 2


@torch.no_grad()
def test_a_group_sees_itself_and_what_is_before() -> None:
    model = make_model(decoder={"chunk": 3})
    tokens = [*range(6, 15)]
    states = decoded(model, [9, 8, 7], tokens, causal=True, group=3)
    for place in range(9):
        changed = [*tokens[:place], 20, *tokens[place + 1 :]]
        moved = decoded(model, [9, 8, 7], changed, causal=True, group=3)
        differs = (moved - states).abs().amax(1) > 1e-9
        assert differs.tolist() == [other // 3 >= place // 3 for other in range(9)]

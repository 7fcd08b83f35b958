"""The semi-autoregressive Transformer: its input, its mask, and its search."""

from typing import Any

import pytest
import torch

from nat.data.batch import Batch, source_tensor
from nat.data.vocabulary import BOS, EOS, PAD
from nat.decoding.beam_search import BeamSearch
from nat.decoding.group_beam_search import GroupBeamSearch
from nat.inputs.grouped_tokens import GroupedTokens
from tests.tiny import make_context, make_model


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
    encoded = model.encode(source_tensor([[9, 8, 7]]))
    tokens = torch.arange(6, 15)[None]
    padding = torch.zeros_like(tokens, dtype=torch.bool)
    states = model.decode(tokens, padding, encoded, causal=True, group=3)
    for place in range(9):
        changed = tokens.clone()
        changed[0, place] = 20
        moved = model.decode(changed, padding, encoded, causal=True, group=3)
        differs = (moved - states).abs().amax(2)[0] > 1e-9
        assert differs.tolist() == [other // 3 >= place // 3 for other in range(9)]


@torch.no_grad()
def test_token_groups_one_after_the_other_are_the_same_as_all_at_once() -> None:
    model = make_model(decoder={"chunk": 3})
    encoded = model.encode(source_tensor([[9, 8, 7], [12]]))
    tokens = torch.randint(6, 29, (2, 21), generator=torch.Generator().manual_seed(1))
    padding = torch.zeros_like(tokens, dtype=torch.bool)
    whole = model.decode(tokens, padding, encoded, causal=True, group=3)
    cache = model.start(encoded, beam=1)
    for start in range(0, 21, 3):
        found = model.step(tokens[:, start : start + 3], cache)
        torch.testing.assert_close(found, whole[:, start : start + 3])


def reference(
    model: Any, sentence: list[int], chunk: int, beam: int, longest: int
) -> tuple[list[int], float]:
    """The documented search without a cache, one hypothesis at a time."""
    encoded = model.encode(source_tensor([sentence]))
    opened: list[tuple[float, list[int], torch.Tensor]] = [(0.0, [], torch.empty(0))]
    ended: list[tuple[float, list[int]]] = []
    for length in range(longest + 1):
        if length % chunk == 0:
            grown = []
            for total, prefix, _ in opened:
                shown = torch.tensor([[BOS] * chunk + prefix])
                padding = torch.zeros_like(shown, dtype=torch.bool)
                states = model.decode(shown, padding, encoded, causal=True, group=chunk)
                logs = (states[0, -chunk:] @ model.embedding.weight.t()).log_softmax(-1)
                grown.append((total, prefix, logs))
            opened = grown
        candidates = [
            (total + float(logs[length % chunk, symbol]), [*prefix, symbol], logs)
            for total, prefix, logs in opened
            for symbol in range(len(model.embedding.weight))
            if symbol == EOS or ((symbol > 5 or symbol == 3) and length < longest)
        ]
        candidates.sort(key=lambda each: -each[0])
        ended += [
            (total / len(prefix), prefix[:-1])
            for total, prefix, _ in candidates[:beam]
            if prefix[-1] == EOS
        ]
        opened = [each for each in candidates if each[1][-1] != EOS][:beam]
        best = max(ended, default=(-float("inf"), []))[0]
        if len(ended) >= beam or (opened and best >= opened[0][0] / (longest + 1)):
            break
    score, tokens = max(ended)
    return tokens, score


@pytest.mark.parametrize("chunk", [2, 3])
@torch.no_grad()
def test_the_search_of_groups(chunk: int) -> None:
    model = make_model(seed=4, vocabulary_size=14, decoder={"chunk": chunk})
    model.embedding.weight.mul_(1.5)
    sentences = [[6, 7, 8, 9], [10], [11, 12, 13, 6, 7, 8], [9, 9]]
    decoding = GroupBeamSearch(beam=3, longest_ratio=1.0, longest_margin=3)
    found = decoding(model, source_tensor(sentences))
    for hypothesis, sentence in zip(found, sentences, strict=True):
        tokens, score = reference(model, sentence, chunk, 3, len(sentence) + 3)
        assert hypothesis.tokens == tokens
        assert hypothesis.score == pytest.approx(score)
        assert hypothesis.steps <= len(tokens) // chunk + 4
    assert len({len(one.tokens) for one in found}) > 1


@torch.no_grad()
def test_positions_limit_whole_groups() -> None:
    model = make_model(seed=4, decoder={"chunk": 3}, max_positions=10)
    model.embedding.weight[EOS] = -model.embedding.weight[6:].mean(0)
    found = GroupBeamSearch(beam=2, longest_margin=50)(model, source_tensor([[6, 7]]))
    assert len(found[0].tokens) <= 8
    plain = make_model(seed=4, max_positions=10)
    assert len(BeamSearch(beam=2, longest_margin=50)(plain, source_tensor([[6, 7]]))[0].tokens) <= 9

"""Masks in translations of an autoregressive model, filled in by another one."""

from typing import Any

import pytest
import torch

from nat.data.batch import source_tensor
from nat.data.vocabulary import MASK
from nat.decoding.beam_search import BeamSearch
from nat.decoding.masked_at_outputs import MaskedAtOutputs
from nat.registry import Method, build
from tests.messages import told
from tests.tiny import log_probabilities, make_model

LENGTHS = torch.tensor([10, 1, 0, 7, 3])
REAL = torch.arange(10) < LENGTHS[:, None]
IDS = torch.arange(5)


def masks(**options: Any) -> list[str]:
    """Masks of five sentences, as text: x where masked."""
    method = build("decoding", Method(method="masked_at_outputs", **options))
    made = method.masks(REAL, IDS)
    assert not (made & ~REAL).any()
    return [
        "".join("x" if mask else "." for mask in row[:length])
        for row, length in zip(made.tolist(), LENGTHS.tolist(), strict=True)
    ]


def test_schemes() -> None:
    # max(1, floor(share N)) of 10, 1, 0, 7 and 3 tokens
    assert masks(scheme="head", share=0.3) == ["xxx.......", "x", "", "xx.....", "x.."]
    assert masks(scheme="tail", share=0.3) == [".......xxx", "x", "", ".....xx", "..x"]
    assert masks(scheme="chunk", chunk=2) == [".x.x.x.x.x", ".", "", ".x.x.x.", ".x."]
    assert masks(scheme="chunk", chunk=4) == [".xxx.xxx.x", ".", "", ".xxx.xx", ".xx"]
    made = masks(scheme="random", share=0.3)
    assert [row.count("x") for row in made] == [3, 1, 0, 2, 1]
    assert masks(scheme="random", share=1.0) == ["x" * 10, "x", "", "x" * 7, "xxx"]


def test_a_whole_number_is_not_rounded_down() -> None:
    method = MaskedAtOutputs(scheme="head", share=0.29)
    real = torch.ones((1, 100), dtype=torch.bool)
    assert 0.29 * 100 < 29
    assert method.masks(real, IDS[:1]).sum().item() == 29


def test_random_sets_are_even_and_follow_the_seed() -> None:
    real, ids = torch.ones((4000, 5), dtype=torch.bool), torch.arange(4000)
    first, second = (
        MaskedAtOutputs(scheme="random", share=0.4, seed=s).masks(real, ids) for s in (1, 2)
    )
    assert not torch.equal(first, second)
    assert (first.sum(1) == 2).all()
    assert first.double().mean(0).tolist() == pytest.approx([0.4] * 5, abs=0.03)
    alone = MaskedAtOutputs(scheme="random", share=0.4, seed=1).masks(real[:1], ids[7:8])
    assert torch.equal(alone[0], first[7])


@torch.no_grad()
def test_masks_are_filled_and_the_rest_stays() -> None:
    model, assistant = make_model(seed=3, length="target"), make_model(seed=4)
    sentences = [[6, 7, 8, 9], [20, 9], [11] * 8]
    source = source_tensor(sentences)
    written = BeamSearch(beam=5)(assistant, source)
    made = MaskedAtOutputs(scheme="chunk", chunk=3)(model, source, assistant)
    for sentence, before, after in zip(sentences, written, made, strict=True):
        assert len(before.tokens) > 3
        masked = [place for place in range(len(before.tokens)) if place % 3]
        tokens = torch.tensor(before.tokens)
        tokens[masked] = MASK
        logits = log_probabilities(model, sentence, tokens.tolist())
        logits[:, [0, 1, 2, 4, 5]] = -torch.inf
        best = logits.max(1)
        tokens[masked] = best.indices[masked]
        assert after.tokens == tokens.tolist()
        assert after.score == pytest.approx(best.values[masked].mean().item())
        assert after.steps == before.steps + 1


def test_senseless_options_are_refused() -> None:
    for wrong, words in (
        ({"scheme": "head"}, "'share'"),
        ({"scheme": "head", "share": 0.5, "chunk": 2}, "'chunk'"),
        ({"scheme": "chunk", "chunk": 1}, "chunk"),
        ({"scheme": "middle", "share": 0.5}, "scheme"),
    ):
        with told(words):
            build("decoding", Method(method="masked_at_outputs", **wrong))

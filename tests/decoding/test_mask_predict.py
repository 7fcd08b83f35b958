"""Mask-predict: which positions are masked when, and what becomes of their symbols."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from nat.data.batch import source_tensor
from nat.data.vocabulary import MASK, PAD
from nat.decoding.mask_predict import MaskPredict
from nat.decoding.one_pass import OnePass
from tests.tiny import make_model
from tests.transformer.test_one_pass import LoggedModel, favourites


def scripted(passes: list[list[tuple[int, float]]]) -> Callable[[Tensor], Tensor]:
    """Logits of one canvas, pass after pass: at each position a symbol and its weight."""
    remaining = iter(passes)

    def logits(tokens: Tensor) -> Tensor:
        found = torch.zeros(1, tokens.size(1), 12)
        for position, (symbol, weight) in enumerate(next(remaining)):
            found[0, position, symbol] = weight
        return found

    return logits


def log_probability(weight: float) -> float:
    logits = torch.zeros(12)
    logits[7] = weight
    return float(logits.log_softmax(0)[7])


def test_the_least_probable_tokens_are_masked_and_predicted_again() -> None:
    # N = 5, T = 3: passes mask 5, floor(5 * 2 / 3) = 3 and floor(5 / 3) = 1 positions.
    model: Any = LoggedModel(
        [[5]],
        scripted(
            [
                [(6, 5.0), (7, 2.0), (8, 4.0), (9, 1.0), (10, 3.0)],
                # 1, 3 and 4 are masked; what is said of the others must not be heard
                [(11, 9.0), (8, 6.0), (11, 9.0), (7, 3.5), (6, 0.5)],
                # 4 is masked again
                [(11, 9.0), (11, 9.0), (11, 9.0), (11, 9.0), (9, 2.5)],
            ]
        ),
    )
    (found,) = MaskPredict(steps=3)(model, source_tensor([[6, 6]]))
    assert model.seen == [
        [[MASK] * 5],
        [[6, MASK, 8, MASK, MASK]],
        [[6, 8, 8, 7, MASK]],
    ]
    assert found.tokens == [6, 8, 8, 7, 9]
    weights = [5.0, 6.0, 4.0, 3.5, 2.5]
    assert found.score == pytest.approx(sum(map(log_probability, weights)) / 5)
    assert found.steps == 3


def test_without_remasking_a_revealed_token_stays() -> None:
    # N = 5, T = 3. Pass 1 reveals positions 0 and 2. After pass 2 position 2 is the least probable
    # of all, but position 4, the least probable of those that were masked, is masked again.
    model: Any = LoggedModel(
        [[5]],
        scripted(
            [
                [(6, 5.0), (7, 2.0), (8, 3.0), (9, 1.0), (10, 2.5)],
                [(11, 9.0), (8, 6.0), (11, 9.0), (7, 3.5), (6, 3.2)],
                [(11, 9.0), (11, 9.0), (11, 9.0), (11, 9.0), (9, 2.5)],
            ]
        ),
    )
    (found,) = MaskPredict(steps=3, remask=False)(model, source_tensor([[6, 6]]))
    assert model.seen == [
        [[MASK] * 5],
        [[6, MASK, 8, MASK, MASK]],
        [[6, 8, 8, 7, MASK]],
    ]
    assert found.tokens == [6, 8, 8, 7, 9]
    weights = [5.0, 6.0, 3.0, 3.5, 2.5]
    assert found.score == pytest.approx(sum(map(log_probability, weights)) / 5)


@pytest.mark.parametrize("steps", [2, 4, 7, 10])
def test_the_schedule_is_floored_in_whole_numbers(steps: int) -> None:
    lengths = list(range(1, 41))
    numbers = torch.Generator().manual_seed(0)
    model: Any = LoggedModel(
        [[length] for length in lengths],
        lambda tokens: torch.randn(*tokens.shape, 12, generator=numbers),
    )
    found = MaskPredict(steps=steps)(model, source_tensor([[6]] * 40))
    rows = [row for call in model.seen for row in call]
    for length in lengths:
        due = [length * (steps - number) // steps for number in range(steps)]
        masks = [row.count(MASK) for row in rows if len(row) - row.count(PAD) == length]
        assert masks == [mask for mask in due if mask]  # canvases without a mask take no pass
    for length, hypothesis in zip(lengths, found, strict=True):
        passes = sum(length * (steps - number) // steps > 0 for number in range(steps))
        assert hypothesis.steps == passes
        assert len(hypothesis.tokens) == length
        assert MASK not in hypothesis.tokens
        assert PAD not in hypothesis.tokens


@pytest.mark.parametrize("length_beam", [1, 5])
def test_one_step_is_one_pass(length_beam: int) -> None:
    model = make_model(seed=1, length="offset")
    source = source_tensor([[6, 7, 8, 9], [20], [11] * 9])
    assert MaskPredict(steps=1, length_beam=length_beam)(model, source) == OnePass(
        length_beam=length_beam
    )(model, source)


def test_the_passes_of_a_sentence_are_those_of_its_slowest_canvas() -> None:
    def logits(tokens: Tensor) -> Tensor:
        # the canvas of one position is chosen; it takes one pass, the other four
        weights = {1: 9.0, 5: 1.0}
        lengths = tokens.ne(PAD).sum(1).tolist()
        return torch.cat([favourites([7] * tokens.size(1), weights[each]) for each in lengths])

    model: Any = LoggedModel([[5, 1]], logits)
    (found,) = MaskPredict(steps=4, length_beam=2)(model, source_tensor([[6]]))
    assert (found.tokens, found.steps) == ([7], 4)

"""Mask-predict, and its correction: which positions are masked when, and which are replaced."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from nat.data.batch import source_tensor
from nat.data.vocabulary import MASK, PAD
from nat.decoding.mask_correct import MaskCorrect
from nat.decoding.mask_predict import MaskPredict
from nat.decoding.one_pass import OnePass
from tests.scripted import SYMBOLS, Scripted, favourites, log_probability
from tests.tiny import make_model


def scripted(passes: list[list[tuple[int, float]]]) -> Callable[[Tensor], Tensor]:
    """Logits of one canvas, pass after pass: at each position a symbol and its weight."""
    remaining = iter(passes)

    def logits(tokens: Tensor) -> Tensor:
        symbols, weights = zip(*next(remaining), strict=True)
        return favourites(symbols, weights)

    return logits


@pytest.mark.parametrize(
    ("remask", "last_seen", "tokens", "weights"),
    [
        # the token of position 2 is the least probable of all, that of 4 of those that were masked
        (True, [6, 8, MASK, 7, 6], [6, 8, 10, 7, 6], [5.0, 6.0, 4.0, 3.5, 3.2]),
        (False, [6, 8, 8, 7, MASK], [6, 8, 8, 7, 9], [5.0, 6.0, 3.0, 3.5, 2.5]),
    ],
)
def test_the_least_probable_tokens_are_masked_and_predicted_again(
    remask: bool, last_seen: list[int], tokens: list[int], weights: list[float]
) -> None:
    # N = 5, T = 3: passes mask 5, floor(5 * 2 / 3) = 3 and floor(5 / 3) = 1 positions.
    passes = [
        [(6, 5.0), (7, 2.0), (8, 3.0), (9, 1.0), (10, 2.5)],
        # 1, 3 and 4 are masked; what is said of the others must not be heard
        [(11, 9.0), (8, 6.0), (11, 9.0), (7, 3.5), (6, 3.2)],
        [(11, 9.0), (11, 9.0), (10, 4.0), (11, 9.0), (9, 2.5)],
    ]
    model: Any = Scripted(scripted(passes), [[5]])
    (made,) = MaskPredict(steps=3, remask=remask)(model, source_tensor([[6, 6]]))
    assert model.seen == [[[MASK] * 5], [[6, MASK, 8, MASK, MASK]], [last_seen]]
    assert (made.tokens, made.steps) == (tokens, 3)
    assert made.score == pytest.approx(sum(map(log_probability, weights)) / 5)


def test_every_pass_of_correction_replaces_every_token_and_its_probability() -> None:
    # N = 3, T = 3: passes mask 3, 2 and 1 positions
    passes = [
        [(6, 5.0), (7, 2.0), (8, 4.0)],
        [(9, 1.0), (10, 6.0), (8, 4.0)],  # position 0 is corrected, and not sure of it
        [(6, 3.0), (10, 2.0), (11, 7.0)],
    ]
    model: Any = Scripted(scripted(passes), [[3]])
    (made,) = MaskCorrect(steps=3)(model, source_tensor([[6, 6]]))
    assert model.seen == [[[MASK] * 3], [[6, MASK, MASK]], [[MASK, 10, 8]]]
    assert (made.tokens, made.steps) == ([6, 10, 11], 3)
    assert made.score == pytest.approx(sum(map(log_probability, [3.0, 2.0, 7.0])) / 3)


def test_a_pass_without_masks_corrects_all_the_same() -> None:
    model: Any = Scripted(scripted([[(6, 1.0)], [(7, 2.0)]]), [[1]])
    (made,) = MaskCorrect(steps=2)(model, source_tensor([[6]]))
    assert model.seen == [[[MASK]], [[6]]]
    assert (made.tokens, made.steps) == ([7], 2)


@pytest.mark.parametrize("method", [MaskPredict, MaskCorrect])
@pytest.mark.parametrize("steps", [2, 4, 7, 10])
def test_the_schedule_is_floored_in_whole_numbers(method: Any, steps: int) -> None:
    lengths = list(range(1, 41))
    numbers = torch.Generator().manual_seed(0)
    model: Any = Scripted(
        lambda tokens: torch.randn(*tokens.shape, SYMBOLS, generator=numbers),
        [[length] for length in lengths],
    )
    made = method(steps=steps)(model, source_tensor([[6]] * 40))
    rows = [row for call in model.seen for row in call]
    for length, hypothesis in zip(lengths, made, strict=True):
        due = [length * (steps - number) // steps for number in range(steps)]
        if method is MaskPredict:  # canvases without a mask take no pass
            due = [masks for masks in due if masks]
        seen = [row.count(MASK) for row in rows if len(row) - row.count(PAD) == length]
        assert seen == due
        assert hypothesis.steps == len(due)
        assert len(hypothesis.tokens) == length
        assert not {MASK, PAD} & set(hypothesis.tokens)


@pytest.mark.parametrize("length_beam", [1, 5])
def test_one_step_is_one_pass(length_beam: int) -> None:
    model = make_model(seed=1, length="offset")
    source = source_tensor([[6, 7, 8, 9], [20], [11] * 9])
    one_step = MaskPredict(steps=1, length_beam=length_beam)
    assert one_step(model, source) == OnePass(length_beam=length_beam)(model, source)


def test_the_passes_of_a_sentence_are_those_of_its_slowest_canvas() -> None:
    def logits(tokens: Tensor) -> Tensor:
        # the canvas of one position is chosen; it takes one pass, the other four
        weights = {1: 9.0, 5: 1.0}
        lengths = tokens.ne(PAD).sum(1).tolist()
        return torch.cat([favourites([7] * tokens.size(1), weights[each]) for each in lengths])

    model: Any = Scripted(logits, [[5, 1]])
    (made,) = MaskPredict(steps=4, length_beam=2)(model, source_tensor([[6]]))
    assert (made.tokens, made.steps) == ([7], 4)

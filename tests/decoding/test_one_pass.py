"""One pass over canvases of masks, as long as the target or upsampled."""

from typing import Any

import pytest
import torch
from torch import Tensor

from nat.data.batch import source_tensor
from nat.data.vocabulary import BLANK, BOS, EOS, MASK, PAD, UNK
from nat.decoding.ctc import CtcDecoding
from nat.decoding.one_pass import OnePass
from tests.scripted import Scripted, favourites, log_probability
from tests.tiny import make_model


def all_alike(tokens: Tensor) -> Tensor:
    """Logits that favour one symbol at all positions of all canvases."""
    return favourites([7] * tokens.size(1)).expand(len(tokens), -1, -1)


@pytest.mark.parametrize("upsampled", [False, True])
def test_special_symbols_are_never_chosen_but_keep_their_probability(upsampled: bool) -> None:
    symbols = [8, BLANK if upsampled else 9, UNK]
    logits = favourites(symbols, 1.0)
    for special in {PAD, BOS, EOS, MASK, BLANK} - set(symbols):
        logits[..., special] = 9.0
    model: Any = Scripted(logits, [[3]], [3] if upsampled else ())
    (found,) = (CtcDecoding() if upsampled else OnePass())(model, source_tensor([[6]]))
    assert (found.tokens, found.steps) == ([each for each in symbols if each != BLANK], 1)
    expected = logits.log_softmax(2)[0, torch.arange(3), symbols]
    assert found.score == pytest.approx(expected.mean().item(), abs=1e-6)


def test_the_length_with_the_best_mean_log_probability_wins() -> None:
    def logits(tokens: Tensor) -> Tensor:
        # Short canvases are less sure per token but more probable as a whole.
        weights = {2: 2.0, 4: 3.0, 3: 1.0}
        lengths = tokens.ne(PAD).sum(1).tolist()
        return torch.cat([favourites([6 + n] * tokens.size(1), weights[n]) for n in lengths])

    model: Any = Scripted(logits, [[2, 4, 3], [3, 2, 4]])
    for beam, expected in ((3, [[10] * 4, [10] * 4]), (2, [[10] * 4, [8] * 2])):
        found = OnePass(length_beam=beam)(model, source_tensor([[6], [7, 7]]))
        assert [each.tokens for each in found] == expected


def test_of_equal_candidates_the_likelier_length_wins() -> None:
    model: Any = Scripted(all_alike, [[4, 2]])
    (found,) = OnePass(length_beam=2)(model, source_tensor([[6]]))
    assert found.tokens == [7] * 4


@pytest.mark.parametrize(
    ("factor", "lengths", "seen"),
    [
        (1.0, [10, 9, 1], [10, 9, 1]),
        # halves go to the even number; a canvas has a position at least, and fits the model
        (1.05, [10, 9, 1], [10, 9, 1]),
        (1.1, [10, 9, 1], [11, 10, 1]),
        (0.25, [10, 9, 1], [2, 2, 1]),
        (9.0, [10, 12, 1], [90, 100, 9]),
        (1.1, [55, 5], [60, 6]),  # 60.5 stays a half, though 55 * 1.1 is above it
    ],
)
def test_lengths_are_multiplied_and_rounded(
    factor: float, lengths: list[int], seen: list[int]
) -> None:
    model: Any = Scripted(all_alike, [lengths])
    OnePass(length_beam=len(lengths), length_factor=factor)(model, source_tensor([[6]]))
    rows = [row for call in model.seen for row in call]
    assert [sum(token == MASK for token in row) for row in rows] == seen


def test_repeated_and_empty_tokens_can_be_dropped() -> None:
    model: Any = Scripted(favourites([7, 7, BLANK, 7, 9, UNK, UNK, 9]), [[8]])
    model.empty_token = True
    (plain,) = OnePass()(model, source_tensor([[6]]))
    (found,) = OnePass(deduplicate=True)(model, source_tensor([[6]]))
    assert plain.tokens == [7, 7, 7, 9, UNK, UNK, 9]
    assert found.tokens == [7, 9, UNK, 9]
    assert found.score == plain.score == pytest.approx(log_probability(5.0))
    model.empty_token = False  # a model that has not learned it
    (found,) = OnePass()(model, source_tensor([[6]]))
    assert len(found.tokens) == 8 and BLANK not in found.tokens


def test_a_model_without_length_predictor_is_refused() -> None:
    with pytest.raises(ValueError, match="length predictor"):
        OnePass()(make_model(), source_tensor([[7]]))

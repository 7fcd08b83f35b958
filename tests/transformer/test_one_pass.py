"""One pass over canvases of masks."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import Tensor

from nat.data.batch import source_tensor
from nat.data.vocabulary import BLANK, BOS, EOS, MASK, PAD, UNK
from nat.decoding.one_pass import OnePass
from nat.transformer.decoder_options import DecoderOptions
from nat.transformer.model import Encoded
from nat.transformer.output import Output
from tests.tiny import make_model


class LoggedModel:
    """Stands for a model: lengths and logits are given, what the decoder sees is logged.

    `logits` maps (canvases [N, T]) to logits [N, T, V]; the embedding is the identity, so the
    decoder's states are its logits.
    """

    def __init__(self, lengths: list[list[int]], logits: Callable[[Tensor], Tensor]) -> None:
        self.lengths, self.logits = torch.tensor(lengths), logits
        self.seen: list[list[list[int]]] = []
        self.architecture = SimpleNamespace(max_positions=100)
        self.output = Output(torch.eye(12))
        self.empty_token = self.predicts_end = False
        self.decoder = DecoderOptions()
        self.length_predictor = SimpleNamespace(candidates=self.candidates)

    def candidates(self, states: Tensor, padding: Tensor, number: int, longest: int) -> Tensor:
        return self.lengths[:, :number]

    def encode(self, source: Tensor) -> Encoded:
        return Encoded(torch.zeros(*source.shape, 12), source.eq(PAD), source)

    def decode(self, tokens: Tensor, padding: Tensor, encoded: Encoded, causal: bool) -> Tensor:
        assert not causal
        assert padding.equal(tokens.eq(PAD))
        assert len(encoded.states) == len(tokens)
        self.seen.append(tokens.tolist())
        return self.logits(tokens)


def favourites(symbols: list[int], weight: float = 5.0) -> Tensor:
    """Logits of one canvas that favour one symbol at each position, [1, T, 12]."""
    logits = torch.zeros(1, len(symbols), 12)
    for position, symbol in enumerate(symbols):
        logits[0, position, symbol] = weight
    return logits


def all_alike(tokens: Tensor) -> Tensor:
    """Logits that favour one symbol at all positions of all canvases."""
    return favourites([7] * tokens.size(1)).expand(len(tokens), -1, -1)


def test_every_position_takes_its_likeliest_symbol() -> None:
    model: Any = LoggedModel([[3]], lambda tokens: favourites([7, 9, 7]))
    (found,) = OnePass()(model, source_tensor([[6, 6]]))
    assert found.tokens == [7, 9, 7]
    assert found.steps == 1
    assert model.seen == [[[MASK, MASK, MASK]]]
    expected = float(favourites([7]).log_softmax(-1).max())
    assert found.score == pytest.approx(expected)


def test_special_symbols_are_never_chosen_but_keep_their_probability() -> None:
    logits = favourites([8, 8, UNK], 1.0)
    for special in (PAD, BOS, EOS, MASK, BLANK):
        logits[..., special] = 9.0
    model: Any = LoggedModel([[3]], lambda tokens: logits)
    (found,) = OnePass()(model, source_tensor([[6]]))
    assert found.tokens == [8, 8, UNK]
    assert found.score == pytest.approx(float(logits.log_softmax(-1)[0, 0, 8]))


def test_the_length_with_the_best_mean_log_probability_wins() -> None:
    def logits(tokens: Tensor) -> Tensor:
        # Short canvases are less sure per token but more probable as a whole.
        weights = {2: 2.0, 4: 3.0, 3: 1.0}
        return torch.cat(
            [
                favourites([6 + length] * tokens.size(1), weights[length])
                for length in tokens.ne(PAD).sum(1).tolist()
            ]
        )

    model: Any = LoggedModel([[2, 4, 3], [3, 2, 4]], logits)
    first, second = OnePass(length_beam=3)(model, source_tensor([[6], [7, 7]]))
    assert first.tokens == second.tokens == [10] * 4
    first, second = OnePass(length_beam=2)(model, source_tensor([[6], [7, 7]]))
    assert (first.tokens, second.tokens) == ([10] * 4, [8] * 2)


def test_of_equal_candidates_the_likelier_length_wins() -> None:
    model: Any = LoggedModel([[4, 2]], all_alike)
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
    model: Any = LoggedModel([lengths], all_alike)
    OnePass(length_beam=len(lengths), length_factor=factor)(model, source_tensor([[6]]))
    rows = [row for call in model.seen for row in call]
    assert [sum(token == MASK for token in row) for row in rows] == seen


def test_repeated_tokens_can_be_dropped() -> None:
    logits = favourites([7, 7, BLANK, 7, 9, UNK, UNK, 9])
    model: Any = LoggedModel([[8]], lambda tokens: logits)
    model.empty_token = True
    (plain,) = OnePass()(model, source_tensor([[6]]))
    (found,) = OnePass(deduplicate=True)(model, source_tensor([[6]]))
    assert plain.tokens == [7, 7, 7, 9, UNK, UNK, 9]
    assert found.tokens == [7, 9, UNK, 9]
    assert found.score == plain.score


def test_a_model_without_length_predictor_is_refused() -> None:
    with pytest.raises(ValueError, match="length predictor"):
        OnePass()(make_model(), source_tensor([[7]]))

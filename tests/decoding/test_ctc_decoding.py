"""One pass over an upsampled canvas, collapsed."""

from typing import Any

import pytest
import torch

from nat.data.batch import source_tensor
from nat.data.vocabulary import BLANK, BOS, EOS, MASK, PAD, UNK
from nat.decoding.ctc import CtcDecoding
from tests.enumeration.test_ctc_beam import Frames


def favouring(labels: list[list[int]], weight: float = 5.0) -> Any:
    """Stands for a model whose frames favour given labels, by `weight`."""
    logits = torch.zeros(len(labels), max(map(len, labels)), 12)
    for row, symbols in enumerate(labels):
        for position, symbol in enumerate(symbols):
            logits[row, position, symbol] = weight
    return Frames(logits, list(map(len, labels)))


def test_equal_neighbours_are_merged_then_blanks_dropped() -> None:
    labels = [
        [7, 7, BLANK, 7, 9, 9],
        [BLANK, BLANK, 8, BLANK],
        [BLANK, BLANK],
        [UNK],
        [9, 8, 8, 9, BLANK],
    ]
    made = CtcDecoding()(favouring(labels), source_tensor([[6]] * 5))
    assert [each.tokens for each in made] == [[7, 7, 9], [8], [], [UNK], [9, 8, 9]]
    assert [each.steps for each in made] == [1] * 5


def test_score_is_the_mean_log_probability_per_frame() -> None:
    model = favouring([[7, 7, BLANK, 7], [9]])
    model.logits[0, 1] *= 2
    exact = model.logits.log_softmax(2).amax(2)
    first, second = CtcDecoding()(model, source_tensor([[6]] * 2))
    assert first.score == pytest.approx(exact[0].mean().item(), abs=1e-6)
    assert second.score == pytest.approx(exact[1, 0].item(), abs=1e-6)


def test_special_symbols_are_never_chosen_but_keep_their_probability() -> None:
    model = favouring([[8, BLANK, UNK]], 1.0)
    for special in (PAD, BOS, EOS, MASK):
        model.logits[..., special] = 9.0
    (made,) = CtcDecoding()(model, source_tensor([[6]]))
    assert made.tokens == [8, UNK]
    expected = model.logits.log_softmax(2)[0, torch.arange(3), torch.tensor([8, BLANK, UNK])]
    assert made.score == pytest.approx(expected.mean().item(), abs=1e-6)


@pytest.mark.parametrize(
    ("penalty", "tokens"), [(-9.0, []), (0.0, [8]), (0.9, [8]), (1.1, [8, 7]), (9.0, [7, 8, 7])]
)
@pytest.mark.parametrize("silent", [BLANK, EOS])
def test_a_penalty_makes_translations_longer(
    penalty: float, tokens: list[int], silent: int
) -> None:
    model = favouring([[silent, 8, silent]], 5.0)
    model.predicts_end = silent == EOS
    model.logits[0, 0, 7] = 3.0  # two nats below blank
    model.logits[0, 2, 7] = 4.0
    (made,) = CtcDecoding(blank_penalty=penalty)(model, source_tensor([[6]]))
    assert made.tokens == tokens
    chosen = torch.tensor([7 if len(tokens) == 3 else silent, 8 if tokens else silent, 7])
    if len(tokens) < 2:
        chosen[2] = silent
    expected = model.logits.log_softmax(2)[0, torch.arange(3), chosen].mean()
    if tokens:  # else some other symbol that is silent
        assert made.score == pytest.approx(expected.item(), abs=1e-6)

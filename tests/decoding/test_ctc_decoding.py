"""One pass over an upsampled canvas, collapsed."""

from collections.abc import Sequence
from typing import Any

import pytest
import torch

from nat.data.batch import source_tensor
from nat.data.vocabulary import BLANK, EOS, UNK
from nat.decoding.ctc import CtcDecoding
from tests.scripted import Scripted, favourites


def favouring(labels: Sequence[Sequence[int]]) -> Any:
    """Stands for a model whose frames favour given labels."""
    lengths = list(map(len, labels))
    rows = [favourites([*each, *[UNK] * (max(lengths) - len(each))]) for each in labels]
    return Scripted(torch.cat(rows), frames=lengths)


def test_equal_neighbours_are_merged_then_blanks_dropped() -> None:
    labels = [
        [7, 7, BLANK, 7, 9, 9],
        [BLANK, BLANK, 8, BLANK],
        [BLANK, BLANK],
        [UNK],
        [9, 8, 8, 9, BLANK],
    ]
    model = favouring(labels)
    model.logits[0, 1] *= 2
    made = CtcDecoding()(model, source_tensor([[6]] * 5))
    assert [each.tokens for each in made] == [[7, 7, 9], [8], [], [UNK], [9, 8, 9]]
    assert [each.steps for each in made] == [1] * 5
    best = model.logits.log_softmax(2).amax(2)
    means = [float(row[: len(each)].mean()) for row, each in zip(best, labels, strict=True)]
    assert [each.score for each in made] == pytest.approx(means, abs=1e-6)


@pytest.mark.parametrize(
    ("penalty", "tokens"), [(-9.0, []), (0.0, [8]), (0.9, [8]), (1.1, [8, 7]), (9.0, [7, 8, 7])]
)
@pytest.mark.parametrize("silent", [BLANK, EOS])
def test_a_penalty_makes_translations_longer(
    penalty: float, tokens: list[int], silent: int
) -> None:
    model = favouring([[silent, 8, silent]])
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

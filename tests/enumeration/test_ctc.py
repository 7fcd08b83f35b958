"""The CTC loss of a model, against enumeration of alignments and torch's over the vocabulary."""

import math
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor

from nat.data.batch import Batch
from nat.data.vocabulary import MASK
from nat.objective.context import BatchContext
from nat.targets.ctc import Ctc
from tests.enumeration.test_ctc_alignment import alignments, score
from tests.tiny import full_log_probabilities, make_context, make_model

PAIRS = [
    ([7, 8], [9, 10]),
    ([7, 8], [9, 9]),
    ([9], [11, 12]),
    ([9], [11, 11]),  # needs a third frame for a blank
    ([9], [11, 12, 13]),  # longer than the canvas
    ([8, 7, 6], [13]),
    ([8, 7], []),
    ([20, 21, 22], [14, 15, 14]),
]
HAS_LOSS = torch.tensor([True, True, True, False, False, True, False, True])
TOKENS = torch.tensor([len(target) for _, target in PAIRS])


@pytest.fixture
def context() -> BatchContext:
    sources, targets = zip(*PAIRS, strict=True)
    batch = Batch.collate(range(len(PAIRS)), sources, targets)
    return make_context(make_model(decoder={"upsample": 2.0}), batch)


def gradient(value: Tensor, model: Any) -> list[Tensor]:
    return list(torch.autograd.grad(value, list(model.parameters()), retain_graph=True))


def test_against_enumeration(context: BatchContext) -> None:
    decoder_input = context.fully_masked_input()
    loss = Ctc()(context, decoder_input)
    full = full_log_probabilities(context, decoder_input)
    for row, (source, target) in enumerate(PAIRS):
        if not HAS_LOSS[row]:
            assert loss.value[row] == 0
            continue
        paths = alignments(2 * len(source), target)
        total = sum(math.exp(score(full[row], labels)) for labels in paths)
        assert loss.value[row].item() == pytest.approx(-math.log(total), rel=1e-11)
    assert torch.equal(loss.parts["nll"], loss.value)


def test_what_has_no_loss_is_counted(context: BatchContext) -> None:
    loss = Ctc(label_smoothing=0.1)(context, context.fully_masked_input())
    assert torch.equal(loss.positions, torch.where(HAS_LOSS, TOKENS, 0))
    assert loss.parts["infeasible"].tolist() == [0, 0, 0, 2, 3, 0, 0, 0]
    assert loss.value[~HAS_LOSS].eq(0).all()
    assert loss.value[HAS_LOSS].gt(0).all()
    for found in gradient(loss.value[~HAS_LOSS].sum(), context.model):
        assert found.eq(0).all()


@pytest.mark.parametrize("smoothing", [0.01, 0.3])
def test_label_smoothing_is_that_of_each_real_frame(
    context: BatchContext, smoothing: float
) -> None:
    decoder_input = context.fully_masked_input()
    plain, smoothed = (
        Ctc(label_smoothing=each)(context, decoder_input) for each in (0.0, smoothing)
    )
    uniform = -full_log_probabilities(context, decoder_input).mean(2)
    uniform = torch.where(decoder_input.padding, 0, uniform).sum(1)
    uniform = uniform * TOKENS / (~decoder_input.padding).sum(1)
    expected = (1 - smoothing) * plain.value + smoothing * torch.where(HAS_LOSS, uniform, 0)
    torch.testing.assert_close(smoothed.value, expected)
    torch.testing.assert_close(smoothed.parts["nll"], plain.value)
    mine, its = (gradient(value.sum(), context.model) for value in (smoothed.value, expected))
    for one, other in zip(mine, its, strict=True):
        torch.testing.assert_close(one, other)


def test_frames_whose_label_was_seen_count_as_well(context: BatchContext) -> None:
    blank = context.fully_masked_input()
    tokens = blank.tokens.clone()
    tokens[0, 1] = 9
    seen = replace(blank, tokens=tokens, loss_mask=blank.loss_mask & tokens.eq(MASK))
    everywhere = replace(seen, loss_mask=blank.loss_mask)
    assert torch.equal(Ctc()(context, seen).value, Ctc()(context, everywhere).value)
    assert Ctc()(context, seen).value[0] != Ctc()(context, blank).value[0]

"""The CTC loss of a model, against enumeration of alignments and torch's over the vocabulary."""

import itertools
import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from nat.data.batch import Batch
from nat.data.vocabulary import BLANK, MASK, PAD
from nat.objective.context import BatchContext, DecoderInput
from nat.targets.ctc import Ctc
from tests.messages import told

MakeModel = Callable[..., Any]
MakeContext = Callable[..., Any]

UPSAMPLE = {"upsample": 2.0}
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


def batch_of(pairs: list[tuple[list[int], list[int]]]) -> Batch:
    sources, targets = zip(*pairs, strict=True)
    return Batch.collate(range(len(pairs)), sources, targets)


@pytest.fixture
def context(make_model: MakeModel, make_context: MakeContext) -> BatchContext:
    made: BatchContext = make_context(make_model(decoder=UPSAMPLE), batch_of(PAIRS))
    return made


def log_probabilities(context: BatchContext, decoder_input: DecoderInput) -> Tensor:
    """Under the whole vocabulary, [B, T, V]."""
    return (context.decode(decoder_input) @ context.model.embedding.weight.t()).log_softmax(2)


def gradient(value: Tensor, model: Any) -> list[Tensor]:
    return list(
        torch.autograd.grad(value, list(model.parameters()), retain_graph=True, allow_unused=False)
    )


def test_against_enumeration(context: BatchContext) -> None:
    decoder_input = context.fully_masked_input()
    loss = Ctc()(context, decoder_input)
    full = log_probabilities(context, decoder_input)
    for row, (source, target) in enumerate(PAIRS):
        if not HAS_LOSS[row]:
            assert loss.value[row] == 0
            continue
        total = 0.0
        for labels in itertools.product({BLANK, *target}, repeat=2 * len(source)):
            merged = [label for label, _ in itertools.groupby(labels) if label != BLANK]
            if merged == target:
                total += math.exp(sum(full[row, j, label] for j, label in enumerate(labels)))
        assert loss.value[row].item() == pytest.approx(-math.log(total), rel=1e-11)
    assert torch.equal(loss.parts["nll"], loss.value)


def test_value_and_gradient_against_the_whole_vocabulary(context: BatchContext) -> None:
    decoder_input = context.fully_masked_input()
    loss = Ctc()(context, decoder_input)
    expected = F.ctc_loss(
        log_probabilities(context, decoder_input).transpose(0, 1),
        context.batch.target,
        (~decoder_input.padding).sum(1),
        context.batch.target_lengths,
        blank=BLANK,
        reduction="none",
        zero_infinity=True,
    )
    expected = torch.where(HAS_LOSS, expected, 0)
    torch.testing.assert_close(loss.value, expected, rtol=1e-12, atol=1e-12)
    for weights in (torch.ones(8), torch.linspace(0.1, 2.0, 8)):
        mine, its = (
            gradient((value * weights.double()).sum(), context.model)
            for value in (loss.value, expected)
        )
        for one, other in zip(mine, its, strict=True):
            torch.testing.assert_close(one, other, rtol=1e-10, atol=1e-12)


def test_what_has_no_loss_is_counted(context: BatchContext) -> None:
    loss = Ctc(label_smoothing=0.1)(context, context.fully_masked_input())
    assert torch.equal(loss.positions, torch.where(HAS_LOSS, TOKENS, 0))
    assert loss.parts["infeasible"].tolist() == [0, 0, 0, 2, 3, 0, 0, 0]
    assert loss.value[~HAS_LOSS].eq(0).all()
    assert loss.value[HAS_LOSS].gt(0).all()
    for found in gradient(loss.value[~HAS_LOSS].sum(), context.model):
        assert found.eq(0).all()


@pytest.mark.parametrize("bfloat16", [False, True])
@pytest.mark.parametrize("pairs", [PAIRS, PAIRS[3:5], PAIRS[6:7]])
def test_no_number_is_lost_in_lower_precision(
    make_model: MakeModel,
    make_context: MakeContext,
    pairs: list[tuple[list[int], list[int]]],
    bfloat16: bool,
) -> None:
    model = make_model(decoder=UPSAMPLE, dtype=torch.float32)
    made = replace(make_context(model, batch_of(pairs)), bfloat16=bfloat16)
    loss = Ctc(label_smoothing=0.1)(made, made.fully_masked_input())
    assert loss.value.isfinite().all()
    if pairs is not PAIRS:
        assert loss.value.eq(0).all()
        assert loss.positions.eq(0).all()
    for found in gradient(loss.value.sum(), model):
        assert found.isfinite().all()


@pytest.mark.parametrize("smoothing", [0.01, 0.3])
def test_label_smoothing_is_that_of_each_real_frame(
    context: BatchContext, smoothing: float
) -> None:
    decoder_input = context.fully_masked_input()
    plain, smoothed = (
        Ctc()(context, decoder_input),
        Ctc(label_smoothing=smoothing)(context, decoder_input),
    )
    uniform = -log_probabilities(context, decoder_input).mean(2)
    uniform = torch.where(decoder_input.padding, 0, uniform).sum(1)
    uniform = uniform * TOKENS / (~decoder_input.padding).sum(1)
    expected = (1 - smoothing) * plain.value + smoothing * torch.where(HAS_LOSS, uniform, 0)
    torch.testing.assert_close(smoothed.value, expected)
    torch.testing.assert_close(smoothed.parts["nll"], plain.value)
    mine, its = (gradient(value.sum(), context.model) for value in (smoothed.value, expected))
    for one, other in zip(mine, its, strict=True):
        torch.testing.assert_close(one, other)


def test_label_smoothing_does_not_grow_with_the_canvas(context: BatchContext) -> None:
    decoder_input = context.fully_masked_input()
    plain, smoothed = (
        Ctc()(context, decoder_input),
        Ctc(label_smoothing=0.3)(context, decoder_input),
    )
    full = log_probabilities(context, decoder_input)
    for row, (source, target) in enumerate(PAIRS):
        frames = 2 * len(source)
        uniform = sum(-full[row, frame].mean().item() for frame in range(frames)) / frames
        expected = 0.7 * plain.value[row].item() + 0.3 * len(target) * uniform * bool(HAS_LOSS[row])
        assert smoothed.value[row].item() == pytest.approx(expected)


def test_probabilities_of_all_targets_sum_to_one(
    make_model: MakeModel, make_context: MakeContext
) -> None:
    size = 9
    symbols = [symbol for symbol in range(size) if symbol not in (PAD, BLANK)]
    pairs = [[one, two] for one in symbols for two in symbols if one != two]
    targets = [*([symbol] for symbol in symbols), *pairs]
    made = make_context(
        make_model(vocabulary_size=size, decoder=UPSAMPLE),
        Batch.collate(range(len(targets)), [[7]] * len(targets), targets),
    )
    decoder_input = made.fully_masked_input()
    assert decoder_input.tokens.tolist() == [[MASK, MASK]] * len(targets)
    loss = Ctc()(made, decoder_input)
    assert loss.positions.tolist() == [len(target) for target in targets]
    probabilities = log_probabilities(made, decoder_input)[0].exp()
    empty = probabilities[:, BLANK].prod()
    # padding is no label, so what is missing is its share
    expected = (1 - probabilities[:, PAD]).prod()
    torch.testing.assert_close((-loss.value).exp().sum() + empty, expected)


def test_frames_whose_label_was_seen_count_as_well(context: BatchContext) -> None:
    blank = context.fully_masked_input()
    tokens = blank.tokens.clone()
    tokens[0, 1] = 9
    seen = replace(blank, tokens=tokens, loss_mask=blank.loss_mask & tokens.eq(MASK))
    everywhere = replace(seen, loss_mask=blank.loss_mask)
    assert torch.equal(Ctc()(context, seen).value, Ctc()(context, everywhere).value)
    assert Ctc()(context, seen).value[0] != Ctc()(context, blank).value[0]


@pytest.mark.parametrize("smoothing", [-0.1, 1.0])
def test_senseless_smoothing_is_refused(smoothing: float) -> None:
    with told("label_smoothing", error=ValueError, one_line=False):
        Ctc(label_smoothing=smoothing)


def test_a_pair_of_500_tokens_trains_or_is_refused(make_model: MakeModel) -> None:
    numbers = torch.arange(500) % 20 + 7
    batch = Batch.collate([0], [numbers.tolist()], [numbers.roll(1).tolist()])
    options = {"upsample": 3.0}
    with told("1500"):
        updated(make_model(decoder=options, max_positions=1024), batch)
    model = make_model(decoder=options, max_positions=1500)
    before = model.embedding.weight.clone()
    loss = updated(model, batch)
    assert loss.isfinite() and loss > 0
    assert not torch.equal(model.embedding.weight, before)


def updated(model: Any, batch: Batch) -> Tensor:
    context = BatchContext(model, batch, model.encode(batch.source), seed=1, update=1)
    optimiser = torch.optim.Adam(model.parameters())
    loss = Ctc()(context, context.fully_masked_input()).value.sum()
    loss.backward()
    optimiser.step()
    return loss.detach()

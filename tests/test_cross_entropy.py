from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from conftest import VOCABULARY

from nat.data.batch import Batch
from nat.data.vocabulary import EOS, PAD
from nat.inputs.full_mask import FullMask
from nat.inputs.previous_tokens import PreviousTokens
from nat.inputs.random_mask import RandomMask
from nat.targets.cross_entropy import CrossEntropy

MakeModel = Callable[..., Any]
MakeContext = Callable[..., Any]
MakeBatch = Callable[..., Batch]


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize("method", [PreviousTokens, FullMask, RandomMask])
def test_against_the_formula_position_by_position(
    make_model: MakeModel,
    make_context: MakeContext,
    make_batch: MakeBatch,
    method: Any,
    smoothing: float,
) -> None:
    model, batch = make_model(), make_batch()
    context = make_context(model, batch)
    decoder_input = method()(context)
    loss = CrossEntropy(label_smoothing=smoothing)(context, decoder_input)
    states = context.decode(decoder_input)
    for row in range(len(batch.ids)):
        value = nll = 0.0
        for position in range(decoder_input.target.size(1)):
            if not decoder_input.loss_mask[row, position]:
                continue
            found = F.log_softmax(model.embedding.weight @ states[row, position], -1)
            true = decoder_input.target[row, position]
            # the smoothed label: the truth keeps 1 - e, and e is spread over all symbols
            label = torch.full((VOCABULARY,), smoothing / VOCABULARY, dtype=torch.float64)
            label[true] += 1 - smoothing
            value -= (label * found).sum().item()
            nll -= found[true].item()
        assert loss.value[row].item() == pytest.approx(value)
        assert loss.parts["nll"][row].item() == pytest.approx(nll)
    assert torch.equal(loss.positions, decoder_input.loss_mask.sum(1))


def test_probabilities_of_all_targets_of_one_length_sum_to_one(
    make_model: MakeModel, make_context: MakeContext
) -> None:
    size = 9
    model = make_model(vocabulary_size=size)
    pairs = [[first, second] for first in range(1, size) for second in range(1, size)]
    context = make_context(model, Batch.collate(range(len(pairs)), [[7, 8]] * len(pairs), pairs))
    decoder_input = FullMask()(context)
    total = (-CrossEntropy()(context, decoder_input).value).exp().sum()
    whole = F.softmax(context.decode(decoder_input)[0] @ model.embedding.weight.t(), -1)
    # padding is no symbol of a target, so what is missing is its share
    assert total.item() == pytest.approx((1 - whole[:, PAD]).prod().item())


def test_autoregressive_probabilities_of_all_targets_sum_to_one(
    make_model: MakeModel, make_context: MakeContext
) -> None:
    """All targets of up to two tokens, plus what goes on after two, plus padding's share."""
    size = 9
    model = make_model(vocabulary_size=size)
    symbols = [[symbol] for symbol in range(size) if symbol not in (PAD, EOS)]
    targets = [[], *symbols, *(one + two for one in symbols for two in symbols)]
    context = make_context(
        model, Batch.collate(range(len(targets)), [[7, 8]] * len(targets), targets)
    )
    decoder_input = PreviousTokens()(context)
    nll = CrossEntropy()(context, decoder_input).value
    next_symbol = F.log_softmax(context.decode(decoder_input) @ model.embedding.weight.t(), -1)
    total = 0.0
    for row, target in enumerate(targets):
        before_end = -nll[row] - next_symbol[row, len(target), EOS]
        if len(target) < 2:
            total += (before_end + next_symbol[row, len(target), [EOS, PAD]]).exp().sum().item()
        else:  # whatever comes next
            total += before_end.exp().item()
    assert total == pytest.approx(1.0)


def test_no_positions_no_loss(make_model: MakeModel, make_context: MakeContext) -> None:
    model = make_model()
    context = make_context(model, Batch.collate([0, 1], [[7], [8]], [[], []]))
    loss = CrossEntropy(label_smoothing=0.1)(context, FullMask()(context))
    assert loss.value.tolist() == [0, 0]
    assert loss.positions.tolist() == [0, 0]
    loss.value.sum().backward()
    assert all(
        parameter.grad is None or parameter.grad.isfinite().all()
        for parameter in model.parameters()
    )

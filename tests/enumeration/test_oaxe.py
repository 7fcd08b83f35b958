"""Order-agnostic cross-entropy against enumeration of all permutations."""

import itertools
import math

import pytest
import torch
from torch import Tensor

from nat.targets.oaxe import OaXe, assign, probable
from tests.tiny import (
    full_log_probabilities,
    make_batch,
    make_context,
    make_model,
    partly_masked,
)


def enumerated(log_probabilities: Tensor) -> list[tuple[float, tuple[int, ...]]]:
    """Cost of each permutation of the targets of one sentence, [T, T] as [j, i], least first."""
    length = len(log_probabilities)
    return sorted(
        (-sum(float(log_probabilities[j, i]) for j, i in enumerate(order)), order)
        for order in itertools.permutations(range(length))
    )


def cost(log_probabilities: Tensor, order: Tensor) -> float:
    return -sum(float(log_probabilities[j, i]) for j, i in enumerate(order.tolist()))


def made_up(seed: int, lengths: list[int], symbols: int = 30) -> tuple[Tensor, Tensor]:
    """Log-probabilities of made-up sentences, no numbers at their padding, and what is real."""
    numbers = torch.Generator().manual_seed(seed)
    width = max(lengths) + 1
    found = torch.full((len(lengths), width, width), torch.nan).double()
    for row, length in enumerate(lengths):
        logits = 2 * torch.randn(length, symbols, generator=numbers).double()
        tokens = torch.randint(symbols, (length,), generator=numbers)
        found[row, :length, :length] = logits.log_softmax(1)[:, tokens]
    return found, torch.arange(width) < torch.tensor(lengths)[:, None]


@pytest.mark.parametrize("symbols", [2, 30])
@pytest.mark.parametrize("seed", range(3))
def test_assignment_by_enumeration(seed: int, symbols: int) -> None:
    lengths = [4, 1, 0, 5, 2, 3, 5]
    found, real = made_up(seed, lengths, symbols)
    best = assign(found, real)
    for row, length in enumerate(lengths):
        assert sorted(best[row].tolist()) == list(range(6))
        assert best[row, length:].tolist() == list(range(length, 6))
        own, order = found[row, :length, :length], best[row, :length]
        least, first = enumerated(own)[0]
        assert cost(own, order) == pytest.approx(least, abs=1e-12)
        if length and len(set(own[0].tolist())) == length:  # no symbol twice
            assert tuple(order.tolist()) == first


def test_probability_zero() -> None:
    nothing = -torch.inf
    found = torch.tensor(
        [
            [[nothing, -1.0, -9.0], [-1.0, -1.0, nothing], [-1.0, -1.0, nothing]],
            [[nothing, nothing, -1.0], [nothing, nothing, -1.0], [-1.0, -2.0, -1.0]],
            [[nothing] * 3] * 3,
        ]
    ).double()
    best = assign(found, torch.ones(3, 3, dtype=torch.bool))
    assert best[0].tolist() in ([2, 0, 1], [2, 1, 0])  # the only possible ones
    # as few impossible tokens as can be: the third prediction makes one possible
    assert cost(found[1], best[1]) == math.inf and best[1].tolist() != [2, 2, 2]
    assert sum(found[1, j, i].isfinite() for j, i in enumerate(best[1].tolist())) == 2
    assert sorted(best[2].tolist()) == [0, 1, 2]


def test_a_model_of_no_numbers_is_not_the_concern_of_the_assignment() -> None:
    found = torch.full((1, 3, 3), torch.nan)
    assert sorted(assign(found, torch.ones(1, 3, dtype=torch.bool))[0].tolist()) == [0, 1, 2]


def test_of_equal_assignments_it_is_always_the_same() -> None:
    alone = assign(torch.full((1, 4, 4), -2.0), torch.ones(1, 4, dtype=torch.bool))
    real = torch.arange(7) < torch.tensor([7, 4, 0])[:, None]
    together = assign(torch.full((3, 7, 7), -2.0), real)
    assert together[1, :4].equal(alone[0])


def test_the_margin_is_a_probability_and_what_equals_it_is_kept() -> None:
    probabilities = [0.25, 0.2499, 0.2501, 0.15, 0.0, 1.0]
    logarithms = [math.log(each) if each else -math.inf for each in probabilities]
    found = torch.tensor(logarithms, dtype=torch.float64)
    assert probable(found, 0.25).tolist() == [True, False, True, False, False, True]
    # a logarithm to the base 2 would let 0.1 pass
    assert not probable(torch.tensor(0.1).log(), 0.15)
    # so that the loss is no number either, and training stops
    assert probable(torch.tensor(math.nan), 0.15)


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize("margin", [None, 0.12])
def test_loss_of_sentences(margin: float | None, smoothing: float) -> None:
    model = make_model(seed=3, vocabulary_size=12)
    batch = make_batch([(3, 5), (2, 1), (3, 4)], vocabulary_size=12)
    context = make_context(model, batch)
    shown = context.fully_masked_input()
    loss = OaXe(truncation_margin=margin, label_smoothing=smoothing)(context, shown)
    dropped = []
    for row, length in enumerate([5, 1, 4]):
        found = full_log_probabilities(context, shown).detach()[row, :length]
        own = found[:, batch.target[row, :length]]
        nll, order = enumerated(own)[0]
        expected, left_out = 0.0, 0
        for position, target in enumerate(order):
            token = -float(own[position, target])
            if margin is not None and math.exp(-token) < margin:
                left_out += 1
                continue
            expected += (1 - smoothing) * token - smoothing * float(found[position].mean())
        assert float(loss.value[row]) == pytest.approx(expected, abs=1e-9)
        assert float(loss.parts["nll"][row]) == pytest.approx(nll)
        assert int(loss.parts["dropped"][row]) == left_out
        dropped.append(left_out)
    assert (0 < sum(dropped) < 10) == (margin is not None)
    assert loss.positions.tolist() == [5, 1, 4]


def test_revealed_tokens_stay_and_carry_no_loss() -> None:
    model, batch = make_model(), make_batch([(3, 5)])
    shown = partly_masked(batch, [[True, False, True, True, False]])
    masked, context = shown.loss_mask, make_context(model, batch)
    loss = OaXe(truncation_margin=None)(context, shown)
    found = full_log_probabilities(context, shown).detach()[masked]
    assert float(loss.value) == pytest.approx(enumerated(found[:, batch.target[masked]])[0][0])
    assert loss.positions.tolist() == [3]

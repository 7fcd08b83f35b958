"""Aligned cross-entropy against enumeration of all monotone alignments."""

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest
import torch
from torch import Tensor

from nat.data.vocabulary import BLANK, VocabularySizes
from nat.targets.axe import AlignedTargets, Axe, align
from nat.training.model_file import build_model
from tests.repository import configured
from tests.tiny import (
    full_log_probabilities,
    make_batch,
    make_context,
    make_model,
    partly_masked,
)

SHAPES = list(itertools.product(range(1, 5), range(5)))
"""Predictions and targets: the target longer, shorter, empty, one token."""


@dataclass(frozen=True)
class Route:
    """An alignment of one sentence: what it does with each target, and its cost."""

    cost: float = field(compare=False)
    owners: tuple[int, ...] = ()
    skipped: tuple[bool, ...] = ()
    empty: frozenset[int] = field(default_factory=frozenset)


def routes(log_probabilities: Tensor, empty: Tensor, penalty: float) -> list[Route]:
    """All monotone alignments of one sentence, [M, N] and [M], as paths of single moves."""
    width, length = log_probabilities.shape

    def extended(route: Route, target: int, used: int) -> Iterator[Route]:
        if target == length and used == width:
            yield route
        moves = []  # onto which prediction, and whether the target is skipped
        if target < length:
            moves.append((max(used - 1, 0), True))
        if target < length and used < width:
            moves.append((used, False))
        for onto, skips in moves:
            cost = -(penalty if skips else 1.0) * float(log_probabilities[onto, target])
            owners, skipped = (*route.owners, onto), (*route.skipped, skips)
            further = Route(route.cost + cost, owners, skipped, route.empty)
            yield from extended(further, target + 1, used + (not skips))
        if used < width:
            cost = -float(empty[used])
            further = Route(route.cost + cost, route.owners, route.skipped, route.empty | {used})
            yield from extended(further, target, used + 1)

    return list(extended(Route(0.0), 0, 0))


def found_route(best: AlignedTargets, row: int) -> Route:
    """What was found for a sentence, in the words of the enumeration."""
    real = best.predictions[row] >= 0
    return Route(
        float(best.value[row]),
        tuple(best.predictions[row][real].tolist()),
        tuple(best.skipped[row][real].tolist()),
        frozenset(best.empty[row].nonzero()[:, 0].tolist()),
    )


def made_up(seed: int, symbols: int = 6) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """A batch of sentences of all shapes whose padding is no number.

    Distributions over few symbols, so that most targets hold one more than once.
    """
    numbers = torch.Generator().manual_seed(seed)
    batch, width, length = len(SHAPES), 5, 6  # wider than any sentence
    log_probabilities = torch.full((batch, width, length), torch.nan).double()
    empty = torch.full((batch, width), torch.nan).double()
    for row, (predictions, targets) in enumerate(SHAPES):
        logits = 2 * torch.randn(predictions, symbols, generator=numbers).double()
        tokens = torch.randint(1, symbols, (targets,), generator=numbers)
        found = logits.log_softmax(1)
        log_probabilities[row, :predictions, :targets] = found[:, tokens]
        empty[row, :predictions] = found[:, 0]
    lengths = torch.tensor(SHAPES)
    return log_probabilities, empty, lengths[:, 0], lengths[:, 1]


def enumerated(case: tuple[Tensor, ...], row: int, penalty: float) -> list[Route]:
    predictions, targets = SHAPES[row]
    return routes(case[0][row, :predictions, :targets], case[1][row, :predictions], penalty)


@pytest.mark.parametrize("penalty", [0.7, 1.0, 5.0])
@pytest.mark.parametrize("seed", range(3))
def test_value_and_alignment_by_enumeration(seed: int, penalty: float) -> None:
    case = made_up(seed)
    best = align(*case, penalty)
    for row in range(len(SHAPES)):
        all_routes = enumerated(case, row, penalty)
        least = min(route.cost for route in all_routes)
        found = found_route(best, row)
        assert found.cost == pytest.approx(least, abs=1e-12)
        # a repeated symbol can make alignments equal; what is returned is one of the best
        assert found in [route for route in all_routes if route.cost < least + 1e-9]


@pytest.mark.parametrize("share", [0.3, 0.8, 1.0])
def test_probability_zero(share: float) -> None:
    case = made_up(5)
    numbers = torch.Generator().manual_seed(1)
    for tensor in case[:2]:
        tensor[torch.rand(tensor.shape, generator=numbers) < share] = -torch.inf
        tensor.requires_grad_()
    best = align(*case, 2.0)
    outcomes = set()
    for row in range(len(SHAPES)):
        least = min(route.cost for route in enumerated(case, row, 2.0))
        assert float(best.value[row]) == pytest.approx(least)
        outcomes.add(math.isinf(least))
    assert outcomes == ({True, False} if share < 1 else {True})
    best.value.sum().backward()
    for tensor in case[:2]:
        assert tensor.grad is not None and tensor.grad.isfinite().all()


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_loss_of_sentences(smoothing: float) -> None:
    model = make_model(seed=6, vocabulary_size=12)
    batch = make_batch([(3, 4), (2, 1), (5, 4)], vocabulary_size=12)
    model.embedding.weight.data *= 8
    context = make_context(model, batch)
    shown = context.fully_masked_input()
    loss = Axe(skip_penalty=0.3, label_smoothing=smoothing)(context, shown)
    for row, length in enumerate([4, 1, 4]):
        found = full_log_probabilities(context, shown)[row, :length]
        own = found[:, batch.target[row, :length]]
        best = min(routes(own, found[:, BLANK], 0.3), key=lambda route: route.cost)
        spread = -float(found.mean(1).sum())
        expected = (1 - smoothing) * best.cost + smoothing * spread
        assert float(loss.value[row]) == pytest.approx(expected, abs=1e-9)
        assert int(loss.parts["empty"][row]) == len(best.empty)
        assert int(loss.parts["skipped"][row]) == sum(best.skipped)
        labels = [-float(found[position, BLANK]) for position in best.empty]
        for target, owner in enumerate(best.owners):
            if not best.skipped[target]:
                labels.append(-float(own[owner, target]))
        assert float(loss.parts["nll"][row]) == pytest.approx(sum(labels))
    assert loss.parts["empty"].sum() > 0
    assert loss.positions.tolist() == [4, 1, 4]


@pytest.mark.parametrize("seed", range(8))
def test_revealed_positions_hold_their_token_and_divide_the_sentence(seed: int) -> None:
    model = make_model(seed, vocabulary_size=9)
    batch = make_batch([(3, 4)], seed=seed, vocabulary_size=9)
    model.embedding.weight.data *= 8
    context = make_context(model, batch)
    shown = partly_masked(batch, [[True, True, False, True]])
    loss = Axe(skip_penalty=0.3)(context, shown)
    found = full_log_probabilities(context, shown)[0]
    own = found[:, batch.target[0]]

    def leaves_it_alone(route: Route) -> bool:
        return route.owners.count(2) == 1 and route.owners[2] == 2 and not route.skipped[2]

    possible = filter(leaves_it_alone, routes(own, found[:, BLANK], 0.3))
    best = min(possible, key=lambda route: route.cost)
    assert float(loss.value) == pytest.approx(best.cost + float(own[2, 2]))
    assert loss.positions.tolist() == [3]


def test_smoothing_applies_to_hidden_positions_only() -> None:
    model = make_model(vocabulary_size=12)
    batch = make_batch([(3, 4), (2, 3)], vocabulary_size=12)
    context = make_context(model, batch)
    shown = partly_masked(batch, [[True, True, False, True], [False, True, True, False]])
    plain, smoothed = (Axe(label_smoothing=share)(context, shown) for share in (0.0, 0.1))
    spread = -full_log_probabilities(context, shown).mean(2)
    expected = 0.9 * plain.value + 0.1 * torch.where(shown.loss_mask, spread, 0).sum(1)
    torch.testing.assert_close(smoothed.value, expected)


@pytest.mark.parametrize(("system", "expected"), [("axe-kd", True), ("nat-kd", False)])
def test_a_model_knows_whether_it_has_learned_the_empty_token(system: str, expected: bool) -> None:
    training = configured("micro").training("toy-micro", system)
    assert build_model(training, VocabularySizes(12)).empty_token is expected

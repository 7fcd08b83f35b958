"""The split of KL from a known law against the enumeration of all outputs."""

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest

from nat.analyses import revealing
from nat.analyses.revealing import (
    ABSENT,
    Errors,
    Law,
    Revealed,
    State,
    by_length,
    ended,
    root,
    split,
)
from nat.data.vocabulary import EOS

SYMBOLS = 9


def law(seed: int = 0, lengths: Sequence[int] = (3,), number: int = 7) -> dict[Any, float]:
    """Random targets, some of which share tokens, and their probabilities."""
    numbers = np.random.default_rng(seed)
    targets = {
        tuple(map(int, numbers.integers(6, SYMBOLS, length)))
        for length in lengths
        for _ in range(number)
    }
    weights = numbers.dirichlet(np.ones(len(targets)))
    return dict(zip(sorted(targets), map(float, weights), strict=True))


def model(tokens: np.ndarray, revealed: np.ndarray) -> np.ndarray:
    """Made-up log-probabilities of all symbols at all positions, from what is revealed alone."""
    shown = [int(token) if known else -9 for token, known in zip(tokens, revealed, strict=True)]
    numbers = np.random.default_rng([place + 10 for place in shown])
    logits = numbers.standard_normal((len(tokens), SYMBOLS))
    return logits - np.log(np.exp(logits).sum(1, keepdims=True))


class Made:
    """Reveals the positions that `model` is surest of, `size` at a time, or the leftmost ones."""

    def __init__(self, size: int, leftmost: bool = False, perfect: bool = False) -> None:
        self.size, self.leftmost, self.perfect = size, leftmost, perfect

    def __call__(self, states: Sequence[State], step: int) -> Iterator[Revealed]:
        for state in states:
            found = model(state.tokens, state.revealed)
            hidden = (~state.revealed).nonzero()[0]
            surest = hidden if self.leftmost else hidden[np.argsort(-found[hidden].max(1))]
            positions = surest[: self.size]
            yield Revealed(positions, None if self.perfect else found[positions])


def kl(errors: Errors) -> float:
    """KL(P || Q)."""
    return errors.learning + errors.factorisation


def divergence(of: Law, size: int, leftmost: bool = False) -> float:
    """KL(P || Q), target by target."""
    total = 0.0
    for target, p in zip(of.tokens, of.weights, strict=True):
        revealed = np.zeros(len(target), dtype=bool)
        log_q = 0.0
        while (target[~revealed] != ABSENT).any():
            found = model(target, revealed)
            hidden = (~revealed).nonzero()[0]
            order = hidden if leftmost else hidden[np.argsort(-found[hidden].max(1))]
            positions = order[:size]
            log_q += sum(found[i, target[i]] for i in positions if target[i] != ABSENT)
            revealed[positions] = True
        total += p * (math.log(p) - log_q)
    return total


@pytest.mark.parametrize("size", [1, 2, 3])
@pytest.mark.parametrize("seed", [0, 1])
def test_the_parts_add_up_to_the_divergence(size: int, seed: int) -> None:
    [(share, of)] = by_length(law(seed)).values()
    assert share == pytest.approx(1)
    found = split([root(0, of)], Made(size), smallest=0)[0]
    assert kl(found) == pytest.approx(divergence(of, size))
    assert found.learning > 0.1
    assert found.passes == pytest.approx(math.ceil(3 / size))
    if size == 1:
        assert found.factorisation == pytest.approx(0, abs=1e-12)
    else:
        assert found.factorisation > 0.05


def test_a_perfect_model_has_no_learning_error() -> None:
    """Its marginals, given to `split` as any model's, leave the factorisation error alone."""

    def perfect(states: Sequence[State], step: int) -> Iterator[Revealed]:
        for state in states:
            positions = (~state.revealed).nonzero()[0][:2]
            p = state.law.weights[state.rows] / state.law.weights[state.rows].sum()
            columns = state.law.tokens[state.rows][:, positions].T
            table = [np.bincount(column, p, SYMBOLS) for column in columns]
            with np.errstate(divide="ignore"):
                yield Revealed(positions, np.log(np.array(table)))

    [(_, of)] = by_length(law(3, (4,))).values()
    found = split([root(0, of)], perfect, smallest=0)[0]
    assert found.learning == pytest.approx(0, abs=1e-12)
    by_law = split([root(0, of)], Made(2, leftmost=True, perfect=True), smallest=0)[0]
    assert found.factorisation == pytest.approx(by_law.factorisation) and by_law.learning == 0
    assert found.factorisation > 0.05


@pytest.mark.parametrize("size", [1, 2])
def test_lengths_and_ends_are_part_of_the_law(size: int) -> None:
    targets = law(2, (1, 2, 4))
    of = ended(targets)
    assert [list(row) for row in of.tokens][0] == [
        *next(iter(targets)),
        EOS,
        *[ABSENT] * (4 - len(next(iter(targets)))),
    ]
    found = split([root(0, of)], Made(size, leftmost=True), smallest=0)[0]
    assert kl(found) == pytest.approx(divergence(of, size, leftmost=True))
    assert found.factorisation >= 0 and found.learning > 0
    if size == 1:
        assert found.factorisation == pytest.approx(0, abs=1e-12)
        assert found.passes == pytest.approx(sum(p * (len(y) + 1) for y, p in targets.items()))
    shares = {length: share for length, (share, _) in by_length(targets).items()}
    assert sum(shares.values()) == pytest.approx(1) and list(shares) == [1, 2, 4]


@pytest.mark.parametrize(("target", "expected"), [((7, 8), [7, 8, EOS, EOS]), ((7,), [7, EOS])])
def test_every_kth_position_is_written_until_the_end(target: Any, expected: list[int]) -> None:
    of = ended({target: 0.5, (6, 7, 8): 0.5}, chunk=2)
    assert of.tokens[0].tolist() == (expected + [ABSENT] * 4)[:4]
    assert of.tokens[1].tolist() == [6, 7, 8, EOS]
    three = ended({(6,): 1.0}, chunk=3)
    assert three.tokens.tolist() == [[6, EOS, EOS]]
    four = ended({(6,): 1.0}, chunk=4)
    assert four.tokens.tolist() == [[6, EOS, ABSENT, EOS]]


def test_pruned_states_do_not_change_expectations() -> None:
    [(_, of)] = by_length(law(5, (5,), 30)).values()
    exact = split([root(0, of)], Made(2), smallest=0)[0]
    sampled = [kl(split([root(0, of)], Made(2), 0.1, seed)[0]) for seed in range(300)]
    error = np.std(sampled) / math.sqrt(len(sampled))
    assert 0 < error < 0.1 and abs(np.mean(sampled) - kl(exact)) < 4 * error
    states = [State(0, of, np.arange(1), np.zeros(5, dtype=bool), w) for w in (0.3, 0.004)]
    kept = [revealing.prune(states, 0.01, np.random.default_rng(seed)) for seed in range(500)]
    assert {tuple(state.weight for state in each) for each in kept} == {(0.3,), (0.3, 0.01)}
    assert sum(len(each) - 1 for each in kept) / 500 == pytest.approx(0.4, abs=0.07)

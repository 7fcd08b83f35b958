"""The loss of drawing tokens together: KL from a known law, split step by step.

In each step a decoding selects a set Z of hidden positions, by what it has revealed so far, A, and
draws their tokens y_i independently of each other from q_i(. | y_A). The divergence from the true
law P to the law Q of its outputs is (docs/laboratory.md)

    KL(P || Q) = sum over steps of E over y_A of
                   { sum over i in Z of KL(P_i(. | y_A) || q_i(. | y_A))         learning error
                     + sum over i in Z of H(Y_i | y_A) - H(Y_Z | y_A) }          factorisation error

A position need not occur in each target: after its end there is none. Then P_i is the law of the
token given that there is one, and its learning error is weighted by the probability of that.

P is given as the list of all targets of a source, so conditional laws are exact. The expectations
over y_A are sums over all prefixes that occur, of which improbable ones are sampled (`prune`).
"""

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import NamedTuple

import numpy as np

from nat.data.batch import batches_in_order
from nat.data.vocabulary import EOS

ABSENT = -1  # in place of a token after the end of a target
SMALLEST = 0.01  # prefixes of a smaller probability are sampled


class Law(NamedTuple):
    """All targets of one source and their probabilities.

    `tokens` are `ABSENT` where a target has none, [K, W]; `weights` have sum one, [K].
    """

    tokens: np.ndarray
    weights: np.ndarray


def by_length(targets: Mapping[tuple[int, ...], float]) -> dict[int, tuple[float, Law]]:
    """The law of the targets of each length, and the probability of the length."""
    laws = {}
    for length in sorted({len(target) for target in targets}):
        alike = {target: p for target, p in targets.items() if len(target) == length}
        weights = np.array(list(alike.values()))
        tokens = np.array(list(alike), dtype=np.int64).reshape(len(alike), length)
        laws[length] = float(weights.sum()), Law(tokens, weights / weights.sum())
    return laws


def ended(targets: Mapping[tuple[int, ...], float], chunk: int = 1) -> Law:
    """The law of targets with their ends, as left-to-right and hybrid models write them.

    A hybrid model writes every k-th position from left to right until one is EOS, so the padding
    of a target to a multiple of k is present there; the tokens between do not count after EOS.
    """
    width = max(len(target) // chunk + 1 for target in targets) * chunk
    tokens = np.full((len(targets), width), ABSENT, dtype=np.int64)
    for row, target in enumerate(targets):
        tokens[row, : len(target)] = target
        tokens[row, len(target)] = EOS
        tokens[row, (len(target) // chunk + 1) * chunk - 1] = EOS
    weights = np.array(list(targets.values()))
    return Law(tokens, weights / weights.sum())


@dataclass(frozen=True)
class State:
    """A prefix: what is revealed of the targets of a source, by its number `sentence`.

    The law is that of its targets, or of those of one length, of which `rows` have these tokens,
    [n], at the positions that are `revealed`, [W]. The weight is its probability, or what it counts
    after pruning.
    """

    sentence: int
    law: Law
    rows: np.ndarray
    revealed: np.ndarray
    weight: float

    @property
    def tokens(self) -> np.ndarray:
        """One target that has the revealed tokens, [W]."""
        return np.asarray(self.law.tokens[self.rows[0]])

    @property
    def complete(self) -> bool:
        """True if all tokens are revealed that occur in any of its targets."""
        return bool((self.law.tokens[self.rows][:, ~self.revealed] == ABSENT).all())


def root(sentence: int, law: Law, weight: float = 1.0) -> State:
    """The state in which nothing is revealed."""
    targets, width = law.tokens.shape
    return State(sentence, law, np.arange(targets), np.zeros(width, dtype=bool), weight)


def roots_by_length(laws: Sequence[Mapping[tuple[int, ...], float]]) -> list[State]:
    """The states in which nothing is revealed but the length, of each source."""
    return [
        root(number, law, share)
        for number, targets in enumerate(laws)
        for share, law in by_length(targets).values()
    ]


class Revealed(NamedTuple):
    """The hidden positions of a state that a step reveals, [n], if any.

    Log-probabilities of all symbols there are nats, [n, V]; None for those of the law, whose
    learning error is zero.
    """

    positions: np.ndarray
    log_probabilities: np.ndarray | None


Decoding = Callable[[Sequence[State], int], Iterable[Revealed]]
"""The choice of a step, from 1, for each state of a batch; none of them is complete."""


class Errors(NamedTuple):
    """Errors of one source, nats, and the expected number of passes that revealed something."""

    learning: float
    factorisation: float
    passes: float


def split(
    roots: Sequence[State],
    decoding: Decoding,
    smallest: float = SMALLEST,
    seed: int = 0,
    batch_tokens: int = sys.maxsize,
) -> dict[int, Errors]:
    """Learning and factorisation error of each source, sums over its roots by weight.

    A source has one or more roots, whose weights are probabilities. Expectations are exact if
    `smallest` is 0, see `prune`. Batches have at most `batch_tokens` positions, padding included.
    """
    sums = {state.sentence: np.zeros(3) for state in roots}
    numbers = np.random.default_rng(seed)
    following, step = [*roots], 0
    while states := prune([state for state in following if not state.complete], smallest, numbers):
        step += 1
        following = []
        widths = {number: len(state.revealed) for number, state in enumerate(states)}
        batches = batches_in_order(widths, batch_tokens)
        choices = (decoding([states[number] for number in batch], step) for batch in batches)
        for state, choice in zip(states, chain.from_iterable(choices), strict=True):
            if not len(choice.positions):
                following.append(state)
                continue
            learning, factorisation, groups = _reveal(state, choice)
            sums[state.sentence] += state.weight * np.array([learning, factorisation, 1.0])
            revealed = state.revealed.copy()
            revealed[choice.positions] = True
            following += [
                replace(state, rows=rows, revealed=revealed, weight=state.weight * p)
                for rows, p in groups
            ]
    return {sentence: Errors(*map(float, values)) for sentence, values in sums.items()}


def _reveal(state: State, choice: Revealed) -> tuple[float, float, list[tuple[np.ndarray, float]]]:
    """Both errors of a step, and the targets with each outcome, with its probability."""
    weights = state.law.weights[state.rows]
    weights = weights / weights.sum()
    tokens = state.law.tokens[state.rows][:, choice.positions]
    learning = marginals = 0.0
    for place, column in enumerate(tokens.T):
        present = column != ABSENT
        symbols, numbers = np.unique(column[present], return_inverse=True)
        p = np.bincount(numbers, weights[present], len(symbols))
        log_p = np.log(p / p.sum()) if len(p) else p
        marginals += float(p @ log_p)
        if choice.log_probabilities is not None:
            learning += float(p @ (log_p - choice.log_probabilities[place, symbols]))
    _, numbers = np.unique(tokens, axis=0, return_inverse=True)
    numbers = numbers.reshape(-1)
    p = np.bincount(numbers, weights)
    groups = [(state.rows[numbers == number], float(share)) for number, share in enumerate(p)]
    # a rounding error must not make it negative
    return learning, max(float(p @ np.log(p)) - marginals, 0.0), groups


def prune(states: list[State], smallest: float, numbers: np.random.Generator) -> list[State]:
    """Keep a state of weight w below `smallest` with probability w / smallest, of this weight then.

    So expectations are what they were, and the number of states stays below 1 / smallest a source.
    """
    kept = []
    for state in states:
        if state.weight >= smallest:
            kept.append(state)
        elif numbers.random() * smallest < state.weight:
            kept.append(replace(state, weight=smallest))
    return kept

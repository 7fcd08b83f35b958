"""The least factorisation error: schedules of a known law that no model is behind.

A schedule with T steps divides the positions of a target, whose length is known, into T sets that
are revealed one after another; which ones, may depend on the source and the length. Its error
(`nat.analyses.revealing`) consists of entropies of sets of positions. All of them are computed, and
the best schedule is found by dynamic programming; docs/laboratory.md says what it bounds.

Positions of which each determines the other are one class, since an order that reveals one of them
first and the others last loses nothing. The last step reveals all that is left, a class that is
hidden until then with each of its positions.
"""

import itertools
from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from nat.analyses import known_law, revealing
from nat.analyses.analysis import Found
from nat.analyses.known_law import STEPS
from nat.analyses.revealing import Decoding, Law, Revealed, State
from nat.artifacts import Analysis
from nat.job import Job

CLASSES = 12
"""Most classes of positions; the errors of the lengths of a source with more count as zero."""


def analyse(job: Job[Analysis]) -> dict[str, Found]:
    """Errors of schedules, of the law of a corpus alone; `system` is not looked at.

    docs/measures.md has the names. With more than one step, lengths with more than `CLASSES`
    classes, or with a probability below `revealing.SMALLEST`, count as zero, so `bound` is one in
    any case; `covered` is the probability of the others. Nothing is learned.
    """
    known, seed = known_law.sentences(job), job.artifact.seed
    roots = revealing.roots_by_length(known.laws)
    least, even = np.zeros((2, len(STEPS), len(known.laws)))
    covered = 0.0
    for state in roots:
        sets = sets_of(state.law) if state.weight >= revealing.SMALLEST else None
        if sets is not None:
            errors = least_errors(sets, max(STEPS))
            of_counts = [least_error(sets, counts(state, steps)) for steps in STEPS]
            least[:, state.sentence] += state.weight * errors[[steps - 1 for steps in STEPS]]
            even[:, state.sentence] += state.weight * np.array(of_counts)
            covered += state.weight / len(known.laws)
    # there is one schedule with one step, and nothing to search for
    at_once = revealing.split(roots, at_random(1, seed), smallest=0).values()
    least[0] = even[0] = [each.factorisation for each in at_once]
    found: dict[tuple[str, int | str], np.ndarray] = {}
    for place, steps in enumerate(STEPS):
        drawn = np.array([*revealing.split(roots, at_random(steps, seed), seed=seed).values()])
        nothing, passes = np.zeros(len(drawn)), drawn[:, 2]
        for schedule, own in (("bound", least[place]), ("even", even[place])):
            found[schedule, steps] = np.stack((nothing, own, passes), 1)
        found["random", steps] = drawn
    return known.result(found, covered=round(covered, 6))


def at_random(steps: int, seed: int) -> Decoding:
    """Positions drawn at random, as many at a time as in mask-predict; tokens by the law."""
    numbers = np.random.default_rng(seed)

    def choose(states: Any, step: int) -> Any:
        for state in states:
            hidden = (~state.revealed).nonzero()[0]
            yield Revealed(numbers.permutation(hidden)[: to_reveal(state, steps, step)], None)

    return choose


def counts(state: State, steps: int) -> list[int]:
    """Positions that each step of mask-predict reveals of a target, without steps of none."""
    length = len(state.revealed)
    masks = [length * (steps - step) // steps for step in range(steps + 1)]
    return [before - after for before, after in itertools.pairwise(masks) if before > after]


def to_reveal(state: State, steps: int, step: int) -> int:
    """Positions that mask-predict reveals in a step: floor(N (T - t) / T) stay masked."""
    hidden = int((~state.revealed).sum())
    return hidden - len(state.revealed) * (steps - step) // steps


class Sets(NamedTuple):
    """All sets of classes of positions; bit c of a set's number stands for class c.

    Attributes:
        positions: their number in each class, [C].
        certain: number of those with the same token in all targets, which are in no class.
        entropies: of the tokens of each set, nats, [2 ** C].
    """

    positions: np.ndarray
    certain: int
    entropies: np.ndarray

    def hidden(self, revealed: int) -> tuple[np.ndarray, np.ndarray]:
        """The classes that a set does not have, and the entropy of each given the set, nats."""
        classes = (revealed & (1 << np.arange(len(self.positions))) == 0).nonzero()[0]
        return classes, self.entropies[revealed | (1 << classes)] - self.entropies[revealed]

    @property
    def last_step(self) -> np.ndarray:
        """The cost of revealing all that is left, from each set of revealed classes, [2 ** C]."""
        sets = np.arange(len(self.entropies))
        costs = np.zeros(len(sets))
        for each, number in enumerate(self.positions):
            costs += number * (self.entropies[sets | (1 << each)] - self.entropies)
        return costs


def sets_of(law: Law, most_classes: int = CLASSES) -> Sets | None:
    """Classes of the positions of a law, at most so many, and the entropies of their sets."""
    members, positions = _classes(law.tokens)
    if len(positions) > most_classes:
        return None
    certain = law.tokens.shape[1] - int(positions.sum())
    return Sets(positions, certain, _entropies(members, law.weights))


def least_errors(sets: Sets, most_steps: int) -> np.ndarray:
    """The least factorisation error of a schedule with 1 to `most_steps` steps, nats, [steps]."""
    # what is left to pay from each set of revealed classes on, with 1, 2, ... steps to go
    left = np.tile(sets.last_step, (most_steps, 1))
    for revealed in range(len(sets.entropies) - 1, -1, -1):
        subsets, costs = _choices(*sets.hidden(revealed))
        # the empty subset comes first: a step that does nothing, known from one step less
        following = left[:, revealed | subsets]
        for steps in range(1, most_steps):
            left[steps, revealed] = left[steps - 1, revealed]
            if len(subsets) > 1:
                best = (costs[1:] + following[steps - 1, 1:]).min()
                left[steps, revealed] = min(left[steps, revealed], best)
    return np.maximum(left[:, 0] - sets.entropies[-1], 0.0)


def least_error(sets: Sets, counts: Sequence[int]) -> float:
    """The least factorisation error, nats, of a schedule that reveals so many positions a step.

    A step reveals one position of each of its new classes, then those that are certain by then,
    and only if there are too few of these further ones of its classes, the cheapest first.
    """
    left = sets.last_step
    for step in range(len(counts) - 2, -1, -1):
        before = sum(counts[:step])
        best = np.full(len(left), np.inf)
        for revealed in range(len(left)) if step else (0,):
            has = (revealed & (1 << np.arange(len(sets.positions)))) > 0
            free = sets.certain + int(sets.positions[has].sum()) - before
            if free < 0 or has.sum() > before:
                continue  # no schedule comes here
            classes, gains = sets.hidden(revealed)
            cheapest = np.argsort(gains)
            classes, gains = classes[cheapest], gains[cheapest]
            subsets, costs = _choices(classes, gains)
            numbers = _choices(classes, np.ones(len(classes)))[1]
            missing = np.maximum(counts[step] - numbers - free, 0)
            for each, gain in zip(classes, gains, strict=True):
                chosen = (subsets >> each) & 1
                further = np.minimum(missing, chosen * (sets.positions[each] - 1))
                costs, missing = costs + further * gain, missing - further
            possible = (missing == 0) & (numbers <= counts[step])
            if possible.any():
                best[revealed] = (costs + left[revealed | subsets])[possible].min()
        left = best
    return max(float(left[0] - sets.entropies[-1]), 0.0)


def _choices(classes: np.ndarray, costs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """All sets of these classes, the empty one first, and the sum of their costs, by doubling."""
    sets, sums = np.zeros(1, dtype=np.int64), np.zeros(1)
    for each, cost in zip(classes, costs, strict=True):
        sets = np.concatenate((sets, sets | (1 << each)))
        sums = np.concatenate((sums, sums + cost))
    return sets, sums


def _classes(tokens: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Symbols of one position of each class, numbered from 0, [K, C], and its positions, [C]."""
    sizes: Counter[tuple[int, ...]] = Counter()
    for column in tokens.T.tolist():
        numbers = {symbol: number for number, symbol in enumerate(dict.fromkeys(column))}
        if len(numbers) > 1:
            sizes[tuple(numbers[symbol] for symbol in column)] += 1
    members = np.array(list(sizes), dtype=np.int64).reshape(len(sizes), len(tokens))
    return members.T, np.array(list(sizes.values()))


def _entropies(members: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Entropy of the symbols of each set of classes, nats, [2 ** C]; bit c stands for class c."""
    number = members.shape[1]
    entropies = np.zeros(1 << number)
    # outcomes of each set, from those of the set without its highest class
    outcomes: dict[int, np.ndarray] = {0: np.zeros(len(members), dtype=np.int64)}
    sizes = members.max(0) + 1 if len(members) else np.zeros(number, dtype=np.int64)
    for revealed in range(1, 1 << number):
        highest = revealed.bit_length() - 1
        rest = revealed ^ (1 << highest)
        together = outcomes[rest] * sizes[highest] + members[:, highest]
        p = np.bincount(together, weights)
        there = p > 0
        # numbered anew, so that they stay below the number of targets
        outcomes[revealed] = (np.cumsum(there) - 1)[together]
        p = p[there]
        entropies[revealed] = -float(p @ np.log(p))
    return entropies

"""How small the factorisation error can be: schedules of a known law that no model is behind.

See `nat.measures.revealing` for the error. A schedule with T steps divides the positions of a
target, whose length is known, into T sets that are revealed one after another; which ones, may
depend on the source and the length. Its error, sum over steps of sum over i in Z of H(y_i | y_A)
minus H(Y), consists of entropies of sets of positions. All of them are computed, and the best
schedule is found by dynamic programming.

Positions of which each determines the other are one class, since an order that reveals one of them
first and the others last loses nothing. The last step reveals all that is left, a class that is
hidden until then with each of its positions.

With one step there is nothing to choose, and with two the first set is chosen before a token is
seen; so this is the bound of any decoding that knows the length. With more steps a decoding that
selects positions by the tokens that it sees could be better than the best schedule.
"""

from typing import Any

import numpy as np

from nat.configuration import Configuration
from nat.measures import known_law, revealing
from nat.measures.known_law import STEPS
from nat.measures.revealing import Choice, Decoding, Law, State

READS_MODEL = False

CLASSES = 12
"""Most classes of positions; the errors of the lengths of a source with more count as zero."""

reads = known_law.reads


def analyse(configuration: Configuration, corpus: str, system: str, seed: int) -> dict[str, Any]:
    """Errors of schedules, of the law of a corpus alone; `system` is not looked at.

    `bound_factorisation_T` is the mean of the least error in T steps. With more than one step,
    lengths with more than `CLASSES` classes, or with a probability below `revealing.SMALLEST`,
    count as zero, so it is a bound in any case; `covered` is the probability of the others.
    `random_factorisation_T` is the error if the positions are drawn at random, as many at a time as
    in mask-predict. Nothing is learned, so `learning` is zero and `kl` the same.

    Raises:
        UserError: if the corpus has no known law.
    """
    found = known_law.sentences(configuration, corpus)
    roots = [
        revealing.root(number, law, share)
        for number, targets in enumerate(found.laws)
        for share, law in revealing.by_length(targets).values()
    ]
    least, covered = np.zeros((len(STEPS), len(found.laws))), 0.0
    for state in roots:
        if state.weight >= revealing.SMALLEST:
            errors = least_errors(state.law, max(STEPS))
            if errors is not None:
                least[:, state.sentence] += state.weight * errors[[steps - 1 for steps in STEPS]]
                covered += state.weight / len(found.laws)
    # there is one schedule with one step, and nothing to search for
    least[0] = [
        errors.factorisation
        for errors in revealing.split(roots, at_random(1, seed), smallest=0).values()
    ]
    values = {}
    for steps, errors_of_bound in zip(STEPS, least, strict=True):
        drawn = revealing.split(roots, at_random(steps, seed), seed=seed)
        of_random = np.array([each.factorisation for each in drawn.values()])
        for law, of_each in (("bound", errors_of_bound), ("random", of_random)):
            values[f"{law}_kl_{steps}"] = values[f"{law}_factorisation_{steps}"] = of_each
            values[f"{law}_learning_{steps}"] = np.zeros(len(of_each))
        values[f"bound_passes_{steps}"] = np.full(len(of_random), float(steps))
        values[f"random_passes_{steps}"] = np.array([each.passes for each in drawn.values()])
    return found.result(values, {"covered": round(covered, 6)})


def at_random(steps: int, seed: int) -> Decoding:
    """Positions drawn at random, as many at a time as in mask-predict; tokens by the law."""
    numbers = np.random.default_rng(seed)

    def choose(states: Any, step: int) -> Any:
        for state in states:
            hidden = (~state.revealed).nonzero()[0]
            yield Choice(numbers.permutation(hidden)[: to_reveal(state, steps, step)], None)

    return choose


def to_reveal(state: State, steps: int, step: int) -> int:
    """Positions that mask-predict reveals in a step: floor(N (T - t) / T) stay masked."""
    hidden = int((~state.revealed).sum())
    return hidden - len(state.revealed) * (steps - step) // steps


def least_errors(law: Law, most_steps: int, most_classes: int = CLASSES) -> np.ndarray | None:
    """The least factorisation error of a schedule with 1 to `most_steps` steps, nats, [steps].

    None if there are more classes than `most_classes`.
    """
    members, counts = _classes(law.tokens)
    number = len(counts)
    if number > most_classes:
        return None
    if not number:
        return np.zeros(most_steps)
    entropies = _entropies(members, law.weights)
    every = (1 << number) - 1
    bits = 1 << np.arange(number)
    # what is left to pay from each set of revealed classes on, with 1, 2, ... steps to go
    left = np.zeros((most_steps, 1 << number))
    for revealed in range(every, -1, -1):
        is_hidden = (revealed & bits) == 0
        hidden = bits[is_hidden]
        gains = entropies[revealed | hidden] - entropies[revealed]
        left[0, revealed] = gains @ counts[is_hidden]
        # all subsets of what is hidden, and what they cost, by doubling
        subsets, costs = np.zeros(1, dtype=np.int64), np.zeros(1)
        for bit, gain in zip(hidden, gains, strict=True):
            subsets = np.concatenate((subsets, subsets | bit))
            costs = np.concatenate((costs, costs + gain))
        # the empty subset comes first: a step that does nothing, known from one step less
        following = left[:, revealed | subsets]
        for steps in range(1, most_steps):
            left[steps, revealed] = left[steps - 1, revealed]
            if len(subsets) > 1:
                best = (costs[1:] + following[steps - 1, 1:]).min()
                left[steps, revealed] = min(left[steps, revealed], best)
    found: np.ndarray = np.maximum(left[:, 0] - entropies[every], 0.0)
    return found


def _classes(tokens: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Symbols of one position of each class, numbered from 0, [K, C], and its positions, [C]."""
    found: dict[bytes, int] = {}
    members = []
    for column in tokens.T:
        _, first, numbers = np.unique(column, return_index=True, return_inverse=True)
        numbers = np.argsort(np.argsort(first))[numbers]  # in order of occurrence
        if len(first) > 1:
            key = numbers.tobytes()
            if key not in found:
                members.append(numbers)
            found[key] = found.get(key, 0) + 1
    shape = len(tokens), len(members)
    return np.array(members, dtype=np.int64).T.reshape(shape), np.array(list(found.values()))


def _entropies(members: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Entropy of the symbols of each set of classes, nats, [2 ** C]; bit c stands for class c."""
    number = members.shape[1]
    found = np.zeros(1 << number)
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
        found[revealed] = -float(p @ np.log(p))
    return found

"""The exact law of an invented language: its targets, their probabilities, and their entropies.

With n content words, m of them with synonyms, and h the binary entropy, the steps in which a target
is drawn (`nat.data.invented.language`) give

    H(Y|X) = h(O) + h(D) + n h(N) + (1 - P(N)^m) H(R).

A dropped particle makes the target one word shorter, so every target is padded with an end symbol
to the greatest length that its source allows: the length is then part of the distribution.

H(Y|X) does not depend on how words are split into subwords, but the entropies of single positions
do: forms of one word may have different numbers of subwords, so a register or a slip shifts all
later positions. Given layout and register, words are independent of each other. So the probability
that a word starts at a position, and that of the length of what follows, are sums over the words
before and after it, and nothing is enumerated.

Two models bound what a parallel model can reach. One predicts the length and knows it in all
positions, as models with a length predictor do: H(L|X) + sum over i of H(y_i | X, L). The other
makes nothing of it: the sum over i of H(y_i | X) of the target padded to its greatest length. What
either has above H(Y|X) is the total correlation for a model of this kind (Huang et al. 2022, MPLE,
section 2.3).
"""

import itertools
import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, partial
from typing import Any, NamedTuple

from nat.data.invented.language import Language, binary
from nat.data.invented.words import Word, clause
from nat.data.raw_text import Splitter

Lengths = dict[int, float]  # probability of numbers of subwords

Forms = list[tuple[tuple[str, ...], float]]
"""The forms of a word, in subwords, and their probabilities."""


class Entropies(NamedTuple):
    """Entropies of the words or subwords of the target of one source sentence, in nats."""

    joint: float  # H(Y|X)
    length: float  # H(L|X), of their number
    given_length: float  # expectation over L of the sum over i of H(y_i | X, L)
    padded: float  # sum over i of H(y_i | X), with the end symbol at all positions after the last
    tokens: float  # expected number of them


def modes(language: Language, source: str) -> dict[str, float]:
    """All noise-free targets of a source with their probabilities, the most probable first.

    The probabilities sum to one: this is the distribution of the target without noise. As all
    functions here, it raises a `ValueError` if `source` is not a sentence of the language.
    """
    frame = clause(language, source)
    law: defaultdict[str, float] = defaultdict(float)
    orders = binary(language.front_probability)
    drops = binary(language.drop_probability) if language.optional_particle else ((False, 1.0),)
    for (front, order), (dropped, drop) in itertools.product(orders, drops):
        for register, p in enumerate(language.register_probabilities):
            if p * order * drop > 0:
                words = frame.layout(front, dropped)
                law[" ".join(word.forms[register] for word in words)] += p * order * drop
    return dict(sorted(law.items(), key=lambda item: -item[1]))


def _joint_entropy(language: Language, words: Sequence[Word]) -> float:
    """H(Y|X) by the equation above."""
    content = sum(word.slip is not None for word in words)
    varied = sum(len(set(word.forms)) > 1 for word in words)
    front, drop, slip = (
        entropy((p, 1 - p))
        for p in (language.front_probability, language.drop_probability, language.slip_probability)
    )
    register = entropy(language.register_probabilities)
    return front + drop + content * slip + (1 - language.slip_probability**varied) * register


def entropies(language: Language, split: Splitter, source: str) -> Entropies:
    """Exact entropies of one source sentence, whose words are split into subwords or stay whole."""
    # P(L, y_i = s) by length and position
    by_length: defaultdict[int, defaultdict[int, defaultdict[str, float]]] = defaultdict(
        lambda: defaultdict(lambda: defaultdict(float))
    )
    lengths: defaultdict[int, float] = defaultdict(float)
    for share, words in _frames(language, split, source):
        starts = list(itertools.accumulate(words, _longer, initial={0: 1.0}))
        rests = list(itertools.accumulate(reversed(words), _longer, initial={0: 1.0}))[-2::-1]
        for forms, start, rest in zip(words, starts[:-1], rests, strict=True):
            for subwords, weight in forms:
                for (before, p), (after, q) in itertools.product(start.items(), rest.items()):
                    positions = by_length[before + len(subwords) + after]
                    for place, subword in enumerate(subwords, before):
                        positions[place][subword] += share * p * weight * q
        for length, p in starts[-1].items():
            lengths[length] += share * p
    padded = 0.0
    for place in range(max(lengths)):
        marginal: defaultdict[str, float] = defaultdict(float)
        for length in lengths:
            for subword, p in by_length[length].get(place, {}).items():
                marginal[subword] += p
        ended = math.fsum(weight for length, weight in lengths.items() if length <= place)
        padded += entropy([*marginal.values(), ended])
    return Entropies(
        joint=_joint_entropy(language, clause(language, source).layout(front=False, dropped=False)),
        length=entropy(lengths.values()),
        given_length=math.fsum(
            weight * math.fsum(entropy(place.values(), weight) for place in by_length[n].values())
            for n, weight in lengths.items()
        ),
        padded=padded,
        tokens=math.fsum(length * weight for length, weight in lengths.items()),
    )


def corpus_entropies(language: Language, sources: Iterable[str]) -> dict[str, Any]:
    """Exact means of the entropies of words over source sentences.

    Returns:
        `sentences`, `words_per_sentence` (expected length of a target), and `per_sentence` and
        `per_word` (sum over the corpus divided by the sum of expected lengths), each in `nats`
        and `bits`: `joint_entropy` H(Y|X), `marginal_entropies` sum_i H(y_i|X) of the padded
        target, and `total_correlation` C(X).
    """
    known: dict[Any, Entropies] = {}
    rows = []
    for source in sources:
        frame = clause(language, source)
        # sentences of one shape share their entropies, because no word occurs twice in any
        words = frame.layout(front=False, dropped=False)
        kinds = tuple((word.slip is None, len(set(word.forms))) for word in words)
        shape = kinds, frame.particle, len(frame.main)
        if shape not in known:
            known[shape] = entropies(language, str, source)
        rows.append(known[shape])
    length = math.fsum(row.tokens for row in rows)
    sums = {
        "joint_entropy": math.fsum(row.joint for row in rows),
        "marginal_entropies": math.fsum(row.padded for row in rows),
        "total_correlation": math.fsum(row.padded - row.joint for row in rows),
    }

    def means(divisor: float) -> dict[str, dict[str, float]]:
        return {
            unit: {name: value / divisor / size for name, value in sums.items()}
            for unit, size in (("nats", 1.0), ("bits", math.log(2)))
        }

    numbers = {"sentences": len(rows), "words_per_sentence": length / len(rows)}
    return {**numbers, "per_sentence": means(len(rows)), "per_word": means(length)}


def corpus_subword_entropies(
    language: Language, split: Splitter, sources: Iterable[str]
) -> dict[str, float]:
    """Means of the entropies over source sentences, nats a sentence, and the expected tokens."""
    rows = list(map(cache(partial(entropies, language, split)), sources))
    return {
        name: math.fsum(getattr(row, name) for row in rows) / len(rows)
        for name in Entropies._fields
    }


def subword_law(language: Language, split: Splitter, source: str) -> dict[tuple[str, ...], float]:
    """All targets of one source sentence, in subwords, and their probabilities.

    Their number doubles with each content word: some thousands for a typical sentence.
    """
    law: defaultdict[tuple[str, ...], float] = defaultdict(float)
    for share, words in _frames(language, split, source):
        targets: dict[tuple[str, ...], float] = {(): share}
        for forms in words:
            targets = {
                before + subwords: weight * q
                for before, weight in targets.items()
                for subwords, q in forms
            }
        for target, weight in targets.items():
            law[target] += weight
    return dict(law)


def _frames(
    language: Language, split: Splitter, source: str
) -> Iterator[tuple[float, list[Forms]]]:
    """Each layout in each register: its probability, and its words."""
    frame, slip = clause(language, source), language.slip_probability

    def forms(word: Word, register: int) -> Forms:
        careful = word.forms[register]
        weighted = [(careful, 1 - slip), (word.slip, slip)] if word.slip else [(careful, 1.0)]
        return [(tuple(split(form).split()), weight) for form, weight in weighted if weight]

    for front, dropped, share in language.layouts():
        for register, p in enumerate(language.register_probabilities):
            if p:
                words = frame.layout(front, dropped)
                yield share * p, [forms(word, register) for word in words]


def _longer(lengths: Lengths, forms: Forms) -> Lengths:
    """Lengths with one more word."""
    longer: defaultdict[int, float] = defaultdict(float)
    for length, p in lengths.items():
        for subwords, weight in forms:
            longer[length + len(subwords)] += p * weight
    return longer


def entropy(weights: Iterable[float], total: float = 1.0) -> float:
    """Entropy in nats of weights with this sum, with 0 log 0 = 0."""
    return -math.fsum(p / total * math.log(p / total) for p in weights if p > 0) + 0.0

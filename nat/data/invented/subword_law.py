"""Exact entropies of the subwords of an invented language, and so their total correlation.

H(Y|X) does not depend on how words are split, but the entropies of single positions do: forms of
one word may have different numbers of subwords, so a register or a slip shifts all later
positions. Given layout and register, words are independent of each other. So the probability that
a word starts at a position, and that of the length of what follows, are sums over the words before
and after it (forward and backward), and nothing is enumerated.

Two models bound what a parallel model can reach. One predicts the length and knows it in all
positions, as models with a length predictor do: H(L|X) + sum over i of H(y_i | X, L). The other
makes nothing of it: the sum over i of H(y_i | X) of the target padded to its greatest length. What
either has above H(Y|X) is the total correlation for a model of this kind (Huang et al. 2022, MPLE,
section 2.3).
"""

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from nat.data.invented.language import Language, Word, entropy

Split = Callable[[str], str]
"""Splits a word into subwords with spaces between them."""

Lengths = Mapping[int, float]
"""Probability of numbers of subwords."""


class SubwordEntropies(NamedTuple):
    """Exact entropies of the subwords of the target of one source sentence, nats.

    Attributes:
        joint: H(Y|X).
        length: H(L|X), of the number of subwords.
        given_length: expectation over L of sum over i of H(y_i | X, L).
        padded: sum over i of H(y_i | X), the end symbol at all positions after the last.
        tokens: expected number of subwords.
    """

    joint: float
    length: float
    given_length: float
    padded: float
    tokens: float


def subword_entropies(language: Language, split: Split, source: str) -> SubwordEntropies:
    """Entropies of the subwords of one source sentence.

    Raises:
        ValueError: if `source` is not a sentence of the language.
    """
    # P(L, y_i = s) by length and position
    found: defaultdict[int, defaultdict[int, defaultdict[str, float]]] = defaultdict(
        lambda: defaultdict(lambda: defaultdict(float))
    )
    lengths: defaultdict[int, float] = defaultdict(float)
    clause = language.clause(source)
    for front, dropped, share in language.layouts():
        words = clause.layout(front, dropped)
        for register, p in enumerate(language.register_probabilities):
            if p:
                forms = [_forms(language, word, register, split) for word in words]
                _add(found, lengths, forms, share * p)
    given_length = math.fsum(
        weight * math.fsum(entropy(place.values(), weight) for place in found[length].values())
        for length, weight in lengths.items()
    )
    return SubwordEntropies(
        joint=language.entropies(source).joint,
        length=entropy(lengths.values()),
        given_length=given_length,
        padded=_padded(found, lengths),
        tokens=math.fsum(length * weight for length, weight in lengths.items()),
    )


def corpus_subword_entropies(
    language: Language, split: Split, sources: Iterable[str]
) -> dict[str, float]:
    """Means of the entropies over source sentences, nats a sentence, and the expected tokens."""
    known: dict[str, SubwordEntropies] = {}
    rows = []
    for source in sources:
        if source not in known:
            known[source] = subword_entropies(language, split, source)
        rows.append(known[source])
    return {
        name: math.fsum(getattr(row, name) for row in rows) / len(rows)
        for name in SubwordEntropies._fields
    }


def subword_law(language: Language, split: Split, source: str) -> dict[tuple[str, ...], float]:
    """All targets of one source sentence, in subwords, and their probabilities.

    Their number doubles with each content word: some thousands for a typical sentence.

    Raises:
        ValueError: if `source` is not a sentence of the language.
    """
    found: defaultdict[tuple[str, ...], float] = defaultdict(float)
    clause = language.clause(source)
    for front, dropped, share in language.layouts():
        words = clause.layout(front, dropped)
        for register, p in enumerate(language.register_probabilities):
            targets: dict[tuple[str, ...], float] = {(): share * p} if p else {}
            for word in words:
                forms = _forms(language, word, register, split)
                targets = {
                    before + subwords: weight * q
                    for before, weight in targets.items()
                    for subwords, q in forms
                }
            for target, weight in targets.items():
                found[target] += weight
    return dict(found)


def _forms(
    language: Language, word: Word, register: int, split: Split
) -> list[tuple[tuple[str, ...], float]]:
    return [
        (tuple(split(form).split()), weight)
        for form, weight in language.forms(word, register)
        if weight
    ]


def _add(
    found: Any,
    lengths: defaultdict[int, float],
    forms: list[list[tuple[tuple[str, ...], float]]],
    share: float,
) -> None:
    """Add P(L, y_i = s) of one layout and register, of the probability `share`."""
    starts: list[Lengths] = [{0: 1.0}]
    for alternatives in forms[:-1]:
        starts.append(_longer(starts[-1], alternatives))
    rests: list[Lengths] = [{0: 1.0}]
    for alternatives in forms[:0:-1]:
        rests.append(_longer(rests[-1], alternatives))
    rests.reverse()
    for alternatives, start, rest in zip(forms, starts, rests, strict=True):
        for subwords, weight in alternatives:
            for before, p in start.items():
                for after, q in rest.items():
                    places = found[before + len(subwords) + after]
                    probability = share * p * weight * q
                    for place, subword in enumerate(subwords, before):
                        places[place][subword] += probability
    for length, probability in _longer(starts[-1], forms[-1]).items():
        lengths[length] += share * probability


def _longer(lengths: Lengths, alternatives: list[tuple[tuple[str, ...], float]]) -> Lengths:
    """Lengths with one more word."""
    found: defaultdict[int, float] = defaultdict(float)
    for length, p in lengths.items():
        for subwords, weight in alternatives:
            found[length + len(subwords)] += p * weight
    return found


def _padded(found: Any, lengths: Lengths) -> float:
    total = 0.0
    for place in range(max(lengths)):
        marginal: defaultdict[str, float] = defaultdict(float)
        for length in lengths:
            for subword, probability in found[length].get(place, {}).items():
                marginal[subword] += probability
        ended = math.fsum(weight for length, weight in lengths.items() if length <= place)
        total += entropy([*marginal.values(), ended])
    return total

"""Exact entropies of subwords against the enumeration of all targets."""

import math
from collections import defaultdict

import pytest

from nat.data.subword_law import corpus_subword_entropies, subword_entropies
from nat.data.synthetic import Language, generate

LANGUAGE = Language(
    seed=3,
    nouns=5,
    verbs=2,
    adjectives=5,
    adverbs=2,
    prepositions=3,
    adjective_probability=0.1,
    attribute_probability=0.0,
    phrase_probability=0.0,
    register_probabilities=(0.6, 0.4),
    slip_probability=0.1,
    drop_probability=0.2,
)
SOURCES = [source for source, _ in generate(LANGUAGE, "train", 6)]


def letters(word: str) -> str:
    """Subwords of two letters, so that forms differ in length."""
    pieces = [word[place : place + 2] for place in range(0, len(word), 2)]
    return " ".join([f"{piece}@@" for piece in pieces[:-1]] + pieces[-1:])


def entropy(probabilities: list[float]) -> float:
    return -sum(p * math.log(p) for p in probabilities if p > 0)


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("whole", [False, True])
def test_all_targets_by_enumeration(source: str, whole: bool) -> None:
    split = str if whole else letters
    law = {
        tuple(subword for word in target.split() for subword in split(word).split()): p
        for target, p in LANGUAGE.distribution(source).items()
    }
    assert len(law) == len(LANGUAGE.distribution(source))  # subwords tell all targets apart
    by_length: defaultdict[int, float] = defaultdict(float)
    for target, p in law.items():
        by_length[len(target)] += p

    def marginals(targets: dict[tuple[str, ...], float], places: int) -> float:
        total = 0.0
        for place in range(places):
            found: defaultdict[str, float] = defaultdict(float)
            for target, p in targets.items():
                found[target[place] if place < len(target) else ""] += p
            total += entropy(list(found.values()))
        return total

    given = 0.0
    for length, weight in by_length.items():
        there = {target: p / weight for target, p in law.items() if len(target) == length}
        given += weight * marginals(there, length)
    found = subword_entropies(LANGUAGE, split, source)
    assert found.joint == pytest.approx(entropy(list(law.values())))
    assert found.length == pytest.approx(entropy(list(by_length.values())))
    assert found.given_length == pytest.approx(given)
    assert found.padded == pytest.approx(marginals(law, max(by_length)))
    assert found.tokens == pytest.approx(sum(len(target) * p for target, p in law.items()))
    if whole:
        assert found.padded == pytest.approx(math.fsum(LANGUAGE.entropies(source).marginals))


def test_knowing_the_length_helps_and_no_bound_is_below_the_joint_entropy() -> None:
    found = corpus_subword_entropies(LANGUAGE, letters, SOURCES)
    assert found["joint"] < found["length"] + found["given_length"] < found["padded"]

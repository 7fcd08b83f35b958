"""Assignment of the latents of two references."""

import pytest

from nat.analyses.analysis import Pairs
from nat.analyses.latent_assignment import assignments, inversions, most_apart, moved
from tests.tiny import make_model, make_texts


@pytest.mark.parametrize(
    ("first", "second", "reversed_pairs"),
    [
        ("a b c", "a b c", 0),
        ("a b c", "c b a", 3),
        ("a b c", "c a b", 2),
        ("a x b", "b y a", 1),
        ("a a b", "b a", 0),  # which "a" it is, nobody knows
        ("", "a", 0),
    ],
)
def test_orders(first: str, second: str, reversed_pairs: int) -> None:
    assert inversions(first, second) == reversed_pairs


def test_the_references_that_are_most_apart() -> None:
    assert most_apart(["a b c", "x y z", "b c a", "c b a"]) == ("a b c", "c b a")
    # two words of which both are turned round tell less than three of four
    assert most_apart(["a b c d", "b a", "d b c a"]) == ("a b c d", "d b c a")
    assert most_apart(["a b", "a b"]) is None


def test_the_same_reference_moves_nothing() -> None:
    model = make_model(parts={"latent": {"dim": 3}})
    sources, targets = make_texts([(5, 4), (3, 4), (0, 4), (4, 4)])
    references = {number: [targets[number].tolist()] * 2 for number in (0, 1, 2)}
    pairs = Pairs(model, sources, (), 1000)
    assert assignments(pairs, references) == {0: [0, 1, 2, 3, 4, 5], 1: [0, 1, 2, 3]}
    references[0][1] = targets[3].tolist()
    assert sorted(assignments(pairs, references)[0]) == [0, 1, 2, 3, 4, 5]


def test_shares() -> None:
    assert moved({0: [0, 1, 2], 1: [1, 0, 2]}) == {"latent_moved": pytest.approx(100 / 3)}
    assert moved({0: [0, 1]}) == {"latent_moved": 0} and moved({}) == {}

import itertools
import random

from nat.alignment.edit_distance import edit_distance
from nat.data.batch import pad


def by_recursion(found: tuple[int, ...], wanted: tuple[int, ...]) -> int:
    if not found or not wanted:
        return len(found) + len(wanted)
    return min(
        by_recursion(found[1:], wanted) + 1,
        by_recursion(found, wanted[1:]) + 1,
        by_recursion(found[1:], wanted[1:]) + (found[0] != wanted[0]),
    )


def test_against_the_definition() -> None:
    sequences = [
        sequence for length in range(4) for sequence in itertools.product((7, 8, 9), repeat=length)
    ]
    numbers = random.Random(1)
    pairs = numbers.sample(list(itertools.product(sequences, sequences)), 400)
    pairs += [((), ()), ((7, 8, 9, 7, 8), (9,)), ((9,), (7, 8, 9, 7, 8)), ((7, 8) * 2, (8, 7) * 2)]
    found = edit_distance(pad([list(a) for a, _ in pairs]), pad([list(b) for _, b in pairs]))
    assert found.tolist() == [by_recursion(*pair) for pair in pairs]

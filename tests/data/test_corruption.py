from nat.data.corpus import Corruption
from nat.data.corruption import corrupt_lines
from nat.options import validated

SYMBOLS = [f"s{number}" for number in range(500)]
LINES = [" ".join(f"w{(7 * n + k) % 40}" for k in range(10)) for n in range(4500)]


def corrupt(lines: list[str], split: str = "train", **options: float) -> list[str]:
    chosen = validated(Corruption, {"replace": 0.5, "drop": 0.0, "seed": 1} | options)
    return list(corrupt_lines(lines, SYMBOLS, chosen, split))


def test_half_of_the_tokens_are_replaced_in_place() -> None:
    found = [line.split() for line in corrupt(LINES)]
    clean = [line.split() for line in LINES]
    assert [len(line) for line in found] == [10] * 4500
    changed = [
        a
        for line, other in zip(found, clean, strict=True)
        for a, b in zip(line, other, strict=True)
        if a != b
    ]
    assert abs(len(changed) / 45_000 - 0.5) < 0.01
    counts = [changed.count(symbol) for symbol in SYMBOLS]
    assert sum(counts) == len(changed)
    assert min(counts) > 15  # 45 are due: uniform over the vocabulary


def test_a_tenth_is_dropped() -> None:
    tokens = sum(len(line.split()) for line in corrupt(LINES, drop=0.1))
    assert abs(tokens / 45_000 - 0.9) < 0.01


def test_a_line_keeps_a_token_and_an_empty_one_stays_empty() -> None:
    assert corrupt(["a b c", "", "a"], replace=0.0, drop=1.0) == ["a", "", "a"]


def test_numbers_are_those_of_seed_and_split() -> None:
    assert corrupt(LINES[:9]) == corrupt(LINES[:9])
    assert corrupt(LINES[:9]) != corrupt(LINES[:9], split="valid")
    assert corrupt(LINES[:9]) != corrupt(LINES[:9], seed=2)

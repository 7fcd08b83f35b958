"""What is read of the cells of a table: records."""

import copy
import itertools
from pathlib import Path
from typing import Any

import pytest

import tests.made_up_run as made_up_run
from nat.papers import values
from nat.papers.cells import Cell, Shown
from nat.papers.reader import Reader
from tests.made_up_run import PAPER, report, write_numbers

THREE = [1, 2, 3]


def nat(root: Path, seeds: list[int] | None = None) -> list[Cell]:
    """The cells of the row NAT, which has a published value."""
    made_up_run.publish(root)
    plain = made_up_run.configuration(root, {"paper": copy.deepcopy(PAPER)}, seeds)
    found = report(plain, "paper", "table 1")
    return [each for each in found if (each.row, each.column) == ("NAT", "En-De")]


def score(root: Path, cell: Cell, number: Any, **facts: Any) -> None:
    write_numbers(root / cell.path, "test", {"sacrebleu": number}, **facts)


def record(root: Path, cells: list[Cell]) -> values.Record:
    return values.record("demo", Shown(tuple(cells)), Reader(root))


def test_mean_and_spread_over_seeds(tmp_path: Path) -> None:
    cells = nat(tmp_path, THREE)
    for cell, value in zip(cells, (20.0, 24.0), strict=False):
        known = {"value": value, "low": value - 1, "high": value + 1}
        score(tmp_path, cell, known, not_decoded=1)
    found = record(tmp_path, cells)
    assert (found["ours"], found["seeds"], found["not_decoded"]) == (22.0, "1 2", 2)
    assert found["spread"] == pytest.approx(8**0.5, abs=1e-6) and found["low"] is None
    assert found["remark"] == "without seed 3, which was not run"
    assert found["sources"].split() == [cell.path for cell in cells[:2]]
    alone = record(tmp_path, cells[:1])
    assert (alone["spread"], alone["low"], alone["high"]) == (None, 19.0, 21.0)


def test_times_and_stand_ins_are_not_compared_with_the_papers_number(tmp_path: Path) -> None:
    (cell,) = nat(tmp_path)
    number = {"value": 22.0, "low": 21.0, "high": 23.0}
    both = {"sacrebleu": number, "latency": number}
    write_numbers(tmp_path / cell.path, "test", both, systems={}, sentences_of_split=3)
    own = cell._replace(stand_in="")
    for each, difference in ((own, 1.5), (cell, None), (own._replace(measure="latency"), None)):
        assert record(tmp_path, [each])["difference"] == difference


def test_a_flag_names_the_seeds_that_it_is_of(tmp_path: Path) -> None:
    cells = nat(tmp_path, THREE)
    for cell, flags in zip(cells, (["a", "b"], ["a", "c"], ["a", "b"]), strict=True):
        score(tmp_path, cell, 20.0, flags=flags)
    assert record(tmp_path, cells)["remark"] == "a; b (seed 1, 3); c (seed 2)"


@pytest.mark.parametrize(
    ("operation", "numbers", "expected"),
    [
        ("difference", [3.0, 1.0], 2.0),
        ("ratio", [3.0, 2.0], 1.5),
        ("ratio", [3.0, 0.0], None),
        ("reduction", [857.2, 40.0], 20.43),  # HRT, appendix A: 20.4
        ("mean", [1.0, 2.0, 6.0], 3.0),
        ("mean", [1.0, None], None),
        # pairs of what is compared with the first number, and of what belongs to it
        ("reaching", [5.0, 4.0, 10.0, 5.0, 20.0, 6.0, 30.0], 20.0),
        ("short_of", [5.0, 4.0, 10.0, 5.0, 20.0, 6.0, 30.0], 10.0),
        ("reaching", [7.0, 4.0, 10.0, 5.0, 20.0], None),
        ("short_of", [7.0, 4.0, 10.0, 5.0, 20.0], 20.0),
        ("short_of", [3.0, 4.0, 10.0, 5.0, 20.0], None),
        ("correlation", [1.0, 3.0, 2.0, 2.0, 3.0, 1.0], -1.0),
        ("absolute_correlation", [1.0, 3.0, 2.0, 2.0, 3.0, 1.0], 1.0),
        ("correlation", [1.0, 3.0, 1.0, 2.0, 1.0, 1.0], None),
    ],
)
def test_numbers_that_are_computed_from_others(
    operation: str, numbers: list[float | None], expected: float | None
) -> None:
    assert values.computed(operation, numbers) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("cells", "named"),
    [
        ("A en, A de, C de", "A; C (de)"),
        ("A en, B en", "A (en); B (en)"),
        ("A en, B en, C en", "en"),
    ],
)
def test_a_note_names_the_rows_or_columns_that_it_is_about(cells: str, named: str) -> None:
    pairs = itertools.product("ABC", ("en", "de"))
    records = [{"row": row, "column": column, "status": "run"} for row, column in pairs]
    texts = [(e, "why") for e in records if f"{e['row']} {e['column']}" in cells.split(", ")]
    assert values.with_places(texts, records) == [f"{named}: why."]

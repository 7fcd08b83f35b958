"""What is read of the places of a table."""

import copy
from dataclasses import replace
from pathlib import Path

import made_up_run
import pytest
from made_up_run import PAPER, write_latencies, write_numbers

from nat.cells import values
from nat.cells.cell import Cell
from nat.cells.entry import Entry
from nat.cells.paper import entries
from nat.measures.results import NOT_AVAILABLE, missing


def place(root: Path, seeds: list[int] | None = None) -> Entry:
    made_up_run.publish(root)
    plain = made_up_run.configuration(root, {"paper": copy.deepcopy(PAPER)}, seeds)
    return entries(plain, "paper", "table", "1")[2]


def test_mean_and_spread_over_seeds(tmp_path: Path) -> None:
    entry = place(tmp_path, [1, 2, 3])
    for cell, value in zip(entry.cells[:2], (20.0, 24.0), strict=True):
        measure = {"value": value, "low": value - 1, "high": value + 1}
        write_numbers(tmp_path / cell.score_path, "test", {"sacrebleu": measure}, not_decoded=1)
    found = values.read(entry, tmp_path)
    assert found.value == 22.0 and found.spread == pytest.approx(8**0.5)
    assert found.low is None and found.seeds == (1, 2) and found.not_decoded == 2
    assert found.reason == "without seed 3, which was not run"
    record = values.record("demo", entry, found)
    assert record["published"] == 20.5 and record["difference"] is None  # of a stand-in
    papers = replace(entry, stand_in="")
    assert values.record("paper", papers, found)["difference"] == pytest.approx(1.5)
    assert record["sources"].split() == [cell.score_path for cell in entry.cells[:2]]


def test_the_spread_of_differences_is_over_seeds(tmp_path: Path) -> None:
    own, other = (
        tuple(
            Cell(
                *("demo", made_up_run.CORPUS, system, seed, "one-pass", "", "latency", "cpu-1"),
                group="paper_table_1",
            )
            for seed in (1, 2)
        )
        for system in ("nat-kd", "cmlm-kd")
    )
    for each, more, seed in zip(own, other, (1, 2), strict=True):
        write_latencies(tmp_path, {each: [4.0 * seed] * 5, more: [2.0 * seed + 1] * 5})
    entry = replace(place(tmp_path, [1, 2]), measure="latency", cells=own, over=other)
    record = values.measured_record("demo", entry, tmp_path)
    assert record["ours"] == 2 and record["seeds"] == "1 2"  # 4 - 3 and 8 - 5
    assert record["spread"] == pytest.approx(2**0.5, abs=1e-6)


def test_a_flag_names_the_seeds_that_it_is_of(tmp_path: Path) -> None:
    entry = place(tmp_path, [1, 2, 3])
    for cell, flags in zip(entry.cells, (["a", "b"], ["a", "c"], ["a", "b"]), strict=True):
        write_numbers(tmp_path / cell.score_path, "test", {"sacrebleu": 20.0}, flags=flags)
    found = values.read(entry, tmp_path)
    assert found.reason == "a; b (seed 1, 3); c (seed 2)"


def test_times_of_different_machines_are_not_subtracted(tmp_path: Path) -> None:
    entry = replace(place(tmp_path), stand_in="")
    found = values.Value(22.0, None, None, None, (1,), (), 0, "", "")
    differences = {
        measure: values.record("paper", replace(entry, measure=measure), found)["difference"]
        for measure in ("latency", "decoding_seconds", "speed_up", "passes")
    }
    assert differences == {
        **dict.fromkeys(("latency", "decoding_seconds")),
        **dict.fromkeys(("speed_up", "passes"), pytest.approx(1.5)),
    }


def test_not_run_and_not_available(tmp_path: Path) -> None:
    entry = place(tmp_path)
    record = values.record("demo", entry, values.read(entry, tmp_path))
    assert record["status"] == values.NOT_RUN
    write_numbers(
        tmp_path / entry.cells[0].score_path, "test", missing([entry.measure], NOT_AVAILABLE)
    )
    record = values.record("demo", entry, values.read(entry, tmp_path))
    assert record["status"] == values.NOT_AVAILABLE


@pytest.mark.parametrize("older", [False, True])
def test_a_measure_that_a_score_is_older_than_is_told_from_one_that_it_cannot_have(
    tmp_path: Path, older: bool
) -> None:
    entry = place(tmp_path)
    numbers = missing([] if older else [entry.measure], NOT_AVAILABLE)
    write_numbers(tmp_path / entry.cells[0].score_path, "test", numbers)
    status = values.record("demo", entry, values.read(entry, tmp_path))["status"]
    if older:
        told = "not run: these scores are older than the measure; --forcerun results/demo/scores/"
        assert status.startswith(told) and "/*/seed*/*/" in status
    else:
        assert status == values.NOT_AVAILABLE

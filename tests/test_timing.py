"""What is timed together: the systems of a table or figure, on one corpus in one setting."""

from pathlib import Path
from typing import Any

import made_up_run
import pytest
from made_up_run import CORPUS, TASK

from nat.artifacts import Latency, Model
from nat.cells import timing
from nat.claims import claim_checks
from nat.configuration import Configuration
from nat.errors import UserError
from nat.papers import reports

ROWS = [
    {"label": "AT", "system": "at-base", "decoding": "beam5"},
    {"label": "NAT", "system": "nat-kd", "decoding": "one-pass"},
]
TABLE: dict[str, Any] = {
    "title": "speed",
    "columns": [
        {"measure": "sacrebleu"},
        {"label": "latency, {setting}", "measure": "latency", "setting": ["cpu-1", "cuda-1"]},
        {"measure": "speed_up", "setting": "cpu-1", "over": "AT"},
    ],
    "rows": ROWS,
}
FIGURE = {
    "title": "quality and speed",
    "kind": "scatter",
    "panels": [TASK],
    "x": {"measure": "latency", "setting": "cpu-1"},
    "y": {"measure": "sacrebleu"},
    "series": [{**row, "point": "{decoding}"} for row in ROWS],
}
CLAIM = {"claim": "c", "from": "f", "measure": "latency", "setting": "cpu-1"}
COMPARED = {"compare": ["AT", "above", "NAT"], "margin": "100%"}


def configured(root: Path, seeds: list[int] | None = None, **content: Any) -> Configuration:
    paper = {"title": "Paper", "cells": {"task": TASK, "split": "test"}, **content}
    return made_up_run.configuration(root, {"paper": paper}, seeds=seeds)


def latencies(configuration: Configuration, kind: Any, number: str) -> dict[str, Latency]:
    found = reports.report(configuration, ("paper", kind, number)).inputs(configuration).results
    return {each.path: each for each in found if isinstance(each, Latency)}


def test_the_systems_of_a_table_are_timed_in_one_job_of_each_setting_and_seed(
    tmp_path: Path,
) -> None:
    found = latencies(configured(tmp_path, seeds=[1, 2], tables={"1": TABLE}), "table", "1")
    assert set(found) == {
        f"results/demo/latency/{CORPUS}/paper_table_1/seed{seed}/{setting}.json"
        for seed in (1, 2)
        for setting in ("cpu-1", "cuda-1")
    }
    for each in found.values():
        assert each.names == ("at-base/beam5", "nat-kd/one-pass")
        inputs = each.inputs(configured(tmp_path)).models
        assert inputs == tuple(
            Model("demo", CORPUS, system, each.seed) for system in ("at-base", "nat-kd")
        )


def test_a_group_within_another_of_the_paper_is_not_measured_again(tmp_path: Path) -> None:
    def paper(rows: list[dict[str, Any]]) -> Configuration:
        smaller = {**TABLE, "rows": rows}
        return configured(tmp_path, tables={"1": smaller, "2": TABLE}, figures={"3": FIGURE})

    within = paper(ROWS[:1])
    (path,) = latencies(within, "figure", "3")
    assert path.endswith("/paper_table_2/seed1/cpu-1.json")
    assert latencies(within, "table", "1") == latencies(within, "table", "2")
    other = paper([ROWS[0], {"label": "CMLM", "system": "cmlm-kd", "decoding": "one-pass"}])
    assert all("/paper_table_1/" in each for each in latencies(other, "table", "1"))
    assert all("/paper_table_2/" in each for each in latencies(other, "table", "2"))


def test_what_is_decoded_by_another_engine_reads_the_converted_model(tmp_path: Path) -> None:
    row = {"label": "engine", "system": "at-base", "decoding": "ctranslate2-int8-beam5"}
    found = latencies(
        configured(tmp_path, tables={"1": {**TABLE, "rows": [*ROWS, row]}}), "table", "1"
    )
    inputs = next(iter(found.values())).inputs(configured(tmp_path)).models
    assert [Path(each.path).name for each in inputs] == ["model.pt", "ctranslate2", "model.pt"]


def test_the_latencies_of_a_file_are_found_by_its_names(tmp_path: Path) -> None:
    configuration = configured(tmp_path, tables={"1": TABLE})
    (path, expected), *_ = latencies(configuration, "table", "1").items()
    found = timing.find(configuration, CORPUS, "paper_table_1", 1, expected.setting)
    assert (found, found.path) == (expected, path)
    with pytest.raises(UserError, match="did you mean 'paper_table_1'"):
        timing.find(configuration, CORPUS, "paper_tabel_1", 1, "cpu-1")
    with pytest.raises(UserError, match="paper.yaml: tables.1 .*'cpu-2'; did you mean 'cpu-1'"):
        timing.find(configuration, CORPUS, "paper_table_1", 1, "cpu-2")


def test_a_claim_takes_the_latencies_of_its_table(tmp_path: Path) -> None:
    claim = {**CLAIM, **COMPARED, "in": "table 1"}
    both = configured(tmp_path, tables={"1": TABLE}, claims={"fast": claim})
    files = claim_checks.files(both, "paper")
    assert [each.path for each in files] == [
        f"results/demo/latency/{CORPUS}/paper_table_1/seed1/cpu-1.json"
    ]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"in": None}, "claims.fast: missing key 'in': a latency"),
        ({"setting": "cpu-8"}, "claims.fast: 'AT': .*at-base/beam5 with the setting 'cpu-8'"),
    ],
)
def test_a_claim_about_a_latency_that_no_report_shows(
    tmp_path: Path, change: dict[str, Any], words: str
) -> None:
    systems = {row["label"]: {key: row[key] for key in ("system", "decoding")} for row in ROWS}
    claim = {**CLAIM, **COMPARED, "in": "table 1", "task": TASK, **change}
    claim = {key: value for key, value in claim.items() if value is not None}
    paper = configured(tmp_path, tables={"1": TABLE}, claims={"fast": claim}, systems=systems)
    with pytest.raises(UserError, match=words):
        claim_checks.files(paper, "paper")

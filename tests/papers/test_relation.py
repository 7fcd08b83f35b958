"""What descriptions of tables and figures cannot say, and what is timed together.

The cells that the papers' files stand for are those of `tests/golden`.
"""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import tests.made_up_run as made_up_run
from nat.artifacts import Latency
from nat.papers import relation
from nat.papers.cells import Cell
from tests.made_up_run import CORPUS, OTHER_TASK, TABLE, TASK, report
from tests.messages import told

FILE = "config/papers/paper.yaml"
CMLM = {"1": "mask-predict-1-lb5", "n": "mask-predict-{steps}-lb5"}
SYSTEMS: dict[str, Any] = {
    "CMLM": {"system": "cmlm-{text}", "decoding": CMLM},
    "CMLM + DiMS": {"like": "CMLM", "system": "dims-cmlm-{text}", "baseline": "CMLM"},
}
CELLS = {"measure": "sacrebleu", "split": "test", "with": {"text": "kd"}}
NAT = {"label": "NAT", "system": "nat-kd", "decoding": "one-pass"}
AT = {"label": "AT", "system": "at-base", "decoding": "beam5"}


def table(root: Path, *rows: Any, systems: Any = SYSTEMS, **described: Any) -> list[Cell]:
    """The cells of a table of these rows."""
    tables = {"1": {"title": "t", "rows": [*rows], **described}}
    if described.get("kind") != "samples":
        tables["1"].setdefault("columns", [TASK])
    made = made_up_run.paper(root, cells=CELLS, systems=systems, tables=tables)
    return report(made, "paper", "table 1")


def figure(root: Path, **described: Any) -> list[Cell]:
    figures = {"1": {"title": "f", "panels": [TASK], **described}}
    made = made_up_run.paper(root, cells=CELLS, systems=SYSTEMS, figures=figures)
    return report(made, "paper", "figure 1")


SAME_TASK = [TASK, {"task": TASK}]
OTHER_OVER = [{"task": TASK, "over": "NATT"}]
ONE_STEP_ONLY = {"system": "cmlm-kd", "decoding": {"1": "x"}}


@pytest.mark.parametrize(
    ("row", "changes", "names"),
    [
        ({"system": "nat-kt"}, {}, ["row 'r'", "En-De", "nat-kt", "nat-kd"]),
        ({"decoding": "one-pas"}, {}, ["row 'r'", "one-pas", "one-pass"]),
        ({"decoding": None}, {}, ["row 'r'", "'decoding'"]),
        ({"system": None}, {}, ["row 'r'", "'system'"]),
        ({"measure": "latency", "setting": "gpu-1"}, {}, ["gpu-1"]),
        ({"measure": "speed_up", "setting": "cpu-1"}, {}, ["row 'r'", "'over'"]),
        ({"split": "tset"}, {}, ["split", "tset", "test"]),
        ({"system": "nat-{txt}"}, {}, ["nat-{txt}", "'txt'", "text"]),
        ({"label": "NAT"}, {}, ["rows", "label 'NAT'"]),
        ({"baseline": "NATT"}, {}, ["rows", "baseline", "'NATT'", "'NAT'"]),
        ({"columns": ["En-D"]}, {}, ["rows", "columns", "En-D", "En-De"]),
        ({"over": "NATT", "measure": "parameter_share"}, {}, ["over", "'NATT'", "'NAT'"]),
        ({"derived": {"difference": ["NAT", "NATT"]}}, {}, ["derived", "NATT", "NAT"]),
        ({"derived": {"correlation": "NATT"}}, {}, ["derived", "NATT", "En-De"]),
        ({"derived": {"difference": ["r", "NAT"]}}, {}, ["derived", "'r'"]),
        # of the table
        ({}, {"columns": ["wmt14-en-fr"]}, ["columns", "wmt14-en-fr"]),
        ({}, {"columns": SAME_TASK}, ["columns", "label 'WMT14 En-De'"]),
        ({}, {"columns": OTHER_OVER}, ["over", "NATT", "NAT"]),
        ({}, {"baseline": {"nat-kt": "NAT"}}, ["baseline", "nat-kt", "nat-kd"]),
        ({}, {"footnotes": [{"row": "NATT", "text": "x"}]}, ["footnotes", "row", "NATT", "NAT"]),
        ({}, {"footnotes": [{"column": "En", "text": "x"}]}, ["footnotes", "column", "'En'"]),
        ({}, {"kind": "samples"}, ["systems.nat-kd.baseline"]),
        ({}, {"groups": {"g": "h"}}, ["groups", "'g'"]),
        # of the systems of the paper
        ({"system": "A"}, {"systems": {"A": ONE_STEP_ONLY}}, ["tables.1", "'decoding'"]),
        ({"system": "A"}, {"systems": {"A": {"system": "cmlmm-{text}"}}}, ["cmlmm-kd", "cmlm-kd"]),
    ],
)
def test_mistakes_of_a_table(
    tmp_path: Path, row: dict[str, Any], changes: Any, names: list[str]
) -> None:
    plain = {**NAT, "task": TASK} if changes.get("kind") == "samples" else NAT
    decoding = {} if "systems" in changes else {"decoding": "one-pass"}
    changed = {"label": "r", "system": "nat-kd", "steps": 4, **decoding, **row}
    changed = {key: value for key, value in changed.items() if value is not None}
    rows = [changed, plain] if row else [plain]
    column = {"label": "En-De", "task": TASK, "with": {"text": "kd"}}
    described = {} if changes.get("kind") == "samples" else {"columns": [column]}
    with told(FILE, *names):
        table(tmp_path, *rows, **{**described, **changes})


@pytest.mark.parametrize("like", ["CMLMM", "A", "CMLM"])
def test_a_system_is_like_one_above_it(tmp_path: Path, like: str) -> None:
    systems = {"A": {"like": like}, "CMLM": SYSTEMS["CMLM"]}
    with told(FILE, "systems.A.like", f"'{like}'"):
        table(tmp_path, {"system": "A", "steps": 4}, systems=systems)


# Figures

LINES = {"kind": "lines", "x": {"of": "n", "log": True}}
SCATTER = {
    "kind": "scatter",
    "x": {"measure": "latency", "setting": "cpu-1"},
    "y": {"measure": "sacrebleu"},
}
SHARES = {**SCATTER, "x": {"measure": "parameter_share"}}
CURVES = {"kind": "curves", "series": [{"label": "s", "chain": ["cmlm-{text}"], "task": TASK}]}


@pytest.mark.parametrize(
    ("described", "panel", "series", "names"),
    [
        (LINES, {}, {"measure": "speed_up", "setting": "cpu-1", "with": {"n": 1}}, ["'over'"]),
        (SHARES, {}, {}, ["panel 'p'", "'over'"]),
        (SCATTER, {}, {"setting": "cuda-1"}, ["panel 'p'", "'setting'"]),
        (CURVES, {"task": OTHER_TASK}, {}, ["panel 'p'", "'task'"]),
    ],
)
def test_what_figures_cannot_show(
    tmp_path: Path, described: Any, panel: Any, series: Any, names: list[str]
) -> None:
    panels = [{"label": "p", "task": TASK, **panel}]
    shown = described.get("series", [{"label": "s", "system": "CMLM", "steps": 1, **series}])
    with told(FILE, "figures.1", "series 's'", *names):
        figure(tmp_path, **{**described, "panels": panels, "series": shown})


# What is timed together

SPEED: dict[str, Any] = {
    "title": "speed",
    "columns": [
        {"measure": "sacrebleu"},
        {"label": "latency, {setting}", "measure": "latency", "setting": ["cpu-1", "cuda-1"]},
        {"measure": "speed_up", "setting": "cpu-1", "over": "AT"},
    ],
    "rows": [AT, NAT],
}


def test_the_systems_of_a_table_are_timed_in_one_job_of_each_setting_and_seed(
    tmp_path: Path,
) -> None:
    cells = {"task": TASK, "split": "test"}
    tables = {"1": SPEED, "2": {**SPEED, "rows": [AT]}}
    plain = made_up_run.paper(tmp_path, [1, 2], cells=cells, tables=tables)
    timed, of_a_part = (
        {each.path: each for each in table.inputs(plain).results if isinstance(each, Latency)}
        for table in (TABLE, replace(TABLE, number="2"))
    )
    assert of_a_part == timed
    names = ("at-base/beam5", "nat-kd/one-pass")
    assert {path: each.names for path, each in timed.items()} == {
        f"results/demo/latency/{CORPUS}/paper_table_1/seed{seed}/{setting}.json": names
        for seed in (1, 2)
        for setting in ("cpu-1", "cuda-1")
    }
    for each in timed.values():
        assert relation.latency(plain, vars(each)) == each
    with told("paper_tabel_1", "paper_table_1"):
        relation.latency(plain, vars(each) | {"group": "paper_tabel_1"})

"""What a file of `config/papers` may say."""

from typing import Any

import pytest

from nat.configuration.models import read_model
from nat.papers.description import Paper
from tests.made_up_run import TASK
from tests.messages import told

FILE = "config/papers/paper.yaml"
GRID: dict[str, Any] = {"title": "t", "columns": [TASK], "rows": [{"system": "nat-kd"}]}
LINES: dict[str, Any] = {
    "title": "t",
    "kind": "lines",
    "panels": [TASK],
    "series": [{"system": "nat-kd"}],
}


def read(content: dict[str, Any]) -> Paper:
    return read_model(Paper, {"title": "Paper", **content}, FILE)


def table(**changes: Any) -> dict[str, Any]:
    return {"tables": {"1": {**GRID, **changes}}}


def figure(kind: str, **changes: Any) -> dict[str, Any]:
    described = {**LINES, "kind": kind, **changes}
    return {"figures": {"1": {key: value for key, value in described.items() if value is not None}}}


def derived(**operation: Any) -> dict[str, Any]:
    return table(rows=[{"label": "d", "derived": operation}])


@pytest.mark.parametrize(
    ("content", "names"),
    [
        ({"sistems": {}}, ["sistems", "systems"]),
        ({"seeds": [1, 1]}, ["seeds"]),
        ({"cells": {"task": ["a", "b"]}}, ["cells", "task"]),
        ({"systems": {"A": {"decoding": {"two": "x"}}}}, ["systems.A", "decoding", "two"]),
        (table(rows=[]), ["tables.1", "rows"]),
        (table(columns=[{"mesure": "x"}]), ["tables.1.columns", "mesure", "measure"]),
        (table(rows=[{"label": "C\nM"}]), ["tables.1.rows.0.label"]),
        (table(rows=[{"steps": 0}]), ["tables.1.rows.0.steps"]),
        (table(kind="sample"), ["tables.1.kind", "sample", "samples"]),
        (derived(difference=["a", "b"], mean=["a", "b"]), ["rows.0.derived", "difference"]),
        (figure("linse"), ["figures.1.kind", "linse", "lines"]),
        (figure("heat_map", series=None), ["figures.1", "analysis"]),
        (figure("steps", series=None, analysis={"pases": "a"}), ["figures.1", "pases", "passes"]),
        (figure("alignment", series=None, analysis={"first": "a"}), ["figures.1", "second"]),
        (table(rows=[{"interval": True}]), ["tables.1", "rows.0", "interval"]),
        (figure("bars", log=True), ["figures.1", "bars", "log"]),
        (figure("lines", series=None), ["figures.1", "series"]),
    ],
)
def test_mistakes_are_named_by_file_and_key(content: dict[str, Any], names: list[str]) -> None:
    with told(FILE, *names):
        read(content)


def test_a_folded_label_loses_the_end_of_its_line() -> None:
    paper = read(table(rows=[{"label": "NAT\n"}]))
    assert paper.tables["1"].rows[0].label == "NAT"

"""MPLE as it is configured: its reports resolve, and all published values have their places."""

import csv

import pytest

from nat.configuration.configuration import read
from nat.reporting import claims, reports
from nat.reporting.paper import entries
from nat.reporting.published import NONE, file_of
from tests.made_up_run import REPOSITORY

PAPER = "mple"
TABLES = {"1", "2", "3", "4", "5", "6", "7", "8", "9", "10"}
FIGURES = {"1", "2", "5", "6", "7", "8"}
"""Those that show numbers; 3, 4 and 9 are diagrams of methods."""

OURS = {"shares"}


@pytest.mark.parametrize("scale", ["micro", "demo", "small", "paper"])
def test_all_reports_resolve(scale: str) -> None:
    configuration = read(scale, REPOSITORY)
    targets = [target for target in reports.targets(configuration) if target[0] == PAPER]
    assert {number for _, kind, number in targets if kind == "table"} == TABLES | OURS
    assert {number for _, kind, number in targets if kind == "figure"} == FIGURES | OURS
    without = {
        (kind, number)
        for paper, kind, number in targets
        if not reports.cells(configuration, (paper, kind, number))
    }
    no_chinese = {("table", "7"), ("table", "8")}
    assert without == (no_chinese if scale in ("micro", "small") else set())


def test_every_published_value_has_its_place() -> None:
    configuration = read("paper", REPOSITORY)
    places = {
        (f"table{number}", each.row, each.column)
        for number in TABLES
        for each in entries(configuration, PAPER, "table", number)
        if each.published is not None
    }
    with (REPOSITORY / file_of(PAPER)).open(encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file))
    shown = {(line["table"], line["row"], line["column"]) for line in lines if line["use"] != NONE}
    assert places == shown and len(shown) == 345
    assert {line["table"] for line in lines if line["use"] == NONE} == {
        *("fig1", "fig5", "fig7", "fig8", "table3", "table8", "text")
    }


def test_published_correlations_are_those_of_the_published_rows() -> None:
    """The paper's numbers hold what its text says, but for one correlation."""
    configuration = read("paper", REPOSITORY)
    found = {check.claim: check for check in claims.checks(configuration, PAPER)}
    assert claims._published(found["targets"]) < -0.9
    assert claims._published(found["inputs"]) < -0.9
    assert claims._published(found["inputs-default"]) == pytest.approx(-0.35, abs=0.02)
    assert claims._published(found["regulariser-single"]) < 0

"""MPLE as it is configured: its reports resolve, and all published values have their places."""

import csv
import math
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from made_up_run import write_numbers

from nat.artifacts import TotalCorrelation
from nat.cells.cell import Cell
from nat.cells.differences import difference
from nat.cells.paper import entries
from nat.claims import claim_checks
from nat.papers.verdicts import region
from nat.configuration.reading import read
from nat.files import write_json
from nat.measures.total_correlation import estimate, with_exact, with_measures
from nat.papers import reports
from nat.published.published import NONE, file_of
from nat.tables import tables
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
    found = {check.claim: check for check in claim_checks.checks(configuration, PAPER)}
    assert claim_checks.published_difference(found["targets"]) < -0.9
    assert claim_checks.published_difference(found["inputs"]) < -0.9
    assert claim_checks.published_difference(found["inputs-default"]) == pytest.approx(
        -0.35, abs=0.02
    )
    assert claim_checks.published_difference(found["regulariser-single"]) < 0


@pytest.mark.parametrize(("r", "holds"), [(-0.6, False), (-0.35, True), (0.35, True), (0.6, False)])
def test_a_small_correlation_is_small_on_both_sides(r: float, holds: bool) -> None:
    configuration = read("paper", REPOSITORY)
    check = next(
        each for each in claim_checks.checks(configuration, PAPER) if each.claim == "inputs-default"
    )
    assert region(check.relation, check.margin).contains(r) == holds


def test_the_weights_of_the_notes_are_those_of_the_systems() -> None:
    configuration = read("paper", REPOSITORY)
    for number in ("4", "9"):
        text = " ".join(configuration.paper(PAPER).tables[number].notes)
        for corpus in ("wmt14-en-de", "wmt17-zh-en"):
            gamma = configuration.training(corpus, "dynamic-kd").text.regulariser["gamma"]
            *first, last = map(str, gamma)
            assert f"{', '.join(first)} and {last}" in text


def test_the_exact_columns_of_table_1_are_ours_alone(tmp_path: Path) -> None:
    """They are filled where the law is known, and blank elsewhere."""
    configuration = replace(read("demo", REPOSITORY), root=tmp_path)
    published = tmp_path / file_of(PAPER)
    published.parent.mkdir(parents=True)
    published.write_bytes((REPOSITORY / file_of(PAPER)).read_bytes())
    exact = {"joint": 2.0, "length": 0.5, "given_length": 8.5, "padded": 11.0, "tokens": 9.0}
    for corpus, system, other, known in (
        ("toy-ka-lu", "mple-nat-raw", "at-base", True),
        ("toy-ka-lu-law", "likelihood-nat-raw", "likelihood-at-base", True),
        ("toy-synthetic-a", "mple-nat-raw", "at-base", False),
    ):
        rows = {"numbers": [0, 1], "sums": [10.0, 11.0], "tokens": [9, 11]}
        losses = [
            {
                "corpus": corpus,
                "system": name,
                "seed": 1,
                "splits": {
                    "valid": {"sentences": 2, "tokens": 20, "totals": totals, "by_sentence": rows}
                },
            }
            for name, totals in (
                (system, {"nll": 19.0, "length": 2.0}),
                (other, {"nll": 5.0}),
            )
        ]
        summary = {"entropies": {"valid": {"subwords": exact}}} if known else {}
        result = TotalCorrelation("demo", corpus, system, other, 1)
        made = with_measures(with_exact(estimate(*losses), summary))
        write_json(tmp_path / result.path, made)
    table = tables.make(configuration, PAPER, "1")
    headings = [tables.heading(column) for column in table.columns]
    rows = {row[1]: dict(zip(headings, row, strict=True)) for row in table.cells}
    assert "C: published" in headings and "exact C" in headings
    assert not any(heading.startswith("ex") and ":" in heading for heading in headings)
    exact_columns = "exact C", "exact C, padded", "excess of the NAT", "excess of the AT"
    for name in ("WMT14 En-De", "toy-ka-lu"):
        # 20 tokens in 2 sentences; bits
        nats = [(9.0 - 2.0) / 10, (11.0 - 2.0) / 10, (10.5 - 9.0) / 10, (2.5 - 2.0) / 10]
        assert [rows[name][column] for column in exact_columns] == [
            f"{value / math.log(2):.3f}†" for value in nats
        ]
    assert {rows["Synthetic A"][column] for column in exact_columns} == {"–"}
    assert {rows["WMT16 En-Ro"][column] for column in exact_columns} == {"not run"}
    assert rows["toy-ka-lu"]["C: published"] == "–"
    assert not any("the paper's known-law" in note for note in table.notes)


def test_one_seed_decides_whether_l_nat_is_below_c(tmp_path: Path) -> None:
    """Both are ratios of sums over the same sentences, which are resampled together."""
    numbers = np.random.default_rng(3)
    tokens = numbers.integers(4, 12, 400)
    hard = tokens * numbers.uniform(1.0, 3.0, 400)  # some sentences are hard for both
    names = "demo", "toy-ka-lu", "mple-nat-kd", 1, "", "valid"
    cells = [Cell(*names, "l_nat"), Cell(*names, "total_correlation", partner="at-base")]
    for cell, sums in zip(cells, (hard, hard + 0.1 * tokens), strict=True):
        rows = {"numbers": [*range(400)], "sums": sums.tolist(), "tokens": tokens.tolist()}
        bits = float(sums.sum() / tokens.sum())
        number = {"value": bits, "by_sentence": rows}
        write_numbers(tmp_path / cell.score_path, "valid", {cell.measure: number})
    found = difference(cells[:1], cells[1:], tmp_path)
    assert found is not None and found.value == pytest.approx(-0.1)
    # the difference is the same in each sentence, though these differ from each other
    assert found.interval is not None
    assert found.interval.low == pytest.approx(-0.1) == found.interval.high
    alone = difference(cells[:1], 2.0, tmp_path)
    assert alone is not None and alone.interval is not None
    assert alone.interval.high - alone.interval.low > 0.05
    # with another sentence left out, the sentences do not belong together
    of_pair, path = {"total_correlation": number}, tmp_path / cells[1].score_path
    rows["numbers"] = [*range(1, 401)]
    write_numbers(path, "valid", of_pair)
    unlike = difference(cells[:1], cells[1:], tmp_path)
    assert unlike is not None and unlike.interval is None
    rows["numbers"] = [*range(400)]
    write_numbers(path, "valid", of_pair)
    # of other sentences: as if C of another corpus were compared with it
    elsewhere = replace(cells[1], corpus="toy-re-na")
    (tmp_path / elsewhere.score_path).parent.mkdir(parents=True)
    shutil.copyfile(tmp_path / cells[1].score_path, tmp_path / elsewhere.score_path)
    apart = difference([elsewhere], cells[1:], tmp_path)
    assert apart is not None and apart.interval is not None and apart.value == 0
    assert apart.interval.low < -0.03 < 0.03 < apart.interval.high
    assert "paired" not in apart.interval.method

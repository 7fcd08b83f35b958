"""Conflicts between published numbers and settings are found in the data."""

import copy
from pathlib import Path
from typing import Any

import made_up_run
import pytest
from made_up_run import HEADER, PAPER, TASK
from repository import configured

from nat.papers import conflicts
from nat.papers.conflicts import ANEW, CLAIMED, COMPUTED, PRINTED, QUOTED, STATED, Conflict

OTHER = {"title": "Other", "tables": {"5": copy.deepcopy(PAPER["tables"]["1"])}}
DERIVED = {
    "title": "derived",
    "cells": {"measure": "sacrebleu", "split": "test", "task": TASK},
    "columns": [
        {"label": "NAT", "system": "nat-kd", "decoding": "one-pass"},
        {"label": "CMLM", "system": "cmlm-kd", "decoding": "mask-predict-1-lb5"},
        {"label": "gain", "derived": {"difference": ["CMLM", "NAT"]}},
    ],
    "rows": [{"label": "BLEU"}],
}
CLAIM = {
    "claim": "The CMLM is better.",
    "from": "abstract",
    "in": "table 1",
    "task": TASK,
    "compare": ["CMLM", "above", "NAT"],
}


def line(table: str, row: str, column: str, value: str, **facts: str) -> str:
    """A line of published values; `facts` are those of `quoted` lines that differ."""
    given = {"system": row, "variant": "", "task": TASK, "metric": "bleu", "note": "source=authors"}
    given |= facts
    use = "ours" if given["note"].startswith("source=authors") else "quoted"
    names = ",".join(given[key] for key in ("system", "variant", "task", "metric"))
    return f"{table},{row},{column},,{names},{value},BLEU,{given['note']},{use}\n"


def found(root: Path, papers: dict[str, Any], **values: str) -> list[Conflict]:
    """The conflicts of papers with these published values."""
    for paper, text in values.items():
        path = root / f"config/published/{paper}.csv"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(HEADER + text)
    configuration = made_up_run.configuration(root, papers, scale="paper", corpus=TASK)
    return conflicts.conflicts(configuration)


def one_column(paper: dict[str, Any], number: str, **changes: Any) -> dict[str, Any]:
    """A paper whose table has the column En-De and the row NAT alone."""
    paper = copy.deepcopy(paper)
    table = paper["tables"][number]
    table |= {"columns": table["columns"][:1], "rows": table["rows"][:1]} | changes
    return {"title": paper["title"], "tables": {number: table}}


@pytest.mark.parametrize(("second", "agree"), [("20.5", True), ("20.52", True), ("20.6", False)])
def test_one_result_in_two_papers(tmp_path: Path, second: str, agree: bool) -> None:
    papers = {"paper": one_column(PAPER, "1"), "other": one_column(OTHER, "5")}
    conflict = found(
        tmp_path,
        papers,
        paper=line("table1", "NAT", "En-De", "20.5"),
        other=line("table5", "NAT", "En-De", second),
    )
    assert [(each.kind, set(each.papers)) for each in conflict] == (
        [] if agree else [(ANEW, {"paper", "other"})]
    )
    if not agree:
        assert "20.5 in Paper table 1" in conflict[0].text
        assert "20.6 in Other table 5" in conflict[0].text


@pytest.mark.parametrize(
    ("first", "second", "agree"),
    [
        ({}, {}, False),
        ({"variant": "4-step"}, {"variant": "iterations=10"}, True),
        ({"variant": "4-step"}, {}, False),
        ({}, {"note": "source=cited; cite=Nobody 2000"}, True),
    ],
    ids=["the same", "other passes", "passes of one unsaid", "another source"],
)
def test_one_result_that_is_quoted_twice(
    tmp_path: Path, first: dict[str, str], second: dict[str, str], agree: bool
) -> None:
    cited = {"note": "source=cited; cite=Somebody et al. 2019"}
    texts = [
        line(f"table{number}", "NAT", "En-De", "20.5")
        + line(f"table{number}", "quoted", "En-De", value, **{"system": name} | cited | facts)
        for number, name, value, facts in (
            (1, "Flow-Seq", "21.0", first),
            (5, "Flowseq", "22.0", second),
        )
    ]
    papers = {"paper": one_column(PAPER, "1"), "other": one_column(OTHER, "5")}
    conflict = found(tmp_path, papers, paper=texts[0], other=texts[1])
    assert [each.kind for each in conflict] == ([] if agree else [QUOTED])


@pytest.mark.parametrize(
    ("gain", "agree"), [("4.5", True), ("45e-1", True), ("4.3", False), ("43e-1", False)]
)
def test_a_number_that_does_not_follow(tmp_path: Path, gain: str, agree: bool) -> None:
    paper = {"title": "Paper", "tables": {"1": DERIVED}}
    text = "".join(
        line("table1", "BLEU", column, value)
        for column, value in (("NAT", "20.52"), ("CMLM", "25.0"), ("gain", gain))
    )
    conflict = found(tmp_path, {"paper": paper}, paper=text)
    assert [each.kind for each in conflict] == ([] if agree else [COMPUTED])
    if not agree:
        assert f"{gain} is printed, 4.48 follows" in conflict[0].text


@pytest.mark.parametrize(("other", "agree"), [("20.6", True), ("20.5", True), ("20.3", False)])
def test_a_claim_against_the_numbers_of_its_paper(tmp_path: Path, other: str, agree: bool) -> None:
    rows = [
        {"label": "NAT", "system": "nat-kd", "decoding": "one-pass"},
        {"label": "CMLM", "system": "cmlm-kd", "decoding": "mask-predict-1-lb5"},
    ]
    paper = one_column(PAPER, "1", rows=rows) | {"claims": {"better": CLAIM}}
    text = line("table1", "NAT", "En-De", "20.5") + line("table1", "CMLM", "En-De", other)
    conflict = found(tmp_path, {"paper": paper}, paper=text)
    assert [each.kind for each in conflict] == ([] if agree else [CLAIMED])
    if not agree:
        assert "CMLM 20.3, NAT 20.5" in conflict[0].text


@pytest.mark.parametrize(
    ("check", "agree"),
    [
        ({"compare": ["CMLM", "above", 20], "margin": "10%"}, False),
        ({"compare": ["CMLM", "above", 20], "margin": "5%"}, True),
        ({"compare": ["CMLM", "above", 0], "margin": "5%"}, True),
        ({"trend": {"of": ["NAT", "CMLM", "DiMS"], "is": "rising"}, "margin": "1%"}, True),
        ({"trend": {"of": ["NAT", "CMLM", "DiMS"], "is": "rising"}, "margin": "7%"}, False),
        ({"largest": {"of": ["NAT", "CMLM", "DiMS"], "is": "DiMS"}, "margin": "2%"}, True),
    ],
)
def test_a_margin_may_be_a_share_of_any_right_side(
    tmp_path: Path, check: dict[str, Any], agree: bool
) -> None:
    systems = {"NAT": "nat-kd", "CMLM": "cmlm-kd", "DiMS": "dims-cmlm-kd"}
    rows = [
        {"label": label, "system": name, "decoding": "mask-predict-1-lb5"}
        for label, name in systems.items()
    ]
    rows[0]["decoding"] = "one-pass"
    claim = {key: value for key, value in CLAIM.items() if key != "compare"} | check
    paper = one_column(PAPER, "1", rows=rows) | {"claims": {"better": claim}}
    values = {"NAT": "20.5", "CMLM": "21.5", "DiMS": "22.5"}
    text = "".join(line("table1", row, "En-De", value) for row, value in values.items())
    conflict = found(tmp_path, {"paper": paper}, paper=text)
    assert [each.kind for each in conflict] == ([] if agree else [CLAIMED])


def test_conflicts_of_the_five_papers() -> None:
    """Those that a reader of the papers knows are found, each by its check."""
    every = conflicts.conflicts(configured("demo"))
    texts = {kind: [each.text for each in every if each.kind == kind] for kind in conflicts.KINDS}
    for kind, parts in (
        (PRINTED, ("27.48 in Fully-NAT table 2", "27.43 in Fully-NAT table 5")),
        (PRINTED, ("AT-20L", "28.79", "28.87")),
        (PRINTED, ("20.87", "20.98 in MPLE table 9")),
        (ANEW, ("27.30 in Hints table 1", "27.45 in HRT table 3")),
        (QUOTED, ("23.72 in Fully-NAT", "21.5 in DiMS", "25.31 in HRT")),
        (COMPUTED, ("HRT12-1, GPU, B=1", "4.6 is printed, 4.45 follows")),
        (COMPUTED, ("0.37 is printed, 0.338 follows",)),
        (CLAIMED, ("Imputer + DiMS 28.12, Imputer 28.19",)),
        (STATED, ("target.label_smoothing is 0.01 in the paper, 0.1 in its published code",)),
    ):
        assert any(all(part in text for part in parts) for text in texts[kind]), (kind, parts)
    assert not any("DisCo" in text for text in texts[QUOTED])  # with 4 passes, and about 4

"""Conflicts between published numbers and settings are found in the data."""

from pathlib import Path
from typing import Any

import made_up_run
import pytest
from made_up_run import HEADER, TASK
from repository import configured

from nat.papers import conflicts
from nat.papers.conflicts import ANEW, CLAIMED, COMPUTED, PRINTED, QUOTED, STATED, Conflict

SYSTEMS = {"NAT": "nat-kd", "CMLM": "cmlm-kd", "DiMS": "dims-cmlm-kd"}
HOW = {"NAT": "one-pass", "CMLM": "mask-predict-1-lb5", "DiMS": "mask-predict-1-lb5"}
LABELLED = [{"label": name, "system": SYSTEMS[name], "decoding": HOW[name]} for name in SYSTEMS]
CELLS = {"measure": "sacrebleu", "split": "test", "task": TASK}
GAIN = {"label": "gain", "derived": {"difference": ["CMLM", "NAT"]}}


def paper(title: str, rows: list[Any], columns: list[Any], number: str = "1", **more: Any) -> Any:
    """A paper with one table."""
    table = {"title": "a table", "cells": CELLS, "columns": columns, "rows": rows}
    return {"title": title, "tables": {number: table}, **more}


COLUMN = [{"label": "En-De", "task": TASK}]
TWO = {"paper": paper("Paper", LABELLED[:1], COLUMN)}
TWO["other"] = paper("Other", LABELLED[:1], COLUMN, "5")


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


@pytest.mark.parametrize(("second", "agree"), [("20.5", True), ("20.52", True), ("20.6", False)])
def test_one_result_in_two_papers(tmp_path: Path, second: str, agree: bool) -> None:
    first, other = line("table1", "NAT", "En-De", "20.5"), line("table5", "NAT", "En-De", second)
    conflict = found(tmp_path, TWO, paper=first, other=other)
    assert [(each.kind, set(each.papers)) for each in conflict] == (
        [] if agree else [(ANEW, {"paper", "other"})]
    )
    assert agree or "20.5 in Paper table 1; 20.6 in Other table 5" in conflict[0].text


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
    conflict = found(tmp_path, TWO, paper=texts[0], other=texts[1])
    assert [each.kind for each in conflict] == ([] if agree else [QUOTED])


@pytest.mark.parametrize(
    ("gain", "agree"), [("4.5", True), ("45e-1", True), ("4.3", False), ("43e-1", False)]
)
def test_a_number_that_does_not_follow(tmp_path: Path, gain: str, agree: bool) -> None:
    derived = paper("Paper", [{"label": "BLEU"}], [*LABELLED[:2], GAIN])
    text = "".join(
        line("table1", "BLEU", column, value)
        for column, value in (("NAT", "20.52"), ("CMLM", "25.0"), ("gain", gain))
    )
    conflict = found(tmp_path, {"paper": derived}, paper=text)
    assert [each.kind for each in conflict] == ([] if agree else [COMPUTED])
    assert agree or f"{gain} is printed, 4.48 follows" in conflict[0].text


@pytest.mark.parametrize(
    ("check", "agree"),
    [
        ({"compare": "CMLM > NAT"}, True),
        ({"compare": "CMLM > NAT + 1.05"}, True),
        ({"compare": "CMLM > NAT + 1.2"}, False),
        ({"compare": "NAT > CMLM"}, False),
        ({"compare": "CMLM > 20 + 10%"}, False),
        ({"compare": "CMLM > 20 + 5%"}, True),
        ({"compare": "CMLM > 0 + 5%"}, True),
        ({"trend": {"of": ["NAT", "CMLM", "DiMS"], "is": "rising"}, "margin": 0.2}, True),
        ({"trend": {"of": ["NAT", "CMLM", "DiMS"], "is": "rising"}, "margin": 1.4}, False),
        ({"largest": {"of": ["NAT", "CMLM", "DiMS"], "is": "DiMS"}, "margin": 0.4}, True),
    ],
)
def test_a_claim_against_the_numbers_of_its_paper(
    tmp_path: Path, check: dict[str, Any], agree: bool
) -> None:
    claim = {"claim": "One is better.", "from": "abstract", "in": "table 1", "task": TASK, **check}
    claimed = paper("Paper", LABELLED, COLUMN, claims={"better": claim})
    values = {"NAT": "20.5", "CMLM": "21.5", "DiMS": "22.5"}
    text = "".join(line("table1", row, "En-De", value) for row, value in values.items())
    conflict = found(tmp_path, {"paper": claimed}, paper=text)
    assert [each.kind for each in conflict] == ([] if agree else [CLAIMED])
    assert agree or "CMLM 21.5" in conflict[0].text


def test_a_paper_whose_tables_print_nothing_has_no_conflicts(tmp_path: Path) -> None:
    assert found(tmp_path, {"paper": {"title": "Paper"}}) == []
    assert found(tmp_path, {"paper": {"title": "Paper"}}, paper="") == []


def test_conflicts_of_the_five_papers() -> None:
    """Those that a reader of the papers knows are found, each by its check."""
    every = conflicts.conflicts(configured("demo"))
    texts = {
        kind: [each.text for each in every if each.kind == kind]
        for kind in {each.kind for each in every}
    }
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

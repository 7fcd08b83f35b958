"""Tables of texts that analyses found."""

from pathlib import Path
from typing import Any

import made_up_run
import pytest
from made_up_run import CORPUS, TASK

from nat.artifacts import Analysis
from nat.errors import UserError
from nat.files import write_json
from nat.papers import reports
from nat.tables import tables

ROWS: list[dict[str, Any]] = [
    {"system": "sat-mixed", "label": "SAT", "key": "order.{what}", "with": {"what": "text"}},
    {"quoted": "RecoverSAT"},
    {"system": "hrt", "label": "HRT", "key": "order.text"},
    {"system": "hrt", "label": "tokens", "key": "order.tokens", "ours_only": True},
]
PUBLISHED = f"""{made_up_run.HEADER}table1,SAT,text,,SAT,,all,order,"a, b",,source=authors,ours
table1,RecoverSAT,text,,,,all,order,"a, c",,source=authors,quoted
table1,HRT,text,,HRT,,all,order,a,,source=authors,ours
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    made_up_run.publish(tmp_path, PUBLISHED)
    order = {"text": "b → d ⇒ a, c", "tokens": ["x", "y@@", "z"]}
    path = tmp_path / Analysis("demo", CORPUS, "hrt", 1, "shown_tokens").path
    write_json(path, {"measures": {}, "splits": {"valid": {"order": order}}})
    return tmp_path


def configuration(root: Path, rows: list[dict[str, Any]]) -> Any:
    cells = {"measure": "shown_tokens", "task": TASK, "split": "valid"}
    table = {"title": "t", "kind": "texts", "cells": cells, "rows": rows}
    return made_up_run.configuration(root, {"paper": {"title": "P", "tables": {"1": table}}})


def test_texts_stand_beside_those_of_the_paper(root: Path) -> None:
    plain = configuration(root, ROWS)
    made = reports.make_table(plain, "paper", "1")
    assert made.columns[0] == ("system", "")  # no row has a group
    assert made.cells == [
        ["SAT", "not run", "a, b"],
        ["RecoverSAT", "–", "a, c"],
        ["HRT", "b → d ⇒ a, c", "a"],
        ["tokens", "x y@@ z", "–"],
    ]
    assert [each.path for each in reports.files(plain, ("paper", "table", "1"))] == [
        Analysis("demo", CORPUS, system, 1, "shown_tokens").path for system in ("sat-mixed", "hrt")
    ]
    tables.write(made, root / "table_1.csv")
    again = reports.read_table(plain, "paper", "1", root / "table_1.csv")
    assert again.cells == made.cells
    assert r"$\rightarrow$ d $\Rightarrow$" in (root / "table_1.tex").read_text()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"key": "order.txt"},
            "^config/papers/paper.yaml: tables.1: .* has no 'order.txt' of the split valid; "
            "did you mean 'text'",
        ),
        ({"key": "order"}, "'order' is no text but has parts"),
        ({"label": "HRN"}, "did you mean 'HRN'|no row 'HRT'"),
        ({"key": "{what}"}, "needs the variable 'what'"),
    ],
)
def test_errors_name_what_is_missing(root: Path, change: dict[str, Any], message: str) -> None:
    rows = [*ROWS[:2], {**ROWS[2], **change}, ROWS[3]]
    with pytest.raises(UserError, match=message):
        reports.make_table(configuration(root, rows), "paper", "1")


def test_a_quoted_row_is_published(root: Path) -> None:
    rows = [ROWS[0], {"quoted": "RecoverSATT"}, *ROWS[2:]]
    with pytest.raises(UserError, match="'RecoverSATT'; did you mean 'RecoverSAT'"):
        reports.make_table(configuration(root, rows), "paper", "1")

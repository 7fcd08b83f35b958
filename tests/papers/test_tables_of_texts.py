"""Tables of texts that analyses found."""

from pathlib import Path
from typing import Any

import pytest

import tests.made_up_run as made_up_run
from nat.artifacts import Analysis
from nat.papers import reports
from tests.made_up_run import CORPUS, TASK, write_numbers
from tests.messages import told

ROWS: list[dict[str, Any]] = [
    {"system": "sat-mixed", "label": "SAT", "key": "order.{what}", "with": {"what": "text"}},
    {"quoted": ["RecoverSAT"]},
    {"system": "hrt", "label": "HRT", "key": "order.text"},
    {"system": "hrt", "label": "tokens", "key": "order.tokens", "ours_only": True},
    {"system": "hrt", "label": "share", "key": "measures.shown_tokens.value", "ours_only": True},
]
PUBLISHED = f"""{made_up_run.HEADER}table1,SAT,text,,SAT,,all,order,"a, b",,source=authors,ours
table1,RecoverSAT,text,,,,all,order,"a, c",,source=authors,quoted
table1,HRT,text,,HRT,,all,order,a,,source=authors,ours
"""


def path_of(system: str) -> str:
    return Analysis("demo", CORPUS, system, 1, "shown_tokens").path


@pytest.fixture
def root(tmp_path: Path) -> Path:
    made_up_run.publish(tmp_path, PUBLISHED)
    order = {"text": "b → d ⇒ a, c", "tokens": ["x", "y@@", "z"]}
    splits = {"valid": {"order": order}}
    write_numbers(tmp_path / path_of("hrt"), "valid", {"shown_tokens": 12.34}, splits=splits)
    return tmp_path


def configuration(root: Path, *rows: Any) -> Any:
    cells = {"measure": "shown_tokens", "task": TASK, "split": "valid"}
    described = {"title": "t", "kind": "texts", "cells": cells, "rows": [*rows]}
    return made_up_run.paper(root, tables={"1": described})


def test_texts_stand_beside_those_of_the_paper(root: Path) -> None:
    plain = configuration(root, *ROWS)
    made = made_up_run.make_table(plain, "paper", "1")
    columns = [("system", ""), ("text", "ours"), ("text", "published")]
    assert made.columns == columns  # no groups
    assert made.rows == [
        ["SAT", "not run", "a, b"],
        ["RecoverSAT", "–", "a, c"],
        ["HRT", "b → d ⇒ a, c†", "a"],
        ["tokens", "x y@@ z†", "–"],
        ["share", "12.3†", "–"],
    ]
    files = [each.path for each in reports.files(plain, ("paper", "table", "1"))]
    assert files == [path_of("sat-mixed"), path_of("hrt")]


def test_a_text_that_an_analysis_has_not(root: Path) -> None:
    for key, names in {
        "order.txt": [path_of("hrt"), "order.txt", "valid", "text"],
        "order": ["'order'"],
        "order.{what}": ["'what'"],
    }.items():
        plain = configuration(root, *ROWS[:2], {**ROWS[2], "key": key})
        with told("config/papers/paper.yaml", "tables.1", *names):
            made_up_run.make_table(plain, "paper", "1")

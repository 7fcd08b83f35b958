"""What a file of published values may not say; where values stand is stored in `tests/golden`."""

import copy
from pathlib import Path
from typing import Any

import pytest

import tests.made_up_run as made_up_run
from nat.papers import published
from nat.papers.cells import Cell
from tests.made_up_run import HEADER, PAPER, PUBLISHED, TASK, report
from tests.messages import told

FILE, ROWS = "config/published/paper.csv", PAPER["tables"]["1"]["rows"]


def resolved(root: Path, text: str = PUBLISHED, **changes: Any) -> list[Cell]:
    made_up_run.publish(root, text)
    paper = copy.deepcopy(PAPER)
    paper["tables"]["1"] |= changes
    return report(made_up_run.configuration(root, {"paper": paper}), "paper", "table 1")


@pytest.mark.parametrize(
    ("old", "new", "names"),
    [
        ("table1,NAT", "table1,NATT", ["line 4", "'NATT'", "'NAT'"]),
        ("table1,NAT", "table9,NAT", ["line 4", "table9"]),
        ("NAT,En-De", "NAT,En-Fr", ["line 4", "En-Fr", "En-De"]),
        ("authors,ours", "authors,quoted", ["line 4", "'NAT'", "ours"]),
        ("table1,NAT,En-De", "table1,,", ["line 4", "'row'"]),
        (",20.5,", ',"27,3",', ["line 4", "value", "27,3"]),
        ("quoted,De-En", "quoted,En-De", ["line 3", "line 2", "'quoted'", "En-De"]),
        ("row_group", "rowgroup", ["line 1", "row_group"]),
        ("\ntable1,NAT", "\n\ntable1,NATT", ["line 5", "'NATT'"]),  # a blank line is skipped
    ],
)
def test_mistakes_are_named_by_their_line(
    tmp_path: Path, old: str, new: str, names: list[str]
) -> None:
    assert old in PUBLISHED
    with told(FILE, *names):
        resolved(tmp_path, PUBLISHED.replace(old, new, 1))


def test_rows_and_columns_of_ours_need_a_partner(tmp_path: Path) -> None:
    row = {"label": "NAT 2", "system": "nat-raw", "decoding": "one-pass"}
    with told(
        "config/papers/paper.yaml", "tables.1", "rows", FILE, "'NAT 2'", "ours_only", "'NAT'"
    ):
        resolved(tmp_path, rows=[*ROWS, row])
    resolved(tmp_path, rows=[*ROWS, {**row, "ours_only": True}])
    with told("tables.1", "rows", FILE, "'NAT'", "ours_only"):
        resolved(tmp_path, rows=[{**ROWS[0], "ours_only": True}, ROWS[1]])
    columns = [*PAPER["tables"]["1"]["columns"], {"label": "chrF", "task": TASK, "measure": "chrf"}]
    with told("tables.1", "columns", FILE, "'chrF'", "ours_only"):
        resolved(tmp_path, columns=columns)


@pytest.mark.parametrize("content", [b'table1,"a"b\n', b"\xff\n", None])
def test_a_file_that_is_no_csv(tmp_path: Path, content: bytes | None) -> None:
    path = made_up_run.publish(tmp_path)
    if content is None:
        path.unlink()
        path.mkdir()
    else:
        path.write_bytes(HEADER.encode() + content)
    with told(FILE):
        published.read(tmp_path, "paper", ["1"])

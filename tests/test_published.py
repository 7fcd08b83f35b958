"""Published values and their places in tables."""

import copy
from pathlib import Path
from typing import Any

import made_up_run
import pytest
from made_up_run import HEADER, PAPER, PUBLISHED, REPOSITORY

from nat.cells.entry import Entry
from nat.cells.paper import entries
from nat.errors import UserError
from nat.papers import reports
from nat.published import published
from nat.tables import tables

TABLE = ("paper", "table", "1")


def resolved(root: Path, text: str = PUBLISHED, **changes: Any) -> list[Entry]:
    made_up_run.publish(root, text)
    paper = copy.deepcopy(PAPER)
    paper["tables"]["1"] |= changes
    return entries(made_up_run.configuration(root, {"paper": paper}), *TABLE)


def test_values_stand_at_their_places_with_their_source(tmp_path: Path) -> None:
    found = {(each.row, each.column): each.published for each in resolved(tmp_path)}
    ours = found["NAT", "En-De"]
    assert ours is not None and ours.value == 20.5 and ours.own
    assert ours.source == "config/published/paper.csv row 4: table1; source=authors"
    quoted = found["quoted", "En-De"]
    assert quoted is not None and quoted.value == 25.2 and not quoted.own
    assert found["NAT", "De-En"] is None and found["DiMS", "En-De"] is None


def test_quoted_rows_stand_behind_those_that_they_follow(tmp_path: Path) -> None:
    last = "table1,last,En-De,,X,,,bleu,1.0,BLEU,source=cited,quoted\n"
    rows = [each.row for each in resolved(tmp_path, PUBLISHED + last)[::2]]
    assert rows == ["quoted", "NAT", "last", "DiMS"]
    placed = [*PAPER["tables"]["1"]["rows"], {"quoted": ["quoted"], "group": "g"}]
    found = resolved(tmp_path, PUBLISHED + last, rows=placed)
    assert [(each.row, each.group) for each in found[::2]][-1] == ("quoted", "g")


def test_groups_are_the_papers_or_ours(tmp_path: Path) -> None:
    text = PUBLISHED.replace("En-De,,NAT", "En-De,printed,NAT")
    group = {each.row: each.group for each in resolved(tmp_path, text)}
    assert group["NAT"] == "printed"
    found = resolved(tmp_path, text, groups={"printed": "ours"})
    assert {each.row: each.group for each in found}["NAT"] == "ours"
    with pytest.raises(UserError, match=r"tables.1.groups: .*'printd'.* did you mean 'printed'"):
        resolved(tmp_path, text, groups={"printd": "ours"})


def test_what_is_no_number_is_shown_as_printed(tmp_path: Path) -> None:
    path = made_up_run.publish(tmp_path, PUBLISHED.replace("20.5", "N/A").replace("25.2", "≈ N/5"))
    assert path.exists()
    plain = made_up_run.configuration(tmp_path, {"paper": copy.deepcopy(PAPER)})
    table = tables.make(plain, "paper", "1")
    shown = [cell for row in table.cells for cell in row]
    assert "N/A" in shown and "≈ N/5" in shown and "29.8" in shown
    assert {record["difference"] for record in table.records} == {None}
    tables.write(table, tmp_path / "table_1.csv")
    again = reports.read_table(plain, "paper", "1", tmp_path / "table_1.csv")
    assert again.cells == table.cells


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("table1,NAT", "table1,NATT", r"paper.csv line 4: .*no row 'NATT'; did you mean 'NAT'"),
        ("table1,NAT", "table9,NAT", r"paper.csv line 4: .*no such table 'table9'"),
        ("NAT,En-De", "NAT,En-Fr", r"paper.csv line 4: .*no column 'En-Fr'; did you mean 'En-De'"),
        ("authors,ours", "authors,quoted", r"paper.csv line 4: row 'NAT' .* set 'use' to ours"),
        ("authors,ours", "authors,our", r"paper.csv line 4: .*'our', expected one of ours"),
        ("table1,NAT,En-De", "table1,,", r"paper.csv line 4: column 'row'"),
        ("text,,,", "text,a,b,", r"paper.csv line 5: column 'row'"),
        (",20.5,", ",,", r"paper.csv line 4: column 'value' is empty"),
        ("source=authors,ours", "a, b,ours", r"paper.csv line 4: found 13 values"),
        ("BLEU,source=authors,ours\n", "BLEU\n", r"paper.csv line 4: found 10 values"),
        ("quoted,De-En", "quoted,En-De", r"paper.csv line 3: .*is already in line 2"),
        ("table,row,", "table\trow,", r"paper.csv line 1: .*tabs"),
        ("row_group", "rowgroup", r"paper.csv line 1: .*'rowgroup'; did you mean 'row_group'"),
        (",use\n", "\n", r"paper.csv line 1: the columns must be"),
    ],
)
def test_errors_name_the_line(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert old in PUBLISHED
    with pytest.raises(UserError, match=message):
        resolved(tmp_path, PUBLISHED.replace(old, new, 1))


@pytest.mark.parametrize("value", ['"27,3"', "27.3 ± 0.2"])
def test_numbers_that_would_not_be_compared_are_refused(tmp_path: Path, value: str) -> None:
    with pytest.raises(UserError, match="paper.csv line 4: column 'value'.*write it like 27.3"):
        resolved(tmp_path, PUBLISHED.replace("20.5", value))


def test_blank_lines_are_skipped(tmp_path: Path) -> None:
    found = resolved(tmp_path, PUBLISHED.replace("table1,NAT", "\ntable1,NAT") + "\n")
    (ours,) = [each.published for each in found if each.published and each.row == "NAT"]
    assert "row 5" in ours.source


def test_rows_and_columns_of_ours_need_a_partner(tmp_path: Path) -> None:
    row = {"label": "NAT 2", "system": "nat-raw", "decoding": "one-pass"}
    rows = [*PAPER["tables"]["1"]["rows"], row]
    with pytest.raises(UserError, match=r"tables.1.rows: .*no value for 'NAT 2'.*'NAT'"):
        resolved(tmp_path, rows=rows)
    resolved(tmp_path, rows=[*rows[:-1], {**row, "ours_only": True}])
    column = {"label": "chrF", "task": "wmt14-en-de", "measure": "chrf"}
    columns = [*PAPER["tables"]["1"]["columns"], column]
    with pytest.raises(UserError, match=r"tables.1.columns: .*no value for 'chrF'"):
        resolved(tmp_path, columns=columns)
    placed = [*PAPER["tables"]["1"]["rows"], {"quoted": ["quotd"]}]
    with pytest.raises(UserError, match="no quoted row 'quotd'; did you mean 'quoted'"):
        resolved(tmp_path, rows=placed)


def test_a_file_that_is_no_csv(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"paper.csv line \d: not valid CSV"):
        resolved(tmp_path, HEADER + 'table1,"a"b\n')
    made_up_run.publish(tmp_path).write_bytes(HEADER.encode() + b"\xff\n")
    with pytest.raises(UserError, match="paper.csv: not valid UTF-8"):
        published.read(tmp_path, "paper")


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    path = made_up_run.publish(tmp_path)
    path.unlink()
    path.mkdir()
    with pytest.raises(UserError, match="^config/published/paper.csv cannot be read .*move"):
        published.read(tmp_path, "paper")


def test_figures_quote_the_papers_own_values_of_the_same_cells(tmp_path: Path) -> None:
    made_up_run.publish(tmp_path)
    paper = copy.deepcopy(PAPER)
    series = {"label": "NAT", "system": "nat-kd", "points": [{"x": 1, "decoding": "one-pass"}]}
    paper["figures"]["2"] |= {"quotes": [1]}
    paper["figures"]["2"]["series"].append(series)
    found = entries(made_up_run.configuration(tmp_path, {"paper": paper}), "paper", "figure", "2")
    values = {each.row: each.published and each.published.value for each in found}
    assert values == {"CMLM": None, "NAT": 20.5}


def test_published_stands_in_no_paper_file() -> None:
    files = list((REPOSITORY / "config/papers").glob("*.yaml"))
    assert files
    for path in files:
        assert "published:" not in path.read_text()

"""A table as CSV, Markdown, LaTeX and on the screen."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from messages import told
from rich.console import Console

from nat.papers import table_formats
from nat.papers.table_formats import WIDEST, TableText

RECORD = {"row": "A", "column": "100%", "ours": 27.5, "spread": None, "published": "N/A"}
TABLE = TableText(
    title="Paper, table 1: A_b",
    origin="scale demo",
    records=[RECORD],
    columns=[("", ""), ("system", ""), ("100%", "ours"), ("100%", "published")],
    rows=[
        ["group", "A&B_c|d", "−27.50 ± 1.20*† [26.1, 28.3]", "<27.5²"],
        ["", "α → Δ", "2.00‡", "–"],
    ],
    notes=["† a note", "¹ another"],
    signatures=["sacreBLEU: nrefs:1|case:mixed"],
)


@pytest.mark.parametrize(
    ("value", "text"), [(1.234, "+1.23"), (-1.234, "−1.23"), (0.001, "0.00"), (-0.001, "0.00")]
)
def test_signs(value: float, text: str) -> None:
    assert table_formats.signed(value, 2) == text


def test_records_survive_the_csv(tmp_path: Path) -> None:
    csv = tmp_path / "table_1.csv"
    table_formats.write(TABLE, csv)
    (found,) = table_formats.read_records(csv)
    assert found == RECORD
    (words,) = table_formats.read_records(csv, numbers=False)
    assert words["ours"] == "27.5"
    assert csv.with_suffix(".md").exists() and csv.with_suffix(".tex").exists()


@pytest.mark.parametrize("content", [None, "", "row,ours\nA,many\n"])
def test_tables_of_another_version_are_refused(tmp_path: Path, content: Any) -> None:
    csv = tmp_path / "table_1.csv"
    if content is not None:
        csv.write_text(content)
    with told(csv):
        table_formats.read_records(csv)


def test_markdown_shows_texts_as_they_are() -> None:
    found = table_formats.markdown(TABLE)
    assert found.startswith(r"**Paper, table 1: A\_b** (scale demo)")
    assert r"A&B\_c\|d" in found and r"1.20\*†" in found and r"\<27.5²" in found
    body = [line for line in found.splitlines() if line.startswith("|")]
    assert len(body) == 4 and body[1].split("|")[3].strip().endswith(":")
    assert found.endswith("- † a note\n- ¹ another\n- sacreBLEU: nrefs:1\\|case:mixed\n")


def test_latex_is_ascii() -> None:
    found = table_formats.latex(TABLE)
    assert found.isascii() and found.count("{") == found.count("}")
    assert found.count(r"\begin") == found.count(r"\end") == 2
    for text in (
        *(r"A\&B\_c|d", r"100\%", r"$-$27.50 $\pm$ 1.20$^*$$^\dagger$ {[}26.1", r"$<$27.5$^2$"),
        *(r"$\alpha$ $\rightarrow$ $\Delta$", r"2.00$^\ddagger$", "--", r"nrefs:1|\allowbreak{}"),
    ):
        assert text in found


def test_a_wide_table_is_broken_in_latex() -> None:
    headings = [f"column {number}" for number in range(WIDEST + 1)]
    short = ["short", "1.00", *["–"] * WIDEST]
    columns = [("system", ""), *((heading, "") for heading in headings)]
    rows = [short, ["long", *["2.00"] * len(headings)]]
    found = table_formats.latex(replace(TABLE, columns=columns, rows=rows))
    assert found.count(r"\begin{tabular}") == found.count(r"\resizebox{\ifdim") == 2
    assert (found.count("short"), found.count("long")) == (1, 2)
    assert [found.count(f" {heading} ") for heading in headings] == [1] * len(headings)


@pytest.mark.parametrize("width", [40, 80, 200])
@pytest.mark.parametrize("prose", [False, True])
def test_a_narrow_terminal_loses_nothing(width: int, prose: bool) -> None:
    console = Console(width=width, record=True)
    table_formats.show(replace(TABLE, prose=prose), console)
    found = console.export_text()
    headings = [] if prose else ["ours", "published"]
    for text in [word for row in TABLE.rows for cell in row for word in cell.split()] + headings:
        assert text in found

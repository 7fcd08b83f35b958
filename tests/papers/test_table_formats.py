"""A table as CSV, Markdown and LaTeX."""

import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

import tests.made_up_run as made_up_run
from nat.configuration import read
from nat.papers import table_formats
from nat.papers.table_formats import TableText
from tests.repository import ROOT

RECORD = {"row": "A, B", "column": "100%", "ours": 27.5, "spread": None, "published": "N/A"}
TABLE = TableText(
    title="Paper, table 1: A_b",
    origin="scale demo",
    records=[RECORD],
    columns=[("", ""), ("system", ""), ("100%", "ours"), ("100%", "published")],
    rows=[
        ["group", "A&B_c|d", "−27.50 ± 1.20*† [26.1, 28.3]", "<27.5²"],
        ["", "α → Δ", "2.00‡", "–"],
    ],
    notes=["† a note", "¹ another", "sacreBLEU: nrefs:1|case:mixed"],
)


@pytest.mark.parametrize(
    ("value", "text"), [(1.234, "+1.23"), (-1.234, "−1.23"), (0.001, "0.00"), (-0.001, "0.00")]
)
def test_signs(value: float, text: str) -> None:
    assert table_formats.signed(value, 2) == text


def test_markdown_shows_texts_as_they_are() -> None:
    found = table_formats.markdown(TABLE)
    assert found.startswith(r"**Paper, table 1: A\_b** (scale demo)")
    assert r"A&B\_c\|d" in found and r"1.20\*†" in found and r"\<27.5²" in found
    body = [line for line in found.splitlines() if line.startswith("|")]
    assert len(body) == 4 and body[1].split("|")[3].strip().endswith(":")
    assert found.endswith("- † a note\n- ¹ another\n- sacreBLEU: nrefs:1\\|case:mixed\n")


@pytest.mark.parametrize(
    "text",
    ["[x](javascript:alert(1))", "![x](https://example.org/a.png)", "[y]: javascript:x", "[y][y]"],
)
def test_no_text_becomes_a_link(text: str) -> None:
    rows = [[text, *TABLE.rows[0][1:]]]
    found = table_formats.markdown(
        replace(TABLE, title=text, rows=rows, notes=[text, "[y]: data:x"])
    )
    blocks = MarkdownIt("commonmark").enable("table").parse(found)
    shown = [each for block in blocks for each in block.children or ()]
    assert not {"link_open", "image"} & {each.type for each in shown}
    assert "".join(each.content for each in shown).count(text) == 3


def test_latex_is_ascii() -> None:
    found = table_formats.latex(TABLE)
    assert found.isascii() and found.count("{") == found.count("}")
    assert found.count(r"\begin") == found.count(r"\end") == 2
    for text in (
        *(r"A\&B\_c|d", r"100\%", r"$-$27.50 $\pm$ 1.20$^*$$^\dagger$ {[}26.1", r"$<$27.5$^2$"),
        *(r"$\alpha$ $\rightarrow$ $\Delta$", r"2.00$^\ddagger$", "--", r"nrefs:1|\allowbreak{}"),
    ):
        assert text in found


# Set by LaTeX in the columns of a paper

DOCUMENT = r"""\documentclass[twocolumn]{article}
\usepackage[T1]{fontenc}
\usepackage{booktabs,graphicx}
\begin{document}
%s
\end{document}
"""


@pytest.mark.parametrize("paper", read("demo", ROOT).files["papers"])
def test_all_tables_of_a_paper_fit_its_columns(tmp_path: Path, paper: str) -> None:
    found = read("demo", ROOT)
    inputs = []
    for number in found.paper(paper).tables:
        table = made_up_run.make_table(found, paper, number)
        table.notes.append("sacreBLEU: nrefs:1|bs:1000|seed:12345|case:mixed|eff:no|tok:13a")
        text = table_formats.latex(table)
        assert text.isascii()
        (tmp_path / f"{number}.tex").write_text(text)
        inputs.append(rf"\input{{{number}.tex}}\clearpage")
    if shutil.which("pdflatex") is None:
        pytest.skip("there is no LaTeX here (Debian: apt-get install texlive-latex-recommended)")
    (tmp_path / "all.tex").write_text(DOCUMENT % "\n".join(inputs))
    ended = subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "all.tex"],
        cwd=tmp_path,
        text=True,
        errors="replace",
        capture_output=True,
        timeout=300,
    )
    assert ended.returncode == 0, ended.stdout[-2000:]
    overfull = [line for line in ended.stdout.splitlines() if line.startswith(r"Overfull \hbox")]
    assert overfull == []

"""The tables of all papers in LaTeX, set by LaTeX in the columns of a paper."""

import shutil
import subprocess
from pathlib import Path

import pytest

import tests.made_up_run as made_up_run
from nat.configuration import read
from nat.papers import table_formats
from tests.made_up_run import REPOSITORY

DOCUMENT = r"""\documentclass[twocolumn]{article}
\usepackage[T1]{fontenc}
\usepackage{booktabs,graphicx}
\begin{document}
%s
\end{document}
"""


@pytest.mark.parametrize("paper", read("demo", REPOSITORY).papers)
def test_all_tables_of_a_paper_fit_its_columns(tmp_path: Path, paper: str) -> None:
    found = read("demo", REPOSITORY)
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

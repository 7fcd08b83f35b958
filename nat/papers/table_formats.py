"""A table as CSV, Markdown and LaTeX.

The CSV is long: one line a number, with everything that is known of it, down to the files that it
comes from. The others are for reading, and made from the same records.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from nat.files import atomic_path, atomic_write_text
from nat.papers.values import Record

OURS, PUBLISHED, DIFFERENCE = "ours", "published", "difference"
DAGGER, DOUBLE_DAGGER, STAR, NOTHING, MINUS = "†", "‡", "*", "–", "\N{MINUS SIGN}"
SUPERSCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹"
NO_WIDER = r"\ifdim\width>\linewidth\linewidth\else\width\fi"
"""The width of a table in LaTeX: its own, but at most that of a line."""


@dataclass(frozen=True)
class TableText:
    """A table that was filled, as it is read.

    Attributes:
        columns: pairs of a heading and `ours`, `published` or `difference`; the first are the
            group, if rows have any, and the label of a row.
        prose: whether the columns hold sentences, not numbers.
        behind: for each row the records of its numbers, None for what a paper prints.
    """

    title: str
    origin: str
    records: Sequence[Record]
    columns: list[tuple[str, str]]
    rows: list[list[str]]
    notes: list[str]
    prose: bool = False
    behind: Sequence[Sequence[Record | None]] = ()

    @property
    def labels(self) -> int:
        """Number of the columns with labels of rows: their group, if they have any, and name."""
        return 2 if self.columns[0][0] == "" else 1


def given(value: Any) -> bool:
    """Tell whether a number of a record is there: neither `None` nor not a number."""
    return value is not None and value == value


def signed(value: float, digits: int) -> str:
    """Write a difference with its sign; no sign before zero."""
    text = f"{value:+.{digits}f}"
    return text[1:] if float(text) == 0 else text.replace("-", MINUS)


def superscript(number: int) -> str:
    """Write a number as the mark of a footnote."""
    return "".join(SUPERSCRIPTS[int(digit)] for digit in str(number))


def write(table: TableText, csv: Path, *, typeset: bool = True) -> None:
    """Write `csv`, and Markdown and LaTeX beside it; each appears whole or not at all."""
    atomic_write_text(csv.with_suffix(".md"), markdown(table))
    if typeset:
        atomic_write_text(csv.with_suffix(".tex"), latex(table))
    with atomic_path(csv) as temporary:
        pd.DataFrame(table.records).to_csv(temporary, index=False, lineterminator="\n")


def heading(column: tuple[str, str]) -> str:
    """Write a column's heading on one line."""
    return ": ".join(filter(None, column))


def markdown(table: TableText) -> str:
    """Write the table in GitHub's Markdown, with its title above and its notes below."""
    side = "left" if table.prose else "right"
    align = ["left"] * table.labels + [side] * (len(table.columns) - table.labels)
    names = [escape_markdown(heading(column)) for column in table.columns]
    frame = pd.DataFrame(table.rows, columns=names).map(escape_markdown)
    options: Any = {"headers": names, "disable_numparse": True, "colalign": align}
    grid = frame.to_markdown(index=False, **options)
    notes = "".join(f"\n- {escape_markdown(note)}" for note in table.notes)
    head = f"**{escape_markdown(table.title)}** ({escape_markdown(table.origin)})"
    return f"{head}\n\n{grid}\n{notes}\n"


def escape_markdown(text: str) -> str:
    """Escape a text so that Markdown shows it as it is, inside a table too, and makes no link."""
    return re.sub(r"([\\|*_<]|\](?=[(\[:]))", r"\\\1", text)


def latex(table: TableText) -> str:
    """Write the table for LaTeX, in ASCII; needs the packages booktabs and graphicx.

    What is wider than a line is made as wide.
    """
    headings = [tuple(map(escape_latex, column)) for column in table.columns]
    frame = pd.DataFrame(table.rows, columns=pd.MultiIndex.from_tuples(headings)).map(escape_latex)
    if not any(part for _, part in headings):
        frame = frame.droplevel(1, axis="columns")
    others = len(table.columns) - table.labels
    column = f"p{{{0.7 / max(others, 1):.2f}\\linewidth}}" if table.prose else "r"
    grid = frame.style.hide(axis="index").to_latex(
        column_format="l" * table.labels + column * others, hrules=True, multicol_align="c"
    )
    notes = r" \\ ".join(map(escape_latex, table.notes))
    # signatures of sacreBLEU have no space to break a line at
    notes = notes.replace("|", r"|\allowbreak{}")
    return "\n".join(
        [
            r"\begin{table}[t]",
            r"\centering",
            rf"\caption{{{escape_latex(f'{table.title} ({table.origin}).')}}}",
            rf"\resizebox{{{NO_WIDER}}}{{!}}{{%",
            f"{grid}}}",
            "",
            r"\smallskip",
            rf"\parbox{{\linewidth}}{{\footnotesize\raggedright {notes}}}",
            r"\end{table}",
            "",
        ]
    )


LATEX: dict[str, str] = {
    "\\": r"\textbackslash{}",
    **{character: f"\\{character}" for character in "&%$#_{}"},
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": "$<$",
    ">": "$>$",
    "±": r"$\pm$",
    "≈": r"$\approx$",
    DAGGER: r"$^\dagger$",
    DOUBLE_DAGGER: r"$^\ddagger$",
    STAR: r"$^*$",
    NOTHING: "--",
    MINUS: "$-$",
    "→": r"$\rightarrow$",
    "⇒": r"$\Rightarrow$",
    "α": r"$\alpha$",
    "Δ": r"$\Delta$",
    **{digit: f"$^{value}$" for value, digit in enumerate(SUPERSCRIPTS)},
    # A bracket at the start of a row would be taken for the optional argument of the row before.
    "[": "{[}",
    "]": "{]}",
}


def escape_latex(text: str) -> str:
    """Replace what LaTeX would take for a command, and what is not ASCII."""
    return text.translate({ord(each): LATEX[each] for each in LATEX})

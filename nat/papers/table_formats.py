"""A table as CSV, Markdown, LaTeX and on the screen.

The CSV is long: one line a number, with everything that is known of it, down to the files that it
comes from. The others are for reading, and made from the same records.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

import pandas as pd
import rich.box
import rich.table
from rich.console import Console
from rich.text import Text

from nat.checksums import remedy
from nat.errors import UserError
from nat.files import atomic_path, atomic_write_text
from nat.papers.values import Record

OURS, PUBLISHED, DIFFERENCE = "ours", "published", "difference"
DAGGER, DOUBLE_DAGGER, STAR, NOTHING, MINUS = "†", "‡", "*", "–", "\N{MINUS SIGN}"
SUPERSCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹"
WIDEST = 14
"""Columns of numbers that stand beside each other at most in LaTeX."""
NO_WIDER = r"\ifdim\width>\linewidth\linewidth\else\width\fi"
"""The width of a table in LaTeX: its own, but at most that of a line."""
NUMBERS = (
    *("x", "ours", "spread", "low", "high", "published", "difference"),
    *("baseline_difference", "p_value", "not_decoded"),
    *("sentence", "teacher_bleu", "student_bleu", "gain"),
    *("detectable", "margin", "in_own_measure", "low_in_own_measure", "high_in_own_measure"),
)
"""Columns of CSVs that hold numbers; that of published values also what is printed without one."""


@dataclass(frozen=True)
class TableText:
    """A table that was filled, as it is read.

    Attributes:
        title: with the name of the paper.
        origin: scale and corpora of the numbers.
        records: one for each cell.
        columns: pairs of a heading and `ours`, `published` or `difference`; the first are the
            group, if rows have any, and the label of a row.
        rows: texts of each row.
        notes: below the table.
        signatures: sacreBLEU's, one for each measure.
        prose: whether the columns hold sentences, not numbers.
        names: the headings of the columns without the marks of footnotes.
    """

    title: str
    origin: str
    records: list[Record]
    columns: list[tuple[str, str]]
    rows: list[list[str]]
    notes: list[str]
    signatures: list[str]
    prose: bool = False
    names: tuple[str, ...] = ()

    @property
    def labels(self) -> int:
        """How many columns hold the labels of rows: their group, if they have any, and name."""
        return 2 if self.columns[0][0] == "" else 1


# Numbers as text


def given(value: Any) -> bool:
    """Tell whether a number of a record is there: neither `None` nor not a number."""
    return value is not None and value == value


def signed(value: float, digits: int) -> str:
    """Write a difference with its sign; no sign before zero."""
    text = f"{value:+.{digits}f}"
    return text[1:] if float(text) == 0 else text.replace("-", MINUS)


def p_value(value: float) -> str:
    """Write a p-value; one that rounds to zero is not zero."""
    return f"p = {value:.3f}" if value >= 0.001 else "p < 0.001"


def superscript(number: int) -> str:
    """Write a number as the mark of a footnote."""
    return "".join(SUPERSCRIPTS[int(digit)] for digit in str(number))


# Files


def write(table: TableText, csv: Path) -> None:
    """Write `csv`, and Markdown and LaTeX beside it; each appears whole or not at all."""
    atomic_write_text(csv.with_suffix(".md"), markdown(table))
    atomic_write_text(csv.with_suffix(".tex"), latex(table))
    write_records(table.records, csv)


def write_records(records: Sequence[Record], csv: Path) -> None:
    """Write records, as `read_records` reads them."""
    with atomic_path(csv) as temporary:
        pd.DataFrame(records).to_csv(temporary, index=False, lineterminator="\n")


def read_records(csv: Path, numbers: bool = True) -> list[Record]:
    """Read back records.

    Args:
        csv: with them.
        numbers: whether the columns `NUMBERS` hold numbers, not words as in tables of settings.

    Raises:
        UserError: if the file is missing or is not such a table.
    """
    if not csv.exists():
        raise UserError(f"{csv} does not exist; run the workflow first")
    with read_back(csv):
        frame = pd.read_csv(csv, dtype=str, keep_default_na=False)
        for name in frame.columns.intersection(list(NUMBERS)) if numbers else ():
            found = pd.to_numeric(frame[name], errors="coerce").astype(object)
            kept = found.notna() | (frame[name] == "")
            if name != PUBLISHED and not kept.all():
                raise ValueError(name)
            frame[name] = found.where(found.notna(), None).where(kept, frame[name])
    return [{str(key): value for key, value in row.items()} for row in frame.to_dict("records")]


@contextmanager
def read_back(csv: Path) -> Iterator[None]:
    """Guard what uses the records of a file, which may be incomplete or of another version.

    Raises:
        UserError: if something is missing in them, or is not what it should be.
    """
    try:
        yield
    except (LookupError, TypeError, ValueError) as error:
        raise UserError(f"{csv} is not a table of this version; {remedy(csv)}") from error


# Markdown


def heading(column: tuple[str, str]) -> str:
    """Write a column's heading on one line."""
    return ": ".join(part for part in column if part)


def markdown(table: TableText) -> str:
    """Write the table in GitHub's Markdown, with its title above and its notes below."""
    side = "left" if table.prose else "right"
    align = ["left"] * table.labels + [side] * (len(table.columns) - table.labels)
    headers = [escape_markdown(heading(column)) for column in table.columns]
    grid = markdown_grid(_map(table.rows, escape_markdown), headers, align)
    notes = "".join(f"\n- {escape_markdown(note)}" for note in table.notes + table.signatures)
    title, origin = escape_markdown(table.title), escape_markdown(table.origin)
    return f"**{title}** ({origin})\n\n{grid}\n{notes}\n"


def markdown_grid(
    rows: Sequence[Sequence[str]], headers: Sequence[str], align: Sequence[str]
) -> str:
    """Write rows of texts in GitHub's Markdown; `align` has left or right for each column."""
    found: str = pd.DataFrame(rows).to_markdown(
        index=False, headers=headers, disable_numparse=True, colalign=align
    )
    return found


def escape_markdown(text: str) -> str:
    """Escape a text so that Markdown shows it as it is, inside a table too."""
    for character in "\\|*_<":
        text = text.replace(character, f"\\{character}")
    return text


# LaTeX


def latex(table: TableText) -> str:
    """Write the table for LaTeX; needs the packages booktabs and graphicx.

    A table of many columns is broken into several below each other, and what is wider than a line
    is made as wide.
    """
    grids = "\n\\medskip\n\n".join(_latex_grid(table, columns) for columns in _blocks(table))
    caption = _escape_latex(f"{table.title} ({table.origin}).")
    text = f"\\begin{{table}}[t]\n\\centering\n\\caption{{{caption}}}\n{grids}"
    notes = r" \\ ".join(_escape_latex(note) for note in table.notes + table.signatures)
    if notes:
        # signatures of sacreBLEU have no space to break a line at
        notes = notes.replace("|", r"|\allowbreak{}")
        notes = f"\\footnotesize\\raggedright {notes}"
        text += f"\n\\smallskip\n\\parbox{{\\linewidth}}{{{notes}}}\n"
    return f"{text}\\end{{table}}\n"


def _blocks(table: TableText) -> list[list[int]]:
    """Numbers of the columns that stand beside each other; those of a heading stay together."""
    blocks: list[list[int]] = [[]]
    places = range(table.labels, len(table.columns))
    for _, same in groupby(places, key=lambda place: table.columns[place][0]):
        together = list(same)
        if blocks[-1] and len(blocks[-1]) + len(together) > WIDEST:
            blocks.append([])
        blocks[-1] += together
    return [[*range(table.labels), *block] for block in blocks]


def _latex_grid(table: TableText, places: Sequence[int]) -> str:
    """Some columns of a table as a tabular of LaTeX, with the rows that have something there."""
    labels, numbers = table.labels, len(places) - table.labels
    rows, group = [], ""
    for row in table.rows:
        group = row[0] or group
        shown = [row[place] for place in places]
        broken = len(places) < len(table.columns)
        if broken and all(text == NOTHING for text in shown[labels:]):
            continue  # its numbers are in another of the grids
        if labels > 1 and group:
            shown[0], group = group, ""
        rows.append(shown)
    frame = pd.DataFrame(_map(rows, _escape_latex), columns=range(len(places)))
    columns = [table.columns[place] for place in places]
    escaped = [(_escape_latex(column), _escape_latex(part)) for column, part in columns]
    frame.columns = (
        pd.MultiIndex.from_tuples(escaped)
        if any(part for _, part in columns)
        else pd.Index([name for name, _ in escaped])
    )
    share = 0.7 / max(len(table.columns) - labels, 1)
    column = f"p{{{share:.2f}\\linewidth}}" if table.prose else "r"
    grid = frame.style.hide(axis="index").to_latex(
        column_format="l" * labels + column * numbers, hrules=True, multicol_align="c"
    )
    return f"\\resizebox{{{NO_WIDER}}}{{!}}{{%\n{grid}}}\n"


LATEX = {
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


def _escape_latex(text: str) -> str:
    return "".join(LATEX.get(character, character) for character in text)


def _map(rows: Sequence[Sequence[str]], escape: Callable[[str], str]) -> list[list[str]]:
    return [[escape(text) for text in row] for row in rows]


# On the screen


def show(table: TableText, console: Console) -> None:
    """Print the table; where the terminal is too narrow, lines wrap rather than lose a column."""
    console.print(Text(table.title, style="bold"))
    console.print(Text(table.origin))
    if table.prose:
        _show_prose(table, console)
    else:
        _show_grid(table, console)
    for note in table.notes:
        console.print(Text(note, style="dim"))


def _show_prose(table: TableText, console: Console) -> None:
    labels = table.labels
    for row in table.rows:
        if labels > 1 and row[0]:
            console.print()
            console.print(Text(row[0], style="bold"))
        for sentence in row[labels:]:
            label = Text(f"{row[labels - 1]}: ", style="cyan")
            console.print(label.append(sentence, style="default"))
    console.print()


def _show_grid(table: TableText, console: Console) -> None:
    # Groups stand above their rows, so that 80 columns hold a wide table.
    drawn = rich.table.Table(box=rich.box.SIMPLE_HEAD, padding=0, pad_edge=False)
    labels = table.labels
    drawn.add_column("", no_wrap=True)
    for position, column in enumerate(table.columns[labels:], labels):
        texts = [*heading(column).split(), *(row[position] for row in table.rows)]
        drawn.add_column(heading(column), justify="right", width=max(map(len, texts)))
    for row in table.rows:
        if labels > 1 and row[0]:
            drawn.add_row(Text(row[0], style="bold"))
        drawn.add_row(Text("  " * (labels - 1) + row[labels - 1]), *map(Text, row[labels:]))
    needed = console.measure(drawn, options=console.options.update(width=1000)).maximum
    width, console.width = console.width, max(console.width, needed)
    console.print(drawn, crop=False)
    console.width = width

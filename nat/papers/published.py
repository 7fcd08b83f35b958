"""Published values: `config/published/PAPER.csv`, joined by key with the tables of a paper.

docs/papers.md describes the columns. A line that a table is to show without a partner there is an
error, and so is a row or column of a printed table that has no line.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from nat.errors import UserError
from nat.options import hint

COLUMNS = (
    *("table", "row", "column", "row_group", "system", "variant", "task", "metric"),
    *("value", "unit", "note", "use"),
)
OURS, QUOTED, NONE = USES = ("ours", "quoted", "none")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?")
_WRITTEN_OTHERWISE = re.compile(r"[+-]?\d+(,\d+|[.,]?\d*\s*(±|\+/-|\+-).*)|")
"""Numbers that would be taken for words: with a decimal comma, or with a spread; and nothing."""


class Published(NamedTuple):
    """A printed value: the columns of the file that are read, and where it stands there."""

    table: str
    row: str
    column: str
    group: str
    printed: str
    note: str
    use: str
    file: str
    line: int

    @property
    def published(self) -> float | str:
        """The number that is printed, or the words where it is none."""
        return float(self.printed) if _NUMBER.fullmatch(self.printed) else self.printed

    @property
    def columns(self) -> list[str]:
        """Labels of our columns; several may have one printed value."""
        return self.column.split(" | ") if self.column else []

    @property
    def origin(self) -> str:
        """Its place in the file, for a reader."""
        return f"{self.file} row {self.line}: {self.table}; {self.note}"

    def refuse(self, text: str) -> UserError:
        """The error of this line."""
        return UserError(f"{self.file} line {self.line}: {text}")


def is_own(origin: str) -> bool:
    """Tell whether a printed value is from the paper's own runs, not quoted from another paper."""
    return "; source=authors" in origin


def file_of(paper: str) -> str:
    """Path of the published values of a paper; files of tables that are not a paper have none."""
    return f"config/published/{paper}.csv"


def read(root: Path, paper: str, tables: Collection[str]) -> dict[str, list[Published]]:
    """Read what a paper prints in each of its tables; a malformed line is a UserError."""
    file, of_table = file_of(paper), dict[str, list[Published]]()
    rows = rows_of(root / file, file, COLUMNS) if (root / file).exists() else []
    known: dict[tuple[str, str, str], int] = {}
    # the other columns describe a value as the paper does
    read = ((*row[:4], row[8], *row[10:], file, number) for number, row in rows)
    for line in map(Published._make, read):
        if line.use not in USES:
            raise line.refuse(f"column 'use': found '{line.use}', expected {', '.join(USES)}")
        if not bool(line.row) == bool(line.column) == (line.use != NONE):
            raise line.refuse("columns 'row' and 'column': expected labels, or none for use 'none'")
        if _WRITTEN_OTHERWISE.fullmatch(line.printed):
            raise line.refuse(f"column 'value': found '{line.printed}', expected such as 27.3")
        names = [f"table{each}" for each in tables]
        if names and line.use != NONE and line.table not in names:
            raise line.refuse(f"no such table '{line.table}'; {hint(line.table, names)}")
        for column in line.columns:
            other = known.setdefault((line.table, line.row, column), line.line)
            if other != line.line:
                raise line.refuse(f"row '{line.row}', column '{column}' is already in line {other}")
        number = line.table.removeprefix("table")
        of_table.setdefault(number, []).extend([line] * bool(line.columns))
    return of_table


def rows_of(path: Path, file: str, columns: tuple[str, ...]) -> list[tuple[int, tuple[str, ...]]]:
    """Read the rows of a CSV of texts with these columns, each with its line, but blank ones."""
    options: Any = {"dtype": str, "na_filter": False, "skip_blank_lines": False}
    try:  # the header as a line, so that no later one can be longer
        frame = pd.read_csv(path, header=None, encoding="utf-8-sig", **options)
    except (OSError, ValueError) as error:  # of pandas, also for text that is not UTF-8
        raise UserError(f"{file}: cannot be read as CSV ({str(error).strip()})") from error
    header, *rows = frame.itertuples(index=False, name=None)
    if header != columns:
        raise UserError(f"{file} line 1: found {','.join(header)}, expected {','.join(columns)}")
    return [(number, row) for number, row in enumerate(rows, 2) if any(row)]


Needed = Mapping[str, bool | None]
"""Labels of ours, and whether the paper must have a value there (False: none; None: it may)."""


def join(
    lines: Sequence[Published], rows: Needed, columns: Needed
) -> dict[tuple[str, str], Published]:
    """Put the values of a table at our rows and columns."""
    for line in lines:
        if line.use == QUOTED and line.row in rows:
            raise line.refuse(f"row '{line.row}' is run; set 'use' to ours")
        named = [(label, columns) for label in line.columns]
        named += [(line.row, rows)] * (line.use == OURS)
        for label, known in named:
            if label not in known:
                raise line.refuse(f"the table has no '{label}'; {hint(label, known)}")
    joined = {(line.row, column): line for line in lines for column in line.columns}
    for at, (key, known) in enumerate({"rows": rows, "columns": columns}.items()):
        there = {labels[at] for labels in joined}
        for label, needed in known.items():
            if lines and needed is not None and needed != (label in there):
                has = "no value" if needed else "a value"
                raise UserError(
                    f"{key}: {lines[0].file} has {has} for '{label}', whose key "
                    f"'ours_only' is {str(not needed).lower()}; {hint(label, sorted(there))}"
                )
    return joined

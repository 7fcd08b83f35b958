"""Published values: `config/published/PAPER.csv`, joined by key with the tables of a paper.

Each line is one printed value: its `table`, `row` and `column` (labels as the paper's file
generates them), the value as printed, and a description of it. `use` says what it is for:

- `ours`: it is shown beside a row that we run;
- `quoted`: its row is only quoted, and is added to the table;
- `none`: no table shows it, such as a number in the text.

A line of the first two kinds without a partner is an error, and so is a row or column of a printed
table that has no line.
"""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from pathlib import Path

import pandas as pd

from nat.errors import UserError
from nat.spelling import hint

FACTS = ("row_group", "system", "variant", "task", "metric", "value", "unit", "note")
COLUMNS = ("table", "row", "column", *FACTS, "use")
OURS, QUOTED, NONE = USES = ("ours", "quoted", "none")
BETWEEN = " | "
"""Separates several of our columns with one printed value."""
OWN = "source=authors"
_WRITTEN_OTHERWISE = re.compile(r"[+-]?\d+(,\d+|[.,]?\d*\s*(±|\+/-|\+-).*)")
"""Numbers that would be taken for words: with a decimal comma, or with a spread."""


@dataclass(frozen=True)
class Published:
    """A printed value, and what the file says of it.

    Attributes:
        text: as printed.
        value: `None` if it is not a number.
        line: of the file.
        columns: labels of our columns.
        own: whether it is from the paper's own runs, not quoted from another paper.
        origin: where it is from, for a reader.
    """

    text: str
    value: float | None
    line: int
    table: str
    row: str
    columns: tuple[str, ...]
    use: str
    group: str
    system: str
    variant: str
    task: str
    metric: str
    note: str
    origin: str

    @property
    def own(self) -> bool:
        """Whether it is from the paper's own runs."""
        return self.note.startswith(OWN)


def file_of(paper: str) -> str:
    """Path of the published values of a paper."""
    return f"config/published/{paper}.csv"


def exists(root: Path, paper: str) -> bool:
    """Tell whether there are published values; files of tables that are not a paper have none."""
    return (root / file_of(paper)).exists()


def read(root: Path, paper: str) -> tuple[Published, ...]:
    """Read the published values of a paper, in order.

    Raises:
        UserError: if the file is malformed; names the line.
    """
    path = root / file_of(paper)
    return _read(path, file_of(paper), path.stat().st_mtime_ns) if path.exists() else ()


@lru_cache
def _read(path: Path, file: str, _changed: int) -> tuple[Published, ...]:
    try:
        frame = pd.read_csv(path, dtype=str, keep_default_na=False, skip_blank_lines=False)
    except (OSError, ValueError) as error:  # of pandas, also for text that is not UTF-8
        raise UserError(f"{file}: cannot be read as CSV ({str(error).strip()})") from error
    if tuple(frame.columns) != COLUMNS:
        raise UserError(f"{file} line 1: the columns must be {','.join(COLUMNS)}, in this order")
    lines = tuple(_line(row, f"{file} line {row['line']}") for row in _rows(frame))
    first: dict[tuple[str, str, str], int] = {}
    for line in lines:
        for column in line.columns:
            other = first.setdefault((line.table, line.row, column), line.line)
            if other != line.line:
                raise UserError(
                    f"{file} line {line.line}: row '{line.row}', column '{column}' of "
                    f"{line.table} is already in line {other}"
                )
    return lines


def _rows(frame: pd.DataFrame) -> Iterator[dict[str, str]]:
    for at, row in enumerate(frame.to_dict("records"), 2):
        if any(row.values()):  # blank lines count, so that messages have the number of a line
            yield {"line": str(at), **{str(key): str(value) for key, value in row.items()}}


def _line(row: Mapping[str, str], where: str) -> Published:
    if row["use"] not in USES:
        raise UserError(f"{where}: column 'use': found '{row['use']}', {hint(row['use'], USES)}")
    for key in ("row", "column"):
        if bool(row[key]) != (row["use"] != NONE):
            raise UserError(
                f"{where}: column '{key}': found '{row[key]}', but 'use' is {row['use']}"
            )
    if not row["value"] or _WRITTEN_OTHERWISE.fullmatch(row["value"]):
        raise UserError(
            f"{where}: column 'value': found '{row['value']}'; write a number like 27.3, and its "
            "spread in the column 'note'"
        )
    return Published(
        text=row["value"],
        value=_number(row["value"]),
        line=int(row["line"]),
        columns=tuple(row["column"].split(BETWEEN)) if row["column"] else (),
        group=row["row_group"],
        origin=f"{where.replace(' line ', ' row ')}: {row['table']}; {row['note']}",
        **{
            key: row[key]
            for key in ("table", "row", "use", "system", "variant", "task", "metric", "note")
        },
    )


def _number(text: str) -> float | None:
    try:
        found = float(text)
    except ValueError:
        return None
    return found if math.isfinite(found) else None


def decimals(text: str) -> int:
    """Digits of a printed number after the point; negative if the last ones are not printed."""
    exponent = Decimal(text).as_tuple().exponent
    assert isinstance(exponent, int), text
    return -exponent


def of_table(root: Path, paper: str, tables: Sequence[str], number: str) -> list[Published]:
    """Select the values of a table.

    Args:
        root: folder of the configuration.
        paper: its name.
        tables: numbers of the paper's tables that show published values.
        number: of the table.

    Raises:
        UserError: as `read`, and for a line of a table that the paper's file does not have.
    """
    known = {f"table{each}" for each in tables}
    for line in read(root, paper):
        if line.use != NONE and line.table not in known:
            raise UserError(
                f"{file_of(paper)} line {line.line}: config/papers/{paper}.yaml has no such "
                f"table '{line.table}'; {hint(line.table, sorted(known))}"
            )
    return [line for line in read(root, paper) if line.table == f"table{number}" and line.columns]


def join(
    paper: str,
    lines: Sequence[Published],
    rows: Mapping[str, bool | None],
    columns: Mapping[str, bool | None],
    where: str,
) -> dict[tuple[str, str], Published]:
    """Put the values of a table at their rows and columns.

    Args:
        paper: its name.
        lines: of the table.
        rows: labels of our rows, and whether the paper must have a value in each; None if it may.
        columns: those of our columns.
        where: file and key of the table, for messages.

    Raises:
        UserError: for a line, a row or a column without a partner.
    """
    file = file_of(paper)
    for line in lines:
        if line.use == OURS and line.row not in rows:
            raise UserError(
                f"{file} line {line.line}: {where} has no row '{line.row}'; {hint(line.row, rows)}"
            )
        if line.use == QUOTED and line.row in rows:
            raise UserError(
                f"{file} line {line.line}: row '{line.row}' of {where} is run; set 'use' to ours"
            )
        for column in line.columns:
            if column not in columns:
                raise UserError(
                    f"{file} line {line.line}: {where} has no column '{column}'; "
                    f"{hint(column, columns)}"
                )
    there = {
        "rows": {line.row for line in lines},
        "columns": {column for line in lines for column in line.columns},
    }
    for key, labels in (("rows", rows), ("columns", columns)) if lines else ():
        for label, needed in labels.items():
            if needed is not None and needed != (label in there[key]):
                has = "no value" if needed else "a value"
                raise UserError(
                    f"{where}.{key}: {file} has {has} for '{label}', whose key 'ours_only' is "
                    f"{str(not needed).lower()}; {hint(label, sorted(there[key]))}"
                )
    return {(line.row, column): line for line in lines for column in line.columns}

"""Published values: `config/published/PAPER.csv`, joined by key with the tables of a paper.

Each line is one printed value: its `table`, `row` and `column` (labels as the paper's file
generates them), the value as printed, and a description of it. `use` says what it is for:

- `ours`: it is shown beside a row that we run;
- `quoted`: its row is only quoted, and is added to the table;
- `none`: no table shows it, such as a number in the text.

A line of the first two kinds without a partner is an error, and so is a row or column of a printed
table that has no line.
"""

import csv
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from pathlib import Path

from nat.checksums import unreadable
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
    """A value as printed and its source; `value` is `None` if it is not a number.

    `group` is the group of rows that the paper prints, `own` says that the value is from the
    paper's own runs, not quoted from another paper.
    """

    text: str
    value: float | None
    source: str
    group: str = ""
    own: bool = True


@dataclass(frozen=True)
class Line:
    """A line of the file; `system`, `variant`, `task`, `metric` and `note` describe its value."""

    number: int
    table: str
    row: str
    columns: tuple[str, ...]
    use: str
    value: Published
    system: str
    variant: str
    task: str
    metric: str
    note: str


Places = dict[tuple[str, str], Published]
"""Published values of a table by row and column."""


def file_of(paper: str) -> str:
    """Path of the published values of a paper."""
    return f"config/published/{paper}.csv"


def exists(root: Path, paper: str) -> bool:
    """Whether there are published values; files of tables that are not a paper have none."""
    return (root / file_of(paper)).exists()


def read(root: Path, paper: str) -> tuple[Line, ...]:
    """The published values of a paper, in order.

    Raises:
        UserError: if the file is malformed; names the line.
    """
    path = root / file_of(paper)
    if not path.exists():
        return ()
    return _read(path, file_of(paper), path.stat().st_mtime_ns)


@lru_cache
def _read(path: Path, file: str, _changed: int) -> tuple[Line, ...]:
    try:
        with path.open(encoding="utf-8-sig", newline="") as content:
            reader = csv.reader(content, strict=True)
            _check_header(next(reader, []), file)
            # blank lines count too, so that messages have the number of a line
            lines = tuple(_line(cells, at, file) for at, cells in enumerate(reader, 2) if cells)
    except UnicodeDecodeError as error:
        raise UserError(f"{file}: not valid UTF-8 at byte {error.start}") from error
    except OSError as error:
        raise unreadable(file, error) from error
    except csv.Error as error:
        raise UserError(f"{file} line {reader.line_num}: not valid CSV ({error})") from error
    first: dict[tuple[str, str, str], int] = {}
    for line in lines:
        for column in line.columns:
            other = first.setdefault((line.table, line.row, column), line.number)
            if other != line.number:
                raise UserError(
                    f"{file} line {line.number}: row '{line.row}', column '{column}' of "
                    f"{line.table} is already in line {other}"
                )
    return lines


def _check_header(header: Sequence[str], file: str) -> None:
    if any("\t" in name for name in header):
        raise UserError(
            f"{file} line 1: the columns are separated by tabs; separate them by commas"
        )
    for name in header:
        if name not in COLUMNS:
            raise UserError(f"{file} line 1: unknown column '{name}'; {hint(name, COLUMNS)}")
    if tuple(header) != COLUMNS:
        raise UserError(f"{file} line 1: the columns must be {','.join(COLUMNS)}, in this order")


def _line(cells: Sequence[str], number: int, file: str) -> Line:
    if len(cells) != len(COLUMNS):
        raise UserError(
            f"{file} line {number}: found {len(cells)} values, expected {len(COLUMNS)}; a value "
            "with a comma needs double quotes"
        )
    found = dict(zip(COLUMNS, cells, strict=True))
    if found["use"] not in USES:
        raise UserError(
            f"{file} line {number}: column 'use': found '{found['use']}', expected one of "
            f"{', '.join(USES)}"
        )
    for key in ("row", "column"):
        if bool(found[key]) != (found["use"] != NONE):
            expected = "expected a label" if found["use"] != NONE else "expected nothing"
            raise UserError(
                f"{file} line {number}: column '{key}': found '{found[key]}', {expected}, since "
                f"'use' is {found['use']}"
            )
    if not found["value"]:
        raise UserError(f"{file} line {number}: column 'value' is empty; remove the line")
    if _WRITTEN_OTHERWISE.fullmatch(found["value"]):
        raise UserError(
            f"{file} line {number}: column 'value': found '{found['value']}', which would not be "
            "compared as a number; write it like 27.3, with a decimal point and without separators "
            "of thousands, and its spread in the column 'note'"
        )
    return Line(
        number=number,
        table=found["table"],
        row=found["row"],
        columns=tuple(found["column"].split(BETWEEN)) if found["column"] else (),
        use=found["use"],
        value=Published(
            text=found["value"],
            value=_number(found["value"]),
            source=f"{file} row {number}: {found['table']}; {found['note']}",
            group=found["row_group"],
            own=found["note"].startswith(OWN),
        ),
        **{key: found[key] for key in ("system", "variant", "task", "metric", "note")},
    )


def _number(text: str) -> float | None:
    try:
        found = float(text)
    except ValueError:
        return None
    return found if math.isfinite(found) else None


def decimals(text: str) -> int:
    """Digits of a printed number after the point; negative if the last ones are not printed."""
    _, _, exponent = Decimal(text).as_tuple()
    assert isinstance(exponent, int), text
    return -exponent


def of_table(root: Path, paper: str, tables: Sequence[str], number: str) -> list[Line]:
    """The lines of a table.

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
                f"{file_of(paper)} line {line.number}: config/papers/{paper}.yaml has no such "
                f"table '{line.table}'; {hint(line.table, sorted(known))}, or set 'use' to none"
            )
    return [line for line in read(root, paper) if line.table == f"table{number}" and line.columns]


def join(
    paper: str,
    lines: Sequence[Line],
    rows: Mapping[str, bool | None],
    columns: Mapping[str, bool | None],
    where: str,
) -> Places:
    """Put the lines of a table at their places.

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
    if not lines:
        return {}
    for line in lines:
        if line.use == OURS and line.row not in rows:
            raise UserError(
                f"{file} line {line.number}: {where} has no row '{line.row}'; "
                f"{hint(line.row, rows)}; a row that is only quoted has the use 'quoted'"
            )
        if line.use == QUOTED and line.row in rows:
            raise UserError(
                f"{file} line {line.number}: row '{line.row}' of {where} is run, not only quoted; "
                "set 'use' to ours"
            )
        for column in line.columns:
            if column not in columns:
                raise UserError(
                    f"{file} line {line.number}: {where} has no column '{column}'; "
                    f"{hint(column, columns)}"
                )
    there = {
        "rows": [line.row for line in lines],
        "columns": [column for line in lines for column in line.columns],
    }
    for key, labels in (("rows", rows), ("columns", columns)):
        for label, needed in labels.items():
            if needed and label not in there[key]:
                raise UserError(
                    f"{where}.{key}: {file} has no value for '{label}'; "
                    f"{hint(label, dict.fromkeys(there[key]))}; what the paper does not print has "
                    "'ours_only: true'"
                )
            if needed is False and label in there[key]:
                raise UserError(
                    f"{where}.{key}: {file} has a value for '{label}', which has 'ours_only'; "
                    "remove the key"
                )
    return {(line.row, column): line.value for line in lines for column in line.columns}

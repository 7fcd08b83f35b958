"""Tables of texts that analyses found, such as orders of decoding, beside those of the paper."""

from pathlib import Path
from typing import Any

from nat.cells import values
from nat.cells.entry import QUOTED
from nat.cells.paper import entries
from nat.cells.resolver import describe
from nat.cells.shown_analyses import analysed
from nat.cells.table_places import keys_of_texts
from nat.configuration import Configuration
from nat.errors import UserError, told_of
from nat.tables import tables

NUMBERS = ()
"""Columns with numbers: none."""


def make(configuration: Configuration, paper: str, number: str) -> tables.Table:
    """Read the texts from the analyses below the root of the configuration.

    Of several seeds the first that ran is shown.

    Raises:
        UserError: as `entries`, and if an analysis has not the text that is asked of it.
    """
    root = Path(configuration.root)
    keys = keys_of_texts(configuration, paper, number)
    records = []
    for entry in entries(configuration, paper, "table", number):
        base: dict[str, Any] = {"paper": paper, "table": number}
        base |= values.record(configuration.scale, entry, values.read(entry, root))
        base |= {"text": "", "difference": None, "ours": None}
        cell = next((each for each in entry.cells if (root / each.score_path).exists()), None)
        if cell is not None:
            path = root / cell.score_path
            with told_of(f"config/papers/{paper}.yaml: tables.{number}: "):
                found = analysed(path, cell.split, keys[entry.row])
            base |= {
                "text": _text(found, f"{path}: '{keys[entry.row]}'"),
                "status": "run",
                "remark": "",
                "seeds": str(cell.seed),
                "sources": cell.score_path,
            }
        elif entry.reason != QUOTED:
            base |= {"status": values.NOT_RUN}
        records.append(base)
    return lay_out(configuration, paper, number, records)


def _text(found: Any, where: str) -> str:
    parts = found if isinstance(found, list) else [found]
    if any(isinstance(part, list | dict) for part in parts):
        raise UserError(
            f"{where} is no text but has parts; name one of them in the key of the row, such as "
            "'examples.0.source'"
        )
    if isinstance(found, list):
        return " ".join(str(part) for part in found)
    return f"{found:.1f}" if isinstance(found, float) else str(found)


def lay_out(
    configuration: Configuration, paper: str, number: str, records: tables.Records
) -> tables.Table:
    """Arrange texts for reading, with the paper's own beside ours where it prints any."""
    description = describe(configuration, paper, "table", number)
    printed = any(record["published"] for record in records)
    shown = [(tables.OURS, ""), (tables.PUBLISHED, "")] if printed else [("text", "")]
    grouped = any(record["group"] for record in records)
    cells, last = [], None
    for record in records:
        text = tables.NOTHING
        if record["status"] != QUOTED:
            text = record["text"] if record["status"] == "run" else values.NOT_RUN
        group = ["" if record["group"] == last else record["group"]] if grouped else []
        row = [*group, record["row"], text]
        last = record["group"]
        if printed:
            row.append(record["published"] or tables.NOTHING)
        cells.append(row)
    return tables.Table(
        headline=values.headline(configuration, paper, "table", number),
        records=records,
        columns=[*([("", "")] if grouped else []), ("system", ""), *shown],
        cells=cells,
        notes=[
            *values.not_comparable(records),
            *description.notes,
        ],
        signatures=[],
        prose=True,
    )

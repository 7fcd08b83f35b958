"""Tables of texts that analyses found, such as orders of decoding, beside those of the paper."""

from pathlib import Path
from typing import Any

from nat.errors import UserError, told_of
from nat.options import require_at
from nat.papers import values
from nat.papers.cells import QUOTED, Cell, shown
from nat.papers.reader import NOT_RUN, Reader
from nat.papers.resolved import ResolvedPart
from nat.papers.table_formats import NOTHING, OURS, PUBLISHED, TableText, with_groups
from nat.papers.values import Record


def make(table: ResolvedPart, root: Path) -> TableText:
    """Make a table of texts; of several seeds the first that ran is shown.

    Raises:
        UserError: if an analysis has not the text that is asked of it.
    """
    reader = Reader(root)
    printed = any(cell.published for cell in table.cells)
    records, rows = [], []
    for own, _ in shown(table.cells).values():
        record: Record = {"paper": table.paper, "table": table.number}
        record |= values.record(table.scale, own, [], reader)
        record |= {"text": "", "difference": None, "ours": None}
        cell = next((cell for cell in own if reader.ran(cell)), None)
        text = NOTHING if own[0].reason == QUOTED else NOT_RUN
        if cell is not None:
            key = table.keys[cell.row]["text"]
            with told_of(f"config/papers/{table.paper}.yaml: tables.{table.number}: "):
                value = analysed(reader, cell, key)
                parts = value if isinstance(value, list) else [value]
                if any(isinstance(part, list | dict) for part in parts):
                    several = "is no text but has parts; name one of them in the key of the row"
                    raise UserError(f"'{key}' {several}")
            text = f"{value:.1f}" if isinstance(value, float) else " ".join(map(str, parts))
            record |= {"text": text, "status": "run", "remark": ""}
            record |= {"seeds": str(cell.seed), "sources": cell.path}
        elif own[0].reason != QUOTED:
            record |= {"status": NOT_RUN}
        records.append(record)
        rows.append([record["row"], text, *[str(record["published"] or NOTHING)] * printed])
    grouped, rows = with_groups([each["group"] for each in records], rows)
    columns = [(OURS, ""), (PUBLISHED, "")] if printed else [("text", "")]
    return TableText(
        title=table.title,
        origin=table.origin,
        records=records,
        columns=[*grouped, ("system", ""), *columns],
        rows=rows,
        notes=[*values.not_comparable(records), *table.described.notes],
        prose=True,
    )


def analysed(reader: Reader, cell: Cell, key: str) -> Any:
    """Read a part of an analysis, by keys such as `map.cosines`.

    Keys that begin with `measures` are those of the numbers of the split.

    Raises:
        UserError: if it is missing; hints at what the analysis has.
    """
    content = reader.file(cell.path)
    of_split = {**content.get("splits", {}).get(cell.split, {})}
    of_split["measures"] = content["measures"].get(cell.split, {})
    with told_of(f"{cell.path}, split {cell.split}: "):
        return require_at(of_split, key)

"""Tables of texts that analyses found, such as orders of decoding, beside those of the paper."""

from pathlib import Path
from typing import Any

from nat.errors import UserError, told_of
from nat.options import require_at
from nat.papers import values
from nat.papers.cells import QUOTED, Cell, shown
from nat.papers.reader import NOT_RUN, Reader
from nat.papers.resolved import ResolvedTable
from nat.papers.table_formats import NOTHING, OURS, PUBLISHED, TableText
from nat.papers.values import Record


def records(table: ResolvedTable, root: Path) -> list[Record]:
    """Read the texts from the analyses below a folder.

    Of several seeds the first that ran is shown.

    Raises:
        UserError: if an analysis has not the text that is asked of it.
    """
    reader = Reader(root)
    found = []
    for own, _ in shown(table.cells).values():
        each: Record = {"paper": table.paper, "table": table.number}
        each |= values.record(table.scale, own, [], reader)
        each |= {"text": "", "difference": None, "ours": None}
        cell = next((cell for cell in own if reader.ran(cell)), None)
        if cell is not None:
            key = table.keys[cell.row]["text"]
            with told_of(f"config/papers/{table.paper}.yaml: tables.{table.number}: "):
                text = _text(analysed(reader, cell, key), f"'{key}'")
            each |= {"text": text, "status": "run", "remark": ""}
            each |= {"seeds": str(cell.seed), "sources": cell.path}
        elif own[0].reason != QUOTED:
            each |= {"status": NOT_RUN}
        found.append(each)
    return found


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


def _text(found: Any, key: str) -> str:
    parts = found if isinstance(found, list) else [found]
    if any(isinstance(part, list | dict) for part in parts):
        raise UserError(f"{key} is no text but has parts; name one of them in the key of the row")
    if isinstance(found, list):
        return " ".join(str(part) for part in found)
    return f"{found:.1f}" if isinstance(found, float) else str(found)


def lay_out(table: ResolvedTable, found: list[Record]) -> TableText:
    """Arrange texts for reading, with the paper's own beside ours where it prints any."""
    printed = any(each["published"] for each in found)
    grouped = any(each["group"] for each in found)
    rows, last = [], None
    for each in found:
        text = NOTHING
        if each["status"] != QUOTED:
            text = each["text"] if each["status"] == "run" else NOT_RUN
        group = ["" if each["group"] == last else each["group"]] if grouped else []
        last = each["group"]
        theirs = [each["published"] or NOTHING] if printed else []
        rows.append([*group, each["row"], text, *theirs])
    columns = [(OURS, ""), (PUBLISHED, "")] if printed else [("text", "")]
    return TableText(
        title=table.title,
        origin=table.origin,
        records=found,
        columns=[("", "")] * grouped + [("system", ""), *columns],
        rows=rows,
        notes=[*values.not_comparable(found), *table.notes],
        signatures=[],
        prose=True,
    )

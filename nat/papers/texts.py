"""Tables of texts that analyses found, such as orders of decoding, beside those of the paper."""

from pathlib import Path
from typing import Any

from nat.configuration import Configuration
from nat.errors import UserError, told_of
from nat.papers import values
from nat.papers.cells import QUOTED, Cell, shown
from nat.papers.coordinates import Resolver
from nat.papers.reader import NOT_RUN, Reader
from nat.papers.relation import report
from nat.papers.table_cells import rows_of
from nat.papers.table_formats import NOTHING, OURS, PUBLISHED, TableText
from nat.papers.tables import title
from nat.papers.values import Record
from nat.spelling import hint


def records(configuration: Configuration, paper: str, number: str) -> list[Record]:
    """Read the texts from the analyses below the root of the configuration.

    Of several seeds the first that ran is shown.

    Raises:
        UserError: if an analysis has not the text that is asked of it.
    """
    reader = Reader(Path(configuration.root))
    keys = _keys(Resolver(configuration, paper), number)
    found = []
    for own, _ in shown(report(configuration, paper, f"table {number}")).values():
        each: Record = {"paper": paper, "table": number}
        each |= values.record(configuration.scale, own, [], reader)
        each |= {"text": "", "difference": None, "ours": None}
        cell = next((cell for cell in own if reader.ran(cell)), None)
        if cell is not None:
            with told_of(f"config/papers/{paper}.yaml: tables.{number}: "):
                text = _text(analysed(reader, cell, keys[cell.row]), f"'{keys[cell.row]}'")
            each |= {"text": text, "status": "run", "remark": ""}
            each |= {"seeds": str(cell.seed), "sources": cell.path}
        elif own[0].reason != QUOTED:
            each |= {"status": NOT_RUN}
        found.append(each)
    return found


def _keys(resolver: Resolver, number: str) -> dict[str, str]:
    """The key of each text of a table in the file of its analysis, by the row's label."""
    levels, at = resolver.paper.tables[number].cells.given(), f"tables.{number}"
    return {
        row.label: resolver.filled(row.given.key or "", {**levels, **row.chosen}, at)
        for row in rows_of(resolver, number)
        if row.given is not None
    }


def analysed(reader: Reader, cell: Cell, key: str) -> Any:
    """Read a part of an analysis, by keys such as `map.cosines`.

    Keys that begin with `measures` are those of the numbers of the split.

    Raises:
        UserError: if it is missing; hints at what the analysis has.
    """
    found: Any = reader.file(cell.path)
    first, *rest = key.split(".")
    parts = (
        ("measures", cell.split, *rest)
        if first == "measures"
        else ("splits", cell.split, first, *rest)
    )
    for part in parts:
        try:
            found = found[int(part)] if isinstance(found, list) else found[part]
        except (IndexError, KeyError, TypeError, ValueError) as error:
            known = range(len(found)) if isinstance(found, list) else found
            names = map(str, known) if isinstance(known, range | dict) else ()
            raise UserError(
                f"{cell.path} has no '{key}' of the split {cell.split}; {hint(part, names)}"
            ) from error
    return found


def _text(found: Any, key: str) -> str:
    parts = found if isinstance(found, list) else [found]
    if any(isinstance(part, list | dict) for part in parts):
        raise UserError(f"{key} is no text but has parts; name one of them in the key of the row")
    if isinstance(found, list):
        return " ".join(str(part) for part in found)
    return f"{found:.1f}" if isinstance(found, float) else str(found)


def lay_out(
    configuration: Configuration, paper: str, number: str, found: list[Record]
) -> TableText:
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
    name = f"table {number}"
    return TableText(
        title=title(configuration, paper, name),
        origin=values.origin(configuration, report(configuration, paper, name)),
        records=found,
        columns=[("", "")] * grouped + [("system", ""), *columns],
        rows=rows,
        notes=[*values.not_comparable(found), *configuration.paper(paper).tables[number].notes],
        signatures=[],
        prose=True,
    )

"""Matrices, alignments, and decodings pass by pass, which figures show of files of analyses."""

from collections.abc import Callable, Iterator
from typing import Any

from nat.errors import UserError, told_of
from nat.papers import values
from nat.papers.cells import Cell, shown
from nat.papers.reader import NOT_RUN, Reader
from nat.papers.resolved import ResolvedPart
from nat.papers.texts import analysed
from nat.papers.values import Record

Content = dict[str, Any]
"""Parts of an analysis by what they stand for in the description of the figure."""


def read(figure: ResolvedPart, reader: Reader) -> tuple[list[Record], dict[str, Content]]:
    """Read the records of a figure that shows analyses, and what each panel shows of its own.

    Of several seeds the first that ran is shown.

    Raises:
        UserError: if an analysis does not have what is asked of it.
    """
    records: list[Record] = []
    contents: dict[str, Content] = {}
    for own, _ in shown(figure.cells).values():
        base = values.record(figure.scale, own, [], reader)
        base |= {"over": "", "collapsed": False, "point": ""}
        base |= dict.fromkeys(("ours", "low", "high", "spread"))
        cell = next((each for each in own if reader.ran(each)), None)
        if cell is None:
            records.append(base | {"status": NOT_RUN})
            continue
        keys = figure.keys[cell.column]
        with told_of(f"config/papers/{figure.paper}.yaml: figures.{figure.number}: "):
            content = {name: analysed(reader, cell, key) for name, key in keys.items()}
            own_records = _records(content, figure, cell)
        contents[cell.column] = content
        base |= {"seeds": str(cell.seed), "sources": cell.path, "status": "run"}
        base |= {"remark": content.get("caption", "")}
        records += [base | each for each in own_records]
    return records, contents


def _records(content: Content, figure: ResolvedPart, cell: Cell) -> list[Record]:
    """The own keys of the records of a panel; fails for parts that do not fit together."""
    try:
        return list(RECORDS[figure.described.kind](content))
    except (LookupError, TypeError, ValueError) as error:
        where = f"{cell.path}: split {cell.split}, panel '{cell.column}'"
        keys = ", ".join(map(repr, figure.keys[cell.column].values()))
        raise UserError(f"{where}: {error}; are {keys} parts of one example?") from error


def _heat_map(content: Content) -> Iterator[Record]:
    rows, columns = content["rows"], content["columns"]
    for y, (row, line) in enumerate(zip(rows, content["values"], strict=True)):
        for x, (column, value) in enumerate(zip(columns, line, strict=True)):
            yield {"row": str(row), "y": y, "x": x, "category": str(column), "ours": value}


def _plane(content: Content) -> Iterator[Record]:
    rows, columns = (list(map(float, content[name])) for name in ("rows", "columns"))
    for each in _heat_map(content):
        if each["ours"] is not None:
            x, y = columns[each["x"]], rows[each["y"]]
            yield each | {"row": f"{y:g}", "y": y, "x": x, "category": ""}
    for point in content.get("points", ()):
        name, place = point["label"], {"x": point["x"], "y": point["y"]}
        yield {"row": name, "point": name, "ours": None} | place


def _alignment(content: Content) -> Iterator[Record]:
    # behind each text lies its end
    first, second = [*content["first"], ""], [*content["second"], ""]
    for x, y in enumerate(content["links"]):
        yield {"row": first[x], "x": x, "y": y, "category": "" if y is None else second[y]}


def _steps(content: Content) -> Iterator[Record]:
    for number, each in enumerate(content["passes"], 1):
        for x, token in enumerate(each["tokens"]):
            predicted = x in each["predicted"]
            yield {"row": f"pass {number}", "x": x, "category": token or "", "predicted": predicted}


RECORDS: dict[str, Callable[[Content], Iterator[Record]]] = {
    "heat_map": _heat_map,
    "contour": _plane,
    "alignment": _alignment,
    "steps": _steps,
}

"""What figures show of the files of analyses: matrices, alignments, and decodings pass by pass.

Of several seeds the first that ran is shown.
"""

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, NonNegativeInt, TypeAdapter, ValidationError

from nat.errors import UserError
from nat.papers import values
from nat.papers.cells import shown
from nat.papers.reader import NOT_RUN, Reader
from nat.papers.resolved import ResolvedFigure
from nat.papers.texts import analysed
from nat.papers.values import Record

Content = dict[str, Any]
"""Parts of an analysis by what they stand for in the description of the figure."""


class Mark(BaseModel):
    """A point with a name on a plane."""

    model_config = ConfigDict(extra="forbid", strict=True)

    label: str
    x: float
    y: float


class Pass(BaseModel):
    """A pass of a decoding: its tokens, `None` where none is chosen yet, and what it chose."""

    model_config = ConfigDict(extra="forbid", strict=True)

    tokens: list[str | None]
    predicted: list[NonNegativeInt]


Words = list[str]
Number = Annotated[float, Field(allow_inf_nan=False)]
_TYPES: dict[str, Any] = {
    "first": Words,
    "second": Words,
    "links": list[NonNegativeInt | None],
    "captions": tuple[str, str],
    "caption": str,
    "passes": list[Pass],
    "source": Words,
    "reference": Words,
    "points": list[Mark],
}
_OF_PLANES: dict[str, Any] = {
    "rows": list[Number],
    "columns": list[Number],
    "values": list[list[Number | None]],
}


def read(figure: ResolvedFigure, reader: Reader) -> tuple[list[Record], dict[str, Content]]:
    """Read the records of a figure that shows analyses, and what each panel shows of its own.

    Raises:
        UserError: if an analysis does not have what is asked of it.
    """
    description = figure.description
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
        base |= {"seeds": str(cell.seed), "sources": cell.path, "status": "run"}
        types = _TYPES | (_OF_PLANES if description.kind == "contour" else {})
        content = {
            name: _checked(types.get(name), analysed(reader, cell, key), f"{cell.path}: '{key}'")
            for name, key in figure.keys[cell.column].items()
        }
        contents[cell.column] = content
        base |= {"remark": content.get("caption", "")}
        wrong = f"{cell.path}: split {cell.split}, panel '{cell.column}'"
        records += _RECORDS[description.kind](base, content, description, wrong)
    return records, contents


def _checked(kind: Any, value: Any, where: str) -> Any:
    if kind is None:
        return value
    try:
        return TypeAdapter(kind).validate_python(value)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise UserError(f"{where}{f', {place}' if place else ''}: {first['msg']}") from error


def _heat_map(base: Content, content: Content, description: Any, where: str) -> list[Record]:
    return [
        base | {"row": str(row), "y": at, "x": number, "category": str(column), "ours": value}
        for at, row, number, column, value in _places(content, where)
    ]


def _plane(base: Content, content: Content, description: Any, where: str) -> list[Record]:
    found = [
        base | {"row": f"{row:g}", "y": row, "x": column, "category": "", "ours": value}
        for _, row, _, column, value in _places(content, where)
        if value is not None
    ]
    return found + [base | marked(point) for point in content.get("points", ())]


def marked(point: Mark) -> Content:
    """What a record of a named point says."""
    return {"row": point.label, "point": point.label, "x": point.x, "y": point.y, "ours": None}


def _places(content: Content, where: str) -> list[tuple[int, Any, int, Any, Any]]:
    """Number and label of the row, of the column, and the value, of each place of a matrix."""
    rows, columns, matrix = (content[name] for name in ("rows", "columns", "values"))
    shape = len(matrix), *{len(line) for line in matrix}
    if shape != (len(rows), len(columns)):
        raise _misfit(where, "'values' has not the rows and columns of 'rows' and 'columns'")
    return [
        (at, row, number, column, value)
        for at, (row, line) in enumerate(zip(rows, matrix, strict=True))
        for number, (column, value) in enumerate(zip(columns, line, strict=True))
    ]


def _alignment(base: Content, content: Content, description: Any, where: str) -> list[Record]:
    first, second, links = (content[name] for name in ("first", "second", "links"))
    for what, needed, text in (
        (f"{len(links)} links, up", len(links) - 1, first),
        ("a link", max((link for link in links if link is not None), default=0), second),
    ):
        if needed > len(text):
            raise _misfit(where, f"{what} to position {needed} of {len(text)} words")
    return [
        base
        | {
            "row": first[position] if position < len(first) else "",
            "x": position,
            "y": link,
            "category": second[link] if link is not None and link < len(second) else "",
        }
        for position, link in enumerate(links)
    ]


def _steps(base: Content, content: Content, description: Any, where: str) -> list[Record]:
    found = []
    for number, each in enumerate(content["passes"], 1):
        name, last = f"pass {number}", max(each.predicted, default=-1)
        if last >= len(each.tokens):
            raise _misfit(where, f"{name} has {len(each.tokens)} tokens, but chose position {last}")
        found += [
            base
            | {
                "row": name,
                "x": position,
                "category": token or "",
                "predicted": position in each.predicted,
            }
            for position, token in enumerate(each.tokens)
        ]
    return found


def _misfit(where: str, text: str) -> UserError:
    """The error of parts of an analysis that do not belong together."""
    return UserError(f"{where}: {text}; do the keys of the figure name parts of one example?")


_RECORDS = {"heat_map": _heat_map, "contour": _plane, "alignment": _alignment, "steps": _steps}

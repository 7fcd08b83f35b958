"""What figures show of the files of analyses: matrices, alignments, and decodings pass by pass.

Of several seeds the first that ran is shown.
"""

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, NonNegativeInt, TypeAdapter, ValidationError

from nat.errors import UserError
from nat.papers import values
from nat.papers.cells import shown
from nat.papers.description import Mark
from nat.papers.reader import NOT_RUN, Reader
from nat.papers.resolved import ResolvedFigure
from nat.papers.texts import analysed
from nat.papers.values import Record

Content = dict[str, Any]
"""Parts of an analysis by what they stand for in the description of the figure."""


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
    points = content.get("points", description.points)
    return found + [base | marked(point) for point in points]


def marked(point: Mark) -> Content:
    """What a record of a named point says."""
    return {"row": point.label, "point": point.label, "x": point.x, "y": point.y, "ours": None}


def _places(content: Content, where: str) -> list[tuple[int, Any, int, Any, Any]]:
    """Number and label of the row, of the column, and the value, of each place of a matrix."""
    rows, columns, matrix = (content[name] for name in ("rows", "columns", "values"))
    try:
        return [
            (at, row, number, column, value)
            for at, (row, line) in enumerate(zip(rows, matrix, strict=True))
            for number, (column, value) in enumerate(zip(columns, line, strict=True))
        ]
    except ValueError as error:
        raise UserError(
            f"{where}: 'values' has not as many rows and columns as 'rows' and 'columns' say"
        ) from error


def _alignment(base: Content, content: Content, description: Any, where: str) -> list[Record]:
    first, second, links = (content[name] for name in ("first", "second", "links"))
    if len(links) > len(first) + 1:
        raise UserError(f"{where}: {len(links)} links, but the first text has {len(first)} words")
    beyond = [link for link in links if link is not None and link > len(second)]
    if beyond:
        raise UserError(
            f"{where}: a link to position {beyond[0]}, but the second text has {len(second)} words"
        )
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
    for number, each in enumerate(content["passes"], 1):
        if any(position >= len(each.tokens) for position in each.predicted):
            raise UserError(
                f"{where}: pass {number} has {len(each.tokens)} tokens, but chose position "
                f"{max(each.predicted)}"
            )
    return [
        base
        | {
            "row": f"pass {number}",
            "x": position,
            "category": token or "",
            "predicted": position in each.predicted,
        }
        for number, each in enumerate(content["passes"], 1)
        for position, token in enumerate(each.tokens)
    ]


_RECORDS = {"heat_map": _heat_map, "contour": _plane, "alignment": _alignment, "steps": _steps}

"""What figures show of the files of analyses: matrices, alignments, and decodings pass by pass.

Of several seeds the first that ran is shown.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, NonNegativeInt, TypeAdapter, ValidationError

from nat.cells import values
from nat.cells.entry import Entry, Records
from nat.configuration import papers as models
from nat.errors import UserError
from nat.files import read_json
from nat.spelling import hint

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
    "points": list[models.Mark],
}
_OF_PLANES: dict[str, Any] = {
    "rows": list[Number],
    "columns": list[Number],
    "values": list[list[Number | None]],
}


def read(
    scale: str,
    description: Any,
    places: Sequence[Entry],
    keys: Mapping[str, Mapping[str, str]],
    root: Path,
) -> tuple[Records, dict[str, Content]]:
    """The records of a figure that shows analyses, and what each panel shows of its analysis.

    Args:
        scale: for the records.
        description: of the figure.
        places: one for each panel.
        keys: of each panel the keys in its analysis.
        root: above the results.

    Raises:
        UserError: if an analysis does not have what is asked of it.
    """
    records: Records = []
    contents: dict[str, Content] = {}
    for entry in places:
        base = values.record(scale, entry, values.read(entry, root))
        base |= {"over": "", "collapsed": False, "point": ""}
        base |= dict.fromkeys(("ours", "low", "high", "spread"))
        cell = next((each for each in entry.cells if (root / each.score_path).exists()), None)
        if cell is None:
            records.append(base | {"status": values.NOT_RUN})
            continue
        base |= {"seeds": str(cell.seed), "sources": cell.score_path, "status": "run"}
        types = _TYPES | (_OF_PLANES if description.kind == "contour" else {})
        path = root / cell.score_path
        content = {
            name: _checked(types.get(name), analysed(path, cell.split, key), f"{path}: '{key}'")
            for name, key in keys[entry.column].items()
        }
        contents[entry.column] = content
        base |= {"remark": content.get("caption", "")}
        wrong = f"{path}: split {cell.split}, panel '{entry.column}'"
        records += _RECORDS[description.kind](base, content, description, wrong)
    return records, contents


def analysed(path: Path, split: str, key: str) -> Any:
    """A part of an analysis, by keys such as `map.cosines`.

    Raises:
        UserError: if it is missing; hints at what the analysis has.
    """
    found: Any = read_json(path)
    first, *others = key.split(".")
    # numbers stand apart from what else an analysis says of a split
    place = (first, split) if first == "measures" else ("splits", split, first)
    for part in (*place, *others):
        try:
            found = found[int(part)] if isinstance(found, list) else found[part]
        except (IndexError, KeyError, TypeError, ValueError) as error:
            known = range(len(found)) if isinstance(found, list) else found
            names = map(str, known) if isinstance(known, range | Mapping) else ()
            raise UserError(
                f"{path} has no '{key}' of the split {split}; {hint(part, names)}"
            ) from error
    return found


def _checked(kind: Any, value: Any, where: str) -> Any:
    if kind is None:
        return value
    try:
        return TypeAdapter(kind).validate_python(value)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise UserError(f"{where}{f', {place}' if place else ''}: {first['msg']}") from error


def _heat_map(base: Content, content: Content, description: Any, where: str) -> Records:
    return [
        base | {"row": str(row), "y": at, "x": number, "category": str(column), "ours": value}
        for at, row, number, column, value in _places(content, where)
    ]


def _plane(base: Content, content: Content, description: Any, where: str) -> Records:
    found = [
        base | {"row": f"{row:g}", "y": row, "x": column, "category": "", "ours": value}
        for _, row, _, column, value in _places(content, where)
        if value is not None
    ]
    points = content.get("points", description.points)
    return found + [base | marked(point) for point in points]


def marked(point: models.Mark) -> Content:
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


def _alignment(base: Content, content: Content, description: Any, where: str) -> Records:
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


def _steps(base: Content, content: Content, description: Any, where: str) -> Records:
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

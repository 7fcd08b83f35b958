"""The points of figures: records of the cells of a figure, panel by panel."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from nat.errors import UserError, told_of
from nat.measures.known import TRAINING
from nat.measures.training_curve import validations
from nat.papers import values
from nat.papers.cells import ResolvedPart, Shown
from nat.papers.reader import NOT_RUN, Reader
from nat.papers.values import Record

Content = dict[str, Any]
"""Parts of an analysis by what they stand for in the description of the figure."""
NUMBERS = [
    *("x", "y", "ours", "spread", "low", "high", "published"),
    *("x_low", "x_high", "x_published"),
]


@dataclass(frozen=True)
class Plot:
    """The points of a figure, each a record; `contents` has what panels show of analyses."""

    figure: ResolvedPart
    records: list[Record]
    contents: dict[str, Content] = field(default_factory=dict)

    @cached_property
    def frame(self) -> pd.DataFrame:
        """The records as a frame; what a paper prints in words is no number in it."""
        frame = pd.DataFrame(self.records)
        for key in frame.columns.intersection(NUMBERS):
            frame[key] = pd.to_numeric(frame[key], errors="coerce")
        return frame


def make(figure: ResolvedPart, root: Path) -> Plot:
    """Read the points of a figure from the results below a folder.

    Damaged results are UserErrors, and so is what an analysis does not have.
    """
    reader = Reader(root)
    contents: dict[str, Content] = {}
    if figure.described.kind == "curves":
        records = _curves(figure, reader)
    elif figure.keys:
        records, contents = _analysed(figure, reader)
    else:
        records = _points(figure, reader)
    names = {"paper": figure.paper, "figure": figure.number}
    return Plot(figure, [names | record for record in records], contents)


def _points(figure: ResolvedPart, reader: Reader) -> list[Record]:
    """Records of points, in scatter plots with what is shown along the horizontal axis."""
    records: list[Record] = []
    shown: Sequence[Shown] = figure.numbers
    across: Sequence[Shown | None] = [None] * len(shown)
    if figure.described.kind == "scatter":
        shown, across = shown[::2], shown[1::2]
    for each, its in zip(shown, across, strict=True):
        record = values.record(figure.scale, each, reader)
        if its is not None:
            x = values.record(figure.scale, its, reader)
            remarks = dict.fromkeys(of["remark"] for of in (record, x) if of["remark"])
            record |= {
                "x": x["ours"],
                **{f"x_{key}": x[key] for key in ("low", "high", "published", "measure")},
                "x_over": x.get("over", ""),
                "x_sources": x["sources"],
                **{key: x[key] for key in values.TIMED if key in x},
                "remark": "; ".join(remarks),
                "status": x["status"] if record["status"] == "run" else record["status"],
            }
        record["over"] = record.get("over", "")
        record["collapsed"] = any(reader.of_training(cell, "collapsed") for cell in each.own)
        records.append(record)
    return records


def _curves(figure: ResolvedPart, reader: Reader) -> list[Record]:
    """Records of the validations of each training, with their place in the chain as `x`.

    A chain ends with the first missing training, which has a record too.
    """
    records: list[Record] = []
    chains: dict[tuple[str, str], list[Shown]] = {}
    for each in figure.numbers:
        chains.setdefault((each.first.row, each.first.column), []).append(each)
    for links in chains.values():
        for position in range(len(links[0].own)):
            done = 0
            for link in links:
                base = values.record(figure.scale, link, reader) | {"over": "", "spread": None}
                cell = link.own[position]
                if not reader.ran(cell):
                    base |= {"status": NOT_RUN, "ours": None, "category": cell.model}
                    records.append(base | {"collapsed": False})
                    break
                numbers = reader.numbers(cell.path, TRAINING)
                curve = validations((reader.root / cell.path).with_suffix(".csv"))
                base |= {"collapsed": bool(numbers["collapsed"].value), "seeds": str(cell.seed)}
                base |= {"sources": cell.path}
                # the end of a training is the beginning of the next
                points = [(done + update, bleu) for update, bleu in curve if update or not done]
                records += [base | {"x": update, "ours": bleu} for update, bleu in points]
                done += int(numbers["updates"].value or 0)
    return records


# Matrices, alignments, and decodings pass by pass, of the files of analyses


def _analysed(figure: ResolvedPart, reader: Reader) -> tuple[list[Record], dict[str, Content]]:
    """Records of a figure that shows analyses, and what each panel shows of its own."""
    records: list[Record] = []
    contents: dict[str, Content] = {}
    for group in figure.numbers:
        panel, base = group.first.column, values.record(figure.scale, group, reader)
        base |= {"over": "", "collapsed": False, "point": "", **values.NO_NUMBER}
        with told_of(f"config/papers/{figure.paper}.yaml: figures.{figure.number}: "):
            said, content = reader.analysed(group, figure.keys[panel])
            base |= said
            if not content:
                records.append(base)
                continue
            try:
                records += [base | each for each in _shown(figure.described.kind, content)]
            except (LookupError, TypeError, ValueError) as error:
                where = f"{base['sources']}: split {base['split']}, panel '{panel}'"
                named = ", ".join(map(repr, figure.keys[panel].values()))
                text = f"{where}: {error}; are {named} parts of one example?"
                raise UserError(text) from error
        contents[panel] = content
    return records, contents


def _shown(kind: str, content: Content) -> Iterator[Record]:
    """What the records of a panel of this kind say beyond what all of them do."""
    match kind:
        case "heat_map":
            rows, columns = content["rows"], content["columns"]
            for y, (row, line) in enumerate(zip(rows, content["values"], strict=True)):
                for x, (column, value) in enumerate(zip(columns, line, strict=True)):
                    at = {"row": str(row), "y": y, "x": x, "category": str(column)}
                    yield at | {"ours": value}
        case "contour":
            rows, columns = (list(map(float, content[name])) for name in ("rows", "columns"))
            for up, line in zip(rows, content["values"], strict=True):
                for across, value in zip(columns, line, strict=True):
                    if value is not None:
                        at = {"row": f"{up:g}", "y": up, "x": across, "category": ""}
                        yield at | {"ours": value}
            for point in content.get("points", ()):
                name, place = point["label"], {"x": point["x"], "y": point["y"]}
                yield {"row": name, "point": name, "ours": None} | place
        case "alignment":
            # behind each text lies its end
            first, second = [*content["first"], ""], [*content["second"], ""]
            for x, y in enumerate(content["links"]):
                word = "" if y is None else second[y]
                yield {"row": first[x], "x": x, "y": y, "category": word}
        case "steps":
            for number, each in enumerate(content["passes"], 1):
                for x, token in enumerate(each["tokens"]):
                    at = {"row": f"pass {number}", "x": x, "category": token or ""}
                    yield at | {"predicted": x in each["predicted"]}

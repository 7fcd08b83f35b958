"""The points of figures: records of the cells of a figure, panel by panel."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from nat.errors import told_of
from nat.figures import analyses
from nat.measures.known import TRAINING
from nat.measures.training_curve import Validations, chain, validations
from nat.papers import values
from nat.papers.cells import Cell, place, shown
from nat.papers.description import Part
from nat.papers.reader import NOT_RUN, Reader
from nat.papers.resolved import ResolvedFigure
from nat.papers.values import Record


@dataclass(frozen=True)
class Plot:
    """What a figure shows.

    Attributes:
        figure: of which it is.
        records: one for each point.
        contents: of each panel that shows an analysis and was run, what it shows of it.
    """

    figure: ResolvedFigure
    records: list[Record]
    contents: dict[str, dict[str, Any]] = field(default_factory=dict)

    @property
    def description(self) -> Part:
        """How it is drawn."""
        return self.figure.description


def make(figure: ResolvedFigure, root: Path) -> Plot:
    """Read the points of a figure from the results below a folder.

    Raises:
        UserError: for damaged results.
    """
    reader, description = Reader(root), figure.description
    contents: dict[str, dict[str, Any]] = {}
    if description.kind == "curves":
        records = _curves(figure.scale, figure.cells, reader)
    elif figure.keys:
        with told_of(f"config/papers/{figure.paper}.yaml: figures.{figure.number}: "):
            records, contents = analyses.read(figure, reader)
    else:
        records = _points(figure.scale, figure.cells, reader)
    names = {"paper": figure.paper, "figure": figure.number}
    return Plot(figure, [names | record for record in records], contents)


def _points(scale: str, cells: Sequence[Cell], reader: Reader) -> list[Record]:
    """Records of points, in scatter plots with what is shown along the horizontal axis."""
    records: list[Record] = []
    across: dict[tuple[Any, ...], Record] = {}
    groups = shown(cells)
    for own, over in groups.values():
        if own[0].axis == "x":
            across[place(own[0])[:-1]] = values.record(scale, own, over, reader)
    for own, over in groups.values():
        if own[0].axis == "x":
            continue
        found = values.record(scale, own, over, reader)
        if place(own[0])[:-1] in across:
            found |= _across(found, across[place(own[0])[:-1]])
        found["over"] = found.get("over", "")
        found["collapsed"] = any(reader.of_training(cell, "collapsed") for cell in own)
        records.append(found)
    return records


def _across(found: Record, across: Record) -> Record:
    """What a record says of the horizontal axis of a scatter plot."""
    remarks = dict.fromkeys(each["remark"] for each in (found, across) if each["remark"])
    missing = found["status"] == "run" and across["status"] != "run"
    return {
        "x": across["ours"],
        "x_low": across["low"],
        "x_high": across["high"],
        "x_published": across["published"],
        "x_measure": across["measure"],
        "x_over": across.get("over", ""),
        "x_sources": across["sources"],
        **{key: across[key] for key in values.TIMED if key in across},
        "remark": "; ".join(remarks),
        "status": across["status"] if missing else found["status"],
    }


def _curves(scale: str, cells: Sequence[Cell], reader: Reader) -> list[Record]:
    """One record per validation of each training, with its place in the chain as `x`.

    A chain ends with the first missing training, which has a record too.
    """
    records: list[Record] = []
    chains: dict[tuple[str, str], list[list[Cell]]] = {}
    for own, _ in shown(cells).values():
        chains.setdefault((own[0].row, own[0].column), []).append(own)
    for links in chains.values():
        for position in range(len(links[0])):
            runs: list[tuple[int, Validations]] = []
            for own in links:
                base = values.record(scale, own, [], reader) | {"over": "", "spread": None}
                cell = own[position]
                if not reader.ran(cell):
                    base |= {"status": NOT_RUN, "ours": None, "category": cell.model}
                    records.append(base | {"collapsed": False})
                    break
                numbers = reader.numbers(cell.path, TRAINING)
                before = len(chain(runs))
                curve = validations((reader.root / cell.path).with_suffix(".csv"))
                runs.append((int(numbers["updates"].value or 0), curve))
                base |= {"collapsed": bool(numbers["collapsed"].value), "seeds": str(cell.seed)}
                base |= {"sources": cell.path}
                points = chain(runs)[before:]
                records += [base | {"x": update, "ours": value} for update, value in points]
    return records

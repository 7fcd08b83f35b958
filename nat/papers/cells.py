"""Cells: numbers with an address, the rows of the relation of a paper."""

from collections.abc import Iterable
from typing import Any, NamedTuple

import pandas as pd
from pydantic_core import CoreSchema, core_schema

from nat.artifact import artifact_of
from nat.artifacts import Artifact, TrainingRecord
from nat.measures.known import MEASURES, TOYS
from nat.papers.published import OWN as OWN_RUNS
from nat.papers.published import Published

QUOTED, COMPUTED = "only quoted", "derived"
"""Why a cell has no number of ours: the paper quotes it, or it is computed from others."""
OWN, OVER = "own", "over"
"""Roles of a cell: what is shown, and what it is shown over."""
TEACHER, STUDENT = "teacher", "student"
"""Columns of a table of samples."""


class Derivation(NamedTuple):
    """An operation and the cells that it takes, by row and column; of a correlation in pairs."""

    operation: str
    of: tuple[tuple[str, str], ...]


class Cell(NamedTuple):
    """A number with an address.

    The cells of a report that differ in nothing but seed and draw are shown as their mean. A cell
    of a system that is only quoted, of a task that the scale has no corpus for, and one that is
    computed from others have no source; `reason` says which.

    Attributes:
        report: such as `table 2`; of claims `claims`.
        row: label of a row, in figures of a series.
        column: label of a column, in figures of a panel.
        x: place on the horizontal axis, with a name in `category` where that is no number.
        y: place on the vertical axis of a plane.
        point: number of the point of a series in a scatter plot.
        axis: along which it is shown: `x` for the horizontal one of a scatter plot.
        role: `OVER` if others are shown over it.
        system: as the configuration calls it.
        model: the system of the same training on this corpus.
        seed: of the training; 0 without a source.
        source: the result with the number.
        part: of that file, see `nat.measures.results`.
        baseline: label of the row that a table tests this one against.
        interval: whether a table shows the interval, too.
        hidden: whether a table shows nothing here, but computes others from it.
        published: the printed number, or the printed words where it is none.
        printed: as the paper prints it.
        origin: of the printed value.
        stand_in: how the cell differs from the paper's; empty where it does not.
    """

    paper: str
    report: str
    row: str
    column: str
    measure: str
    task: str
    group: str = ""
    x: float | None = None
    y: float | None = None
    category: str = ""
    point: int = 0
    axis: str = "y"
    role: str = OWN
    system: str = ""
    decoding: str = ""
    split: str = ""
    setting: str = ""
    partner: str = ""
    corpus: str = ""
    model: str = ""
    seed: int = 0
    source: Artifact | None = None
    path: str = ""
    part: str = ""
    baseline: str = ""
    interval: bool = False
    hidden: bool = False
    published: float | str | None = None
    printed: str = ""
    origin: str = ""
    stand_in: str = ""
    reason: str = ""
    derived: Derivation | None = None

    @property
    def address(self) -> tuple[str, ...]:
        """What the number is, whatever shows it."""
        names = self.system, self.task, self.decoding, self.split
        return (*names, self.measure, self.setting, self.partner)

    @property
    def where(self) -> tuple[Any, ...]:
        """What the cells have in common that are shown as one mean."""
        names = self.report, self.row, self.column, self.x, self.y, self.category
        return (*names, self.point, self.axis)

    @property
    def is_own(self) -> bool:
        """Whether a printed value is from the paper's own runs, not quoted from another paper."""
        return f"; {OWN_RUNS}" in self.origin

    @property
    def of_training(self) -> list[Artifact]:
        """The record of the training of the model; of a toy there is none."""
        if self.source is None or MEASURES[self.measure].source in TOYS:
            return []
        run: str = self.source.run  # type: ignore[attr-defined]
        return [TrainingRecord(run, self.corpus, self.model, self.seed)]

    @property
    def results(self) -> list[Artifact]:
        """The results that are read for the number."""
        return [] if self.source is None else [self.source]

    def as_json(self) -> dict[str, Any]:
        """What is known of it, JSON-able; the path is that of the source."""
        known = {**self._asdict(), "path": "", "source": self.source and self.source.as_json()}
        default = self._field_defaults
        return {key: each for key, each in known.items() if each != default.get(key)}

    @classmethod
    def of(cls, written: Any) -> "Cell":
        """The cell that `as_json` describes, or that is given."""
        if isinstance(written, cls):
            return written
        found = {**written}
        if "source" in found:
            found["source"] = artifact_of(found["source"])
            found["path"] = found["source"].path
        if "derived" in found:
            operation, of = found["derived"]
            found["derived"] = Derivation(operation, tuple(map(tuple, of)))
        return cls(**found)

    @classmethod
    def __get_pydantic_core_schema__(cls, *_: Any) -> CoreSchema:
        """How pydantic reads and writes a cell as a part of something."""
        written = core_schema.plain_serializer_function_ser_schema(cls.as_json)
        return core_schema.no_info_plain_validator_function(cls.of, serialization=written)

    def with_published(self, value: "Published | Cell | None") -> "Cell":
        """The cell with a printed value, or with that of another cell."""
        if value is None or self.role == OVER:
            return self
        if isinstance(value, Published):
            number = value.text if value.value is None else value.value
            return self._replace(published=number, printed=value.text, origin=value.origin)
        own = {key: getattr(value, key) for key in ("published", "printed", "origin")}
        return self._replace(**own)


def frame(cells: Iterable[Cell]) -> pd.DataFrame:
    """Make a frame with a row for each cell."""
    return pd.DataFrame(list(cells), columns=Cell._fields, dtype=object)


def cells_of(selected: pd.DataFrame) -> list[Cell]:
    """List the rows of a frame as cells."""
    return [Cell(*row) for row in selected[list(Cell._fields)].itertuples(index=False, name=None)]


Groups = dict[tuple[Any, ...], tuple[list[Cell], list[Cell]]]
"""Cells that are shown as one mean, by where, each with those that they are shown over."""


def shown(cells: Iterable[Cell]) -> Groups:
    """Group cells that are shown as one mean, in order."""
    found: Groups = {}
    for cell in cells:
        found.setdefault(cell.where, ([], []))[cell.role == OVER].append(cell)
    return found

"""Cells: numbers with an address, the rows of the relation of a paper."""

from collections.abc import Callable, Mapping
from typing import Annotated, Any, NamedTuple

from pydantic import PlainSerializer, PlainValidator

from nat.artifact import Artifact, artifact_of
from nat.artifacts import TrainingRecord
from nat.measures.known import MEASURES, TOYS

QUOTED, COMPUTED = "only quoted", "derived"
"""Reasons for having no number of ours: the paper quotes it, or others make it."""
TEACHER, STUDENT = "teacher", "student"
"""Columns of a table of samples, by turns."""
Source = Annotated[
    Artifact | None,
    PlainSerializer(lambda source: source and source.as_json()),
    PlainValidator(lambda written: artifact_of(written) if isinstance(written, dict) else written),
]


class Derivation(NamedTuple):
    """An operation and the cells that it takes, by row and column; of a correlation in pairs."""

    operation: str
    of: tuple[tuple[str, str], ...]


class Cell(NamedTuple):
    """A number with an address.

    Cells that differ in nothing but seed and draw are shown as their mean. Where a cell has no
    source, `reason` says why.

    Attributes:
        row: label of a row or series; `column` is that of a column or panel.
        x: place on the horizontal axis, with a name in `category` where that is no number.
        system: as the configuration calls it; `model` is that of the same training.
        part: of the file of the source, see `nat.measures.results`.
        baseline: label of the row that a table tests this one against.
        published: the printed number, or the words where it is none; `printed` is the text.
        stand_in: how the cell differs from the paper's; empty where it does not.
    """

    row: str
    column: str
    measure: str
    task: str
    group: str = ""
    x: int | float | None = None
    category: str = ""
    system: str = ""
    decoding: str = ""
    split: str = ""
    setting: str = ""
    partner: str = ""
    corpus: str = ""
    model: str = ""
    seed: int = 0
    source: Source = None
    part: str = ""
    baseline: str = ""
    published: float | str | None = None
    printed: str = ""
    origin: str = ""
    stand_in: str = ""
    reason: str = ""
    derived: Derivation | None = None

    @property
    def path(self) -> str:
        """The file with the number; empty without a source."""
        return "" if self.source is None else self.source.path

    @property
    def address(self) -> tuple[str, ...]:
        """Identity of the number, whatever shows it."""
        names = self.system, self.task, self.decoding, self.split
        return (*names, self.measure, self.setting, self.partner)


class Shown(NamedTuple):
    """Cells that are shown or compared as one mean, and those that they are shown over."""

    own: tuple[Cell, ...]
    over: tuple[Cell, ...] = ()

    @property
    def first(self) -> Cell:
        """The first of them; all have its address."""
        return self.own[0]

    @property
    def label(self) -> str:
        """The row that they are in or, in a claim, their name."""
        return self.first.row

    @property
    def cells(self) -> tuple[Cell, ...]:
        """All of them."""
        return self.own + self.over

    def each(self, change: Callable[[Cell], Cell]) -> "Shown":
        """The same with each cell changed."""
        return Shown(tuple(map(change, self.own)), tuple(map(change, self.over)))

    def changed(self, **fields: Any) -> "Shown":
        """The same with these fields of each cell."""
        return self.each(lambda cell: cell._replace(**fields))

    def with_published(self, printed: Any) -> "Shown":
        """The same with the printed value of a line of a published file, or of another cell."""
        if printed is None:
            return self
        value = {key: getattr(printed, key) for key in ("published", "printed", "origin")}
        return self._replace(own=tuple(cell._replace(**value) for cell in self.own))


def identity(cell: Cell, called: str) -> tuple[str, ...]:
    """The number of a cell, or of one that is only quoted its row, task and measure."""
    return cell.address if cell.system else (called, cell.task, cell.measure)


def quoting(shown: Shown, printed: Mapping[tuple[str, ...], Cell]) -> Shown:
    """A point with the published value of its address, or the difference of two."""
    value = printed.get(shown.first.address) if shown.first.system else None
    if value is not None and shown.over and not MEASURES[shown.first.measure].relative:
        other = printed.get(shown.over[0].address)
        if other is None or isinstance(value.published, str) or isinstance(other.published, str):
            return shown
        difference = round((value.published or 0.0) - (other.published or 0.0), 6)
        origin = f"{value.origin}; minus {other.origin}"
        text = f"{difference:+g}"
        value = value._replace(published=difference, printed=text, origin=origin)
    return shown.with_published(value)


def training_of(cell: Cell) -> TrainingRecord | None:
    """The record of the training of the model; of a toy there is none."""
    if cell.source is None or MEASURES[cell.measure].source in TOYS:
        return None
    run = vars(cell.source)["run"]
    return TrainingRecord(run, cell.corpus, cell.model, cell.seed)

"""Cells: numbers with an address, the rows of the relation of a paper; and what is made of them.

A table, a figure or the claims of a paper at one scale are resolved in the main process of a run,
`nat.papers.reports.resolve`. What makes reports, in jobs and for pages, is handed them as JSON and
reads nothing of the configuration.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple

from pydantic import PlainSerializer, PlainValidator

from nat.artifact import Artifact, artifact_of
from nat.artifacts import TrainingRecord
from nat.measures.known import MEASURES, TOYS
from nat.options import StrictModel
from nat.papers.description import FigurePart, Line, TablePart

QUOTED, COMPUTED = "only quoted", "derived"
"""Reasons for having no number of ours: the paper quotes it, or others make it."""
TEACHER, STUDENT = "teacher", "student"
"""Columns of a table of samples, by turns."""
MAJORITY = "majority"
TREND = {"rising": "above", "falling": "below", "flat": "about"}
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


# Reports


class ResolvedPart(StrictModel):
    """A table or figure.

    Attributes:
        title: with that of the paper.
        origin: scale and corpora of its numbers.
        rows: what each row or series is made from, by label in order.
        columns: the same of columns or panels.
        numbers: their cells, with published values.
        keys: by row: of a table of texts the key of the `text` in the file of its analysis, of
            samples the files with the `source` and the `reference`, and the `unit` of BLEU. By
            panel of a figure: the keys in the file of its analysis, by what they stand for.
        settings: the records of a table of settings, which needs no results.
    """

    paper: str
    scale: str
    title: str
    number: str
    origin: str
    described: TablePart | FigurePart
    rows: dict[str, Line]
    columns: dict[str, Line]
    numbers: list[Shown]
    keys: dict[str, dict[str, str]]
    settings: list[dict[str, Any]]


@dataclass(frozen=True)
class Check:
    """One judgement: a claim, the case it is judged on, and what it compares, in order.

    Sides of `gains` are by turns those of a system and of the other one, of a `correlation` those
    of one measure and of the other, of a `majority` the left and the right one of each case.

    Attributes:
        share: whether the margin is a share of the right side.
        number: that the only side is compared with; None where sides are compared.
        against_all: whether BLEU against all references decides it, which is fixed before there are
            results; BLEU against one also depends on which correct translation it happens to be.
    """

    claim: str
    case: str
    text: str
    source: str
    kind: str
    relation: str
    margin: float
    sides: tuple[Shown, ...]
    share: bool = False
    number: float | None = None
    against_all: bool = False

    @property
    def relations(self) -> str:
        """Relation of each difference of the check to its margin."""
        if self.kind in ("largest", "gains"):
            return "above"
        return TREND.get(self.relation, self.relation)

    @property
    def cells(self) -> list[Cell]:
        """All cells that it compares."""
        return [cell for side in self.sides for cell in side.cells]

    @property
    def pairs(self) -> list[tuple[Shown, Shown | float]]:
        """The sides whose differences it is about; of a trend, last, also its ends.

        Those of a correlation do not form pairs.
        """
        sides = self.sides
        if self.kind == "compare":
            return [(sides[0], sides[1] if len(sides) > 1 else float(self.number or 0))]
        if self.kind == "trend":
            return [*zip(sides[1:], sides, strict=False), (sides[-1], sides[0])]
        if self.kind == "largest":
            named = next(side for side in sides if side.label == self.relation)
            return [(named, side) for side in sides if side is not named]
        return list(zip(sides[::2], sides[1::2], strict=True))


class ResolvedClaims(StrictModel):
    """The claims of a paper, and in sentences where the configuration deviates from it."""

    paper: str
    scale: str
    title: str
    checks: list[Check]
    trainings: int
    deviations: list[str]

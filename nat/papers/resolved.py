"""Content of a table, a figure or the claims of a paper at one scale, as JSON.

`nat.papers.reports.resolve` makes it in the main process of a run. What makes reports, in jobs and
for pages, is handed it and reads nothing of the configuration.
"""

from dataclasses import dataclass
from typing import Any

from nat.options import StrictModel
from nat.papers.cells import Cell, Shown
from nat.papers.description import FigurePart, Line, TablePart

MAJORITY = "majority"
TREND = {"rising": "above", "falling": "below", "flat": "about"}


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

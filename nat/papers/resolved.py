"""What a table, a figure or the claims of a paper show at one scale, as JSON.

The main process of a run resolves the descriptions of `config/papers`, see
`nat.papers.reports.resolve`. Everything else that makes reports, in jobs and for pages, is handed
the result and reads nothing of the configuration.
"""

from typing import Any

from nat.options import StrictModel
from nat.papers.cells import Cell
from nat.papers.checks import Check
from nat.papers.description import FigurePart


class Resolved(StrictModel):
    """A table or figure whose coordinates are cells, or the claims of a paper.

    Attributes:
        paper: name of its file.
        scale: that the numbers are of.
        title: with that of the paper.
    """

    paper: str
    scale: str
    title: str


class ResolvedPart(Resolved):
    """A table or figure.

    Attributes:
        number: its name in the paper.
        origin: scale and corpora of its numbers.
        cells: with their published values.
        keys: by row: of a table of texts the key of the `text` in the file of its analysis, of
            samples the files with the `source` and the `reference`. By panel of a figure: the keys
            in the file of its analysis, by what they stand for.
    """

    number: str
    origin: str
    cells: list[Cell]
    keys: dict[str, dict[str, str]]


class ResolvedTable(ResolvedPart):
    """A table.

    Attributes:
        kind: as its description has it.
        footnotes: row, column (one of them may be empty) and text of each.
        notes: below it.
        intervals: labels of the columns with intervals.
        hidden: labels of the columns that only serve to compute others.
        settings: the records of a table of settings, which needs no results.
    """

    kind: str
    footnotes: list[tuple[str, str, str]]
    notes: list[str]
    intervals: list[str]
    hidden: list[str]
    settings: list[dict[str, Any]]


class ResolvedFigure(ResolvedPart):
    """A figure: how it is drawn, the labels of its panels, and the style of each series."""

    description: FigurePart
    panels: list[str]
    series: dict[str, str | None]


class ResolvedClaims(Resolved):
    """The claims of a paper.

    Attributes:
        checks: one for each judgement.
        trainings: of each system.
        deviations: where the configuration differs from what the paper states, in sentences.
    """

    checks: list[Check]
    trainings: int
    deviations: list[str]

    @property
    def about(self) -> str:
        """The scale, and how many trainings of each system the judgements are about."""
        trainings = "one training" if self.trainings == 1 else f"{self.trainings} trainings"
        return f"scale {self.scale}, {trainings} of each system"

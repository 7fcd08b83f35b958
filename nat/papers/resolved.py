"""Content of a table, a figure or the claims of a paper at one scale, as JSON.

The main process of a run resolves the descriptions of `config/papers`, see
`nat.papers.reports.resolve`. Everything else that makes reports, in jobs and for pages, is handed
the result and reads nothing of the configuration.
"""

from typing import Any

from nat.options import StrictModel
from nat.papers.cells import Cell
from nat.papers.checks import Check
from nat.papers.description import FigurePart, Line, TablePart


class Resolved(StrictModel):
    """A table or figure, or the claims of a paper; the title has that of the paper."""

    paper: str
    scale: str
    title: str


class ResolvedPart(Resolved):
    """A table or figure.

    Attributes:
        origin: scale and corpora of its numbers.
        rows: what each row or series is made from, by label in order.
        columns: the same of columns or panels.
        cells: with their published values.
        keys: by row: of a table of texts the key of the `text` in the file of its analysis, of
            samples the files with the `source` and the `reference`. By panel of a figure: the keys
            in the file of its analysis, by what they stand for.
        settings: the records of a table of settings, which needs no results.
    """

    number: str
    origin: str
    described: TablePart | FigurePart
    rows: dict[str, Line]
    columns: dict[str, Line]
    cells: list[Cell]
    keys: dict[str, dict[str, str]]
    settings: list[dict[str, Any]]


class ResolvedClaims(Resolved):
    """The claims of a paper, and in sentences where the configuration deviates from it."""

    checks: list[Check]
    trainings: int
    deviations: list[str]

    @property
    def about(self) -> str:
        """The scale, and how many trainings of each system the judgements are about."""
        trainings = "one training" if self.trainings == 1 else f"{self.trainings} trainings"
        return f"scale {self.scale}, {trainings} of each system"

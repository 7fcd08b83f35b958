"""Tables and figures as grids of cells, resolved from `config/papers/*.yaml`.

A cell is one number: a measure of a system on one task's corpus, most often of one decoding of one
split. Its coordinates come from several places, later ones overriding earlier ones: the paper's
`cells`, the system that the paper names, the `cells` of the table, and its column and row (in
figures: panel, series and point). It is an error if a row and a column give the same coordinate or
variable differently. Coordinates are templates, in which variables such as `{steps}` are replaced.

The files that a cell needs follow from the configuration alone, so the graph knows them before
anything has run.

Here are the places of any table or figure, and what claims can name in them. The parts are in
`coordinates` (products of lists), `entry` (a place), `resolver` (from coordinates to cells),
`table_places`, `figure_places` and `timing` (what is timed together).
"""

from functools import cache

from nat.cells import figure_places, table_places, timing
from nat.cells.coordinates import Chosen
from nat.cells.entry import Entry
from nat.cells.resolver import Kind, Resolver, describe
from nat.configuration import Configuration
from nat.configuration import papers as models


def entries(configuration: Configuration, paper: str, kind: Kind, number: str | int) -> list[Entry]:
    """The places of a table or figure, row by row; a table of settings has none.

    Raises:
        UserError: for a table, system, decoding, measure, baseline or published value that does
            not exist; names the file and the key.
    """
    return list(_entries(configuration, paper, kind, str(number)))


@cache
def _entries(
    configuration: Configuration, paper: str, kind: Kind, number: str
) -> tuple[Entry, ...]:
    return timing.grouped(configuration, paper, kind, number)


def lines_of(
    configuration: Configuration, paper: str, kind: Kind, number: str | int
) -> tuple[dict[str, Chosen], tuple[str, ...]]:
    """What claims can name in a table or figure.

    Returns:
        Coordinates of rows, series and points by label, and the labels of the points (of a table,
        those of the rows that are run), in order.
    """
    description = describe(configuration, paper, kind, number)
    resolver = Resolver(configuration, paper, f"{kind}s.{number}")
    if isinstance(description, models.Grid):
        rows, _, _ = table_places.grid(resolver, description, str(number))
        return (
            {row.label: row.chosen for row in rows},
            tuple(row.label for row in rows if not row.quoted and row.derived is None),
        )
    return figure_places.named_points(resolver, description)

"""A place of a table or figure: its labels, its cells and its published value."""

from dataclasses import dataclass
from typing import Any, NamedTuple

from nat.cells.cell import Cell
from nat.cells.known_measures import MEASURES, Measure
from nat.published.published import Published

Records = list[dict[str, Any]]
"""Places with what is known of them, as in the CSV of a table or figure."""

QUOTED = "only quoted"
DERIVED = "derived"
DERIVED_MEASURES = {
    "ratio": Measure("ratio", "", 2),
    "correlation": Measure("r", "", 3),
    "absolute_correlation": Measure("|r|", "", 3),
}
"""Units of derived places; differences and means have that of what they are made of."""


class Address(NamedTuple):
    """The names behind a place; those that its measure does not need are empty."""

    system: str
    task: str
    decoding: str
    split: str
    measure: str
    setting: str
    partner: str


@dataclass(frozen=True)
class Entry:
    """A place of the grid: its labels, its cells (one per seed) and its published value.

    `cells` is empty for a system that is only quoted, and where the scale has no corpus for the
    task; `reason` says which. `stand_in` says how the place differs from the paper's, and is empty
    where it does not. In figures `row` is the series, `column` the panel, and `x` the place on the
    horizontal axis, with a name in `category` where that is no number; `y` is the place on the
    vertical axis of a plane. Where differences are shown, `over` holds the cells that are
    subtracted. `address` is `None` for a quoted row. `derived` says how a place is computed from
    others of its table.
    """

    row: str
    column: str
    group: str
    task: str
    measure: str
    cells: tuple[Cell, ...]
    published: Published | None
    stand_in: str
    reason: str
    baseline: str
    x: float | None = None
    y: float | None = None
    category: str = ""
    over: tuple[Cell, ...] = ()
    address: Address | None = None
    over_address: Address | None = None
    derived: "Derivation | None" = None
    across: "Entry | None" = None
    """The place that is shown along the horizontal axis, where that is a measure."""


def measure_of(name: str) -> Measure:
    """A measure, or the unit of a derived place."""
    return DERIVED_MEASURES[name] if name in DERIVED_MEASURES else MEASURES[name]


@dataclass(frozen=True)
class Derivation:
    """An operation, and the places (row, column) that it takes; of a correlation pairs of them."""

    operation: str
    places: tuple[tuple[str, str], ...]

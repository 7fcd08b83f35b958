"""Pages of the report and their parts, which the templates lay out, and their paths.

All addresses are below the folder of the report; the templates say how a page gets there.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from matplotlib.ticker import MaxNLocator

OVERVIEW = "index.html"
SYSTEMS = "systems/index.html"
SENTENCES = "sentences.html"
COMPLETE, PART, NOTHING = "badge complete", "badge part", "badge nothing"
"""Looks of entries that say how much of something exists."""
OLDER = "older configuration"
"""Remark below a number that is not of today's configuration."""


def of_paper(name: str) -> str:
    """Path of the page of a paper, below the folder of the report."""
    return f"papers/{name}.html"


def of_system(corpus: str, name: str) -> str:
    """Path of the page of a system on a corpus."""
    return f"systems/{corpus}/{name}.html"


@dataclass(frozen=True)
class Entry:
    """An entry of a table, or how much of something exists."""

    text: str
    small: Sequence[str] = ()  # texts below it
    link: str = ""
    look: str = ""  # classes of the style sheet
    title: str = ""  # of the details
    details: Sequence[tuple[str, str, str]] = ()  # said on demand, see `nat.report.papers`

    @classmethod
    def number(cls, value: float | None, how: str) -> "Entry":
        """Make an entry of a number in a format, empty without one."""
        return cls("" if value is None else f"{value:{how}}", look="number")

    @classmethod
    def share(cls, there: int, of: int, all_of_it: str = "complete", unit: str = "") -> "Entry":
        """Make an entry that says how much exists."""
        if there == of:
            return cls(all_of_it, look=COMPLETE)
        return cls(f"{there} of {of}{unit}", look=PART) if there else cls("not run", look=NOTHING)


Row = Sequence[Entry | str]


def ticks(curves: Collection[Sequence[Sequence[float]]]) -> list[list[float]]:
    """Round numbers for both axes of a chart, from 0 to beyond all points."""
    points = [point for curve in curves for point in curve]
    ends = (max(1.0, *(point[axis] for point in points)) for axis in (0, 1))
    return [list(MaxNLocator(5).tick_values(0, end)) for end in ends]


@dataclass(frozen=True)
class Section:
    """A part of a page, of which most have only some of these."""

    name: str  # by which links lead to it
    title: str
    text: str = ""
    state: Entry | None = None
    columns: Sequence[str] = ()
    rows: Sequence[Row] = ()
    folded: str = ""  # in place of the rows, which are shown on demand
    picture: str = ""
    # updates and values of trainings, by the title of the chart and the name of the curve
    curves: Mapping[str, Mapping[str, Sequence[Sequence[float]]]] = field(default_factory=dict)
    code: str = ""  # shown on demand
    notes: Sequence[str] = ()
    files: Mapping[str, str] = field(default_factory=dict)  # addresses by format
    command: str = ""  # that makes it


@dataclass(frozen=True)
class Page:
    """A page, laid out by a template that extends `base.html`."""

    path: str
    title: str
    lead: str
    sections: Sequence[Section] = ()
    facts: Sequence[str] = ()
    stand_ins: str = ""  # corpora that its numbers are of, in place of those of the papers
    state: Entry | None = None
    command: str = ""
    contents: bool = False  # whether a list of the sections stands on top
    content: Mapping[str, Any] = field(default_factory=dict)  # more that the template shows
    template: str = "page.html"

"""What a page of the report consists of, and where pages lie; the templates lay them out."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

OVERVIEW = "index.html"
SYSTEMS = "systems/index.html"
SENTENCES = "sentences.html"
COMPLETE, PART, NOTHING = "badge complete", "badge part", "badge nothing"
"""Looks of entries that say how much of something exists."""
OLDER = "older configuration"
"""What is said below a number that is not of today's configuration."""


def of_paper(name: str) -> str:
    """Path of the page of a paper, below the folder of the report."""
    return f"papers/{name}.html"


def of_system(corpus: str, name: str) -> str:
    """Path of the page of a system on a corpus."""
    return f"systems/{corpus}/{name}.html"


def root_of(path: str) -> str:
    """Relative path from a page to the folder of the report."""
    return "../" * path.count("/")


@dataclass(frozen=True)
class Entry:
    """An entry of a table.

    Attributes:
        sort: the number that it is sorted by instead of the text; empty where there is none.
        small: texts below it.
        link: address that it leads to.
        details: a title and lines that are said on demand, see `nat.report.details`.
        look: classes of the style sheet.
    """

    text: str
    sort: float | str | None = None
    small: Sequence[str] = ()
    link: str = ""
    details: Mapping[str, Any] | None = None
    look: str = ""


Row = Sequence[Entry | str]


def number(value: float | None, how: str) -> Entry:
    """Entry of a number in a format, empty without one."""
    return (
        Entry("", "", look="number")
        if value is None
        else Entry(f"{value:{how}}", value, look="number")
    )


@dataclass(frozen=True)
class Section:
    """A part of a page, of which most have only some of these.

    Attributes:
        name: by which links lead to it.
        state: how much of it exists.
        columns: headings of its table.
        above: headings of several columns, each with their number.
        rows: of the table; with a picture, its points.
        picture: address of a figure or of learning curves.
        code: to be shown on demand.
        files: addresses of what can be downloaded, by format.
        command: that makes it.
    """

    name: str
    title: str
    text: str = ""
    state: Entry | None = None
    columns: Sequence[str] = ()
    above: Sequence[tuple[str, int]] = ()
    rows: Sequence[Row] = ()
    picture: str = ""
    code: str = ""
    notes: Sequence[str] = ()
    files: Mapping[str, str] = field(default_factory=dict)
    command: str = ""


@dataclass(frozen=True)
class Page:
    """A page.

    Attributes:
        path: below the folder of the report, with `/`.
        facts: below the lead.
        warning: what its numbers are not.
        state: how much of what it shows exists.
        command: that makes all of it.
        contents: whether a list of its sections stands on top.
        content: more that its template shows.
        template: a file of `templates/`, which extends `base.html`.
    """

    path: str
    title: str
    lead: str
    sections: Sequence[Section] = ()
    facts: Sequence[str] = ()
    warning: str = ""
    state: Entry | None = None
    command: str = ""
    contents: bool = False
    content: Mapping[str, Any] = field(default_factory=dict)
    template: str = "page.html"

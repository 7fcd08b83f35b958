"""What a page of the report consists of; the templates lay it out."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from markupsafe import Markup

COMPLETE, PART, NOTHING = "badge complete", "badge part", "badge nothing"
"""Looks of entries that say how much of something exists."""
OLDER = "older configuration"
"""What is said below a number that is not of today's configuration."""


@dataclass(frozen=True)
class Entry:
    """An entry of a table.

    Attributes:
        text: that it shows.
        sort: the number that it is sorted by instead of the text; empty where there is none.
        small: texts below it.
        link: address that it leads to.
        details: the number in `Details.numbers` that is said of it on demand.
        look: classes of the style sheet.
    """

    text: str
    sort: float | str | None = None
    small: Sequence[str] = ()
    link: str = ""
    details: int | None = None
    look: str = ""


@dataclass(frozen=True)
class Section:
    """A part of a page, of which most have only some of these.

    Attributes:
        name: by which links lead to it.
        title: its heading.
        text: below the heading.
        state: how much of it exists.
        columns: headings of its table.
        above: headings of several columns, each with their number.
        rows: of the table.
        picture: address of a figure, whose points are the table.
        drawings: to be shown beside each other.
        code: to be shown on demand.
        notes: below all this.
        files: addresses of what can be downloaded, by format.
        command: that makes it.
    """

    name: str
    title: str
    text: str = ""
    state: Entry | None = None
    columns: Sequence[str] = ()
    above: Sequence[tuple[str, int]] = ()
    rows: Sequence[Sequence[Entry | str]] = ()
    picture: str = ""
    drawings: Sequence[Markup] = ()
    code: str = ""
    notes: Sequence[str] = ()
    files: Mapping[str, str] = field(default_factory=dict)
    command: str = ""


@dataclass(frozen=True)
class Page:
    """A page.

    Attributes:
        path: below the folder of the report, with `/`.
        title: its heading.
        lead: what it is about.
        sections: its parts.
        facts: below the lead.
        warning: what its numbers are not.
        state: how much of what it shows exists.
        command: that makes all of it.
        details: of its numbers, for its script.
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
    details: Mapping[str, Any] | None = None
    content: Mapping[str, Any] = field(default_factory=dict)
    template: str = "page.html"

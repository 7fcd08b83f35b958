"""A page of the report, before it is written."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Page:
    """A page.

    Attributes:
        path: below the folder of the report, with `/`.
        title: its heading.
        template: a file of `templates/`, which extends `base.html`.
        content: what the template shows.
    """

    path: str
    title: str
    template: str
    content: Mapping[str, Any]


def root_of(path: str) -> str:
    """The relative path from a page to the folder of the report."""
    return "../" * path.count("/")

"""Where the pages of the report lie, below its folder."""

from collections.abc import Mapping
from typing import Any

OVERVIEW = "index.html"
SYSTEMS = "systems/index.html"
SENTENCES = "sentences.html"


def paper(name: str) -> str:
    """The page of a paper."""
    return f"papers/{name}.html"


def section(kind: str, number: str) -> str:
    """The section of a table, figure or the claims on the page of its paper."""
    return f"{kind}-{number}" if number else kind


def system(corpus: str, name: str) -> str:
    """The page of a system on a corpus."""
    return f"systems/{corpus}/{name}.html"


def listed(values: Mapping[str, Any]) -> str:
    """Names and values on one line."""
    return ", ".join(f"{name} {value}" for name, value in values.items())

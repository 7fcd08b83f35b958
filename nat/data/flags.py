"""Flags of a text: what one would look for by hand, each with a count, an example and a remedy.

The steps of a corpus store theirs under the key `flags` of their JSON files, where there are any.
"""

from pathlib import Path
from typing import Any

from nat.files import read_json

Flag = dict[str, Any]
"""The kind, split, count, example and remedy, JSON-able."""

_LONGEST = 60  # characters of a line in an example


class TextFlags:
    """Counts kinds of lines or pairs of splits, and keeps the first of each as an example."""

    def __init__(self) -> None:
        self._flags: dict[tuple[str, str], Flag] = {}

    def add(
        self, kind: str, split: str, remedy: str, where: str, *texts: str, count: int = 1
    ) -> None:
        """Count a line or a pair of a split, the first of which is in the place `where`."""
        if (kind, split) not in self._flags:
            example = f"{where}: {' | '.join(map(shown, texts))}"
            flag = {"kind": kind, "split": split, "count": 0, "example": example, "remedy": remedy}
            self._flags[kind, split] = flag
        self._flags[kind, split]["count"] += count

    @property
    def listed(self) -> list[Flag]:
        """All flags."""
        return [*self._flags.values()]

    @property
    def as_written(self) -> dict[str, list[Flag]]:
        """The entry of a JSON file; none without flags."""
        return {"flags": self.listed} if self._flags else {}


def read_flags(report: Path) -> list[Flag]:
    """The flags that the JSON file of a step has."""
    return list(read_json(report).get("flags", []))


def shown(line: str) -> str:
    """A line as an example: cut, in quotes, with escapes for characters that cannot be seen."""
    cut = line if len(line) <= _LONGEST else f"{line[:_LONGEST]}..."
    return "'" + "".join(each if each.isprintable() else ascii(each)[1:-1] for each in cut) + "'"


def sentence(flag: Flag) -> str:
    """A flag as a line."""
    found = f"{flag['split']}: {flag['kind']}: {flag['count']:,}, such as {flag['example']}"
    return f"{found}; {flag['remedy']}"


def counted(number: int, noun: str) -> str:
    """A number of things, as in `1 pair` and `1,000 pairs`."""
    return f"{number:,} {noun}" + "s" * (number != 1)

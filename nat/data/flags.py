"""Flags of a text: what one would look for by hand, each with a count, an example and a remedy.

The steps of a corpus store theirs under the key `flags` of their JSON files, where there are any.
"""

import unicodedata
from collections.abc import Iterable, Mapping
from typing import Any

from nat.data.raw_text import UNSEEN

FLAGS = "flags"

_LONGEST = 60  # characters of a line in an example


def flag(kind: str, split: str, count: int, remedy: str, where: str, *texts: str) -> dict[str, Any]:
    """A flag of a split with an example, a line or a pair in the place `where`."""
    example = f"{where}: {' | '.join(map(shown, texts))}"
    return {"kind": kind, "split": split, "count": count, "example": example, "remedy": remedy}


class TextFlags:
    """Counts kinds of lines or pairs of splits, and keeps the first of each as an example."""

    def __init__(self) -> None:
        self._flags: dict[tuple[str, str], dict[str, Any]] = {}

    def add(self, kind: str, split: str, remedy: str, where: str, *texts: str) -> None:
        """Count a line or a pair of a split, which is in the place `where`."""
        if (kind, split) not in self._flags:
            self._flags[kind, split] = flag(kind, split, 0, remedy, where, *texts)
        self._flags[kind, split]["count"] += 1

    @property
    def as_written(self) -> dict[str, list[dict[str, Any]]]:
        """The entry of a JSON file; none without flags."""
        return {FLAGS: [*self._flags.values()]} if self._flags else {}


def shown(line: str) -> str:
    """A line as an example: cut, in quotes, with escapes for characters that cannot be seen."""
    cut = line if len(line) <= _LONGEST else f"{line[:_LONGEST]}..."
    return "'" + "".join(ascii(each)[1:-1] if _is_hidden(each) else each for each in cut) + "'"


def _is_hidden(character: str) -> bool:
    return character != " " and unicodedata.category(character) in UNSEEN


def sentences(flags: Iterable[Mapping[str, Any]]) -> list[str]:
    """A line for each flag."""
    return [
        f"{flag['split']}: {flag['kind']}: {flag['count']:,}, such as {flag['example']}; "
        f"{flag['remedy']}"
        for flag in flags
    ]


def counted(number: int, noun: str) -> str:
    """A number of things, as in `1 pair` and `1,000 pairs`."""
    return f"{number:,} {noun}" + "s" * (number != 1)

"""The files of stated settings: `settings.csv`, `settings-map.yaml` and `deviations.yaml`.

They are in `config/published`; `docs/papers.md` describes them. A configuration has all three or
none of them.
"""

import csv
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Annotated, Any, Generic, Self, TypeVar

from pydantic import Field, model_validator

from nat.configuration.models import read_model
from nat.configuration.yaml_file import read_yaml
from nat.errors import UserError
from nat.fields import Model, OrAbsent, Text, Unique
from nat.papers.description import Several
from nat.spelling import hint

ROWS = "config/published/settings.csv"
MAP = "config/published/settings-map.yaml"
DEVIATIONS = "config/published/deviations.yaml"
SOURCES = {
    "paper": "the paper",
    "published_code": "its published code",
    "followed_code": "the code that it follows",
}
FIELDS = ("paper", "experiments", "system", "task", "key", "value", "source")
"""Columns that entries of the other two files can be about."""
COLUMNS = ("paper", "where", *FIELDS[1:], "note")
Names = Annotated[list[Text], Field(min_length=1), Unique]


@dataclass(frozen=True)
class Row:
    """A stated setting: fields of `settings.csv`, and its line there."""

    line: int
    paper: str
    experiments: str
    system: str
    task: str
    key: str
    value: str
    source: str

    def __str__(self) -> str:
        fields = (self.paper, self.experiments, self.system, self.task, self.key, self.value)
        return f"{ROWS}:{self.line}: {' | '.join(fields)}"


class About(Model):
    """Which rows an entry is about: those that fit all fields that it gives.

    A field is a pattern or several, in which `*` stands for anything.
    """

    paper: OrAbsent[Several[Text]] = None
    experiments: OrAbsent[Several[Text]] = None
    system: OrAbsent[Several[Text]] = None
    task: OrAbsent[Several[Text]] = None
    key: OrAbsent[Several[Text]] = None
    value: OrAbsent[Several[Text]] = None
    source: OrAbsent[Several[Text]] = None

    @cached_property
    def patterns(self) -> dict[str, list[str]]:
        """The patterns of each field that is given."""
        given = {name: getattr(self, name) for name in FIELDS if name in self.model_fields_set}
        return {name: [each] if isinstance(each, str) else each for name, each in given.items()}


Entry = TypeVar("Entry", bound=About)


class Entries(Generic[Entry]):
    """A list of entries. The first that is about a row counts; those after it do not.

    There are a thousand rows and hundreds of entries. So sets of entries are integers, with the bit
    2^n for entry n, and which entries a value fits is found out once.

    Args:
        entries: in order.
    """

    def __init__(self, entries: Sequence[Entry]) -> None:
        self._entries = entries
        self._without = dict.fromkeys(FIELDS, 0)
        self._by_pattern: dict[str, dict[str, int]] = {name: {} for name in FIELDS}
        self._by_value: dict[tuple[str, str], int] = {}
        for number, entry in enumerate(entries):
            for name in FIELDS:
                known = self._by_pattern[name]
                for pattern in entry.patterns.get(name, ()):
                    known[pattern] = known.get(pattern, 0) | 1 << number
                if name not in entry.patterns:
                    self._without[name] |= 1 << number

    def __iter__(self) -> Iterator[Entry]:
        return iter(self._entries)

    def number(self, row: Row) -> int | None:
        """The place of the entry that counts for a row, from 0."""
        left = -1
        for name in FIELDS:
            left &= self._that_fit(name, getattr(row, name))
        return (left & -left).bit_length() - 1 if left else None

    def first(self, row: Row) -> Entry | None:
        """The entry that counts for a row."""
        number = self.number(row)
        return None if number is None else self._entries[number]

    def _that_fit(self, name: str, value: str) -> int:
        found = self._by_value.get((name, value))
        if found is None:
            found = self._without[name]
            for pattern, those in self._by_pattern[name].items():
                if fits(value, pattern):
                    found |= those
            self._by_value[name, value] = found
        return found


def fits(value: str, pattern: str) -> bool:
    """Whether a value fits a pattern, in which `*` stands for anything."""
    if "*" not in pattern:
        return value == pattern
    return re.fullmatch(".*".join(map(re.escape, pattern.split("*"))), value) is not None


class Outside(About):
    """Rows that are not about the configuration.

    Attributes:
        reason: why, one of `reasons`.
    """

    reason: Text


class OurSystems(About):
    """Our systems that rows are about.

    Attributes:
        ours: their names.
        tasks: our tasks that a row about all tasks is about; by default all of the paper.
    """

    ours: Names
    tasks: OrAbsent[Names] = None


class OurDecodings(About):
    """Our decodings that rows about decoding are about.

    Attributes:
        ours: their names.
    """

    ours: Names


class OurValue(About):
    """What our value must be where a row states it in other words; one of three keys says it.

    Attributes:
        ours: the value.
        one_of: values, of which ours must be one.
        same_as: a system, or for a key of decodings a decoding, whose value ours must be.
    """

    ours: Any = None
    one_of: OrAbsent[Annotated[list[Any], Field(min_length=1)]] = None
    same_as: OrAbsent[Text] = None

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        if len(self.model_fields_set & {"ours", "one_of", "same_as"}) != 1:
            raise ValueError("give one of the keys 'ours', 'one_of' and 'same_as'")
        return self


class Map(Model):
    """What rows are about. Of each list, the first entry that is about a row counts.

    Attributes:
        reasons: why a row is not about the configuration, in words, by the names in `outside`.
        outside: rows that are not about it; asked before all others.
        tasks: by paper, our task for each task in `settings.csv`.
        systems: our systems.
        decodings: our decodings.
        keys: our key for a key of rows, or for `key=value`, where it has another name.
        values: our values where rows have other words for them.
    """

    reasons: dict[str, Text] = {}
    outside: list[Outside] = []
    tasks: dict[str, dict[str, Text]] = {}
    systems: list[OurSystems] = []
    decodings: list[OurDecodings] = []
    keys: dict[str, Text] = {}
    values: list[OurValue] = []

    @model_validator(mode="after")
    def _known_reasons(self) -> Self:
        for number, entry in enumerate(self.outside):
            if entry.reason not in self.reasons:
                raise ValueError(
                    f"key 'outside.{number}.reason': unknown reason '{entry.reason}'; "
                    f"{hint(entry.reason, self.reasons)}"
                )
        return self


class Deviation(About):
    """Where the configuration at the papers' scale differs.

    Attributes:
        reason: why.
        ours: what a method does, where no key of the configuration has the value.
    """

    reason: Text
    ours: OrAbsent[Text] = None


class Deviations(Model):
    """All deviations; of those that are about a row, the first counts."""

    deviations: list[Deviation]


def exist(root: Path) -> bool:
    """Whether there are stated settings; if one of the files is there, the others must be."""
    return any((root / name).exists() for name in (ROWS, MAP, DEVIATIONS))


def read_rows(root: Path) -> tuple[Row, ...]:
    """All rows of `settings.csv`.

    Raises:
        UserError: if it cannot be read or is malformed; names the line.
    """
    return _read_rows(root, _changed(root, ROWS))


def read_map(root: Path) -> Map:
    """What `settings-map.yaml` says.

    Raises:
        UserError: if it cannot be read, and for unknown, missing and wrong keys.
    """
    return _read_map(root, _changed(root, MAP))


def read_deviations(root: Path) -> Entries[Deviation]:
    """What `deviations.yaml` says.

    Raises:
        UserError: if it cannot be read, and for unknown, missing and wrong keys.
    """
    return _read_deviations(root, _changed(root, DEVIATIONS))


def _changed(root: Path, name: str) -> int:
    try:
        return (root / name).stat().st_mtime_ns
    except OSError as error:
        raise UserError(
            f"{name}: cannot be read ({error.strerror}); {ROWS}, {MAP} and {DEVIATIONS} belong "
            "together, so add it or remove all three"
        ) from error


@lru_cache
def _read_map(root: Path, _changed: int) -> Map:
    return read_model(Map, read_yaml(root, MAP), MAP)


@lru_cache
def _read_deviations(root: Path, _changed: int) -> Entries[Deviation]:
    return Entries(read_model(Deviations, read_yaml(root, DEVIATIONS), DEVIATIONS).deviations)


@lru_cache
def _read_rows(root: Path, _changed: int) -> tuple[Row, ...]:
    try:
        with (root / ROWS).open(encoding="utf-8-sig", newline="") as file:
            lines = csv.reader(file, strict=True)
            return tuple(_rows(lines, next(lines, [])))
    except UnicodeDecodeError as error:
        raise UserError(f"{ROWS}: not valid UTF-8 at byte {error.start}") from error
    except csv.Error as error:
        raise UserError(f"{ROWS} line {lines.line_num}: not valid CSV ({error})") from error


def _rows(lines: Any, header: Sequence[str]) -> Iterator[Row]:
    for name in header:
        if name not in COLUMNS:
            raise UserError(f"{ROWS} line 1: unknown column '{name}'; {hint(name, COLUMNS)}")
    if tuple(header) != COLUMNS:
        raise UserError(f"{ROWS} line 1: the columns must be {','.join(COLUMNS)}, in this order")
    for cells in lines:
        if not cells:
            continue
        where = f"{ROWS} line {lines.line_num}"
        if len(cells) != len(COLUMNS):
            raise UserError(
                f"{where}: found {len(cells)} values, expected {len(COLUMNS)}; a value with a "
                "comma needs double quotes"
            )
        found = dict(zip(COLUMNS, cells, strict=True))
        for name in COLUMNS:
            if name != "note" and not found[name].strip():
                raise UserError(f"{where}: column '{name}' is empty; fill it in or remove the line")
        if found["source"] not in SOURCES:
            raise UserError(
                f"{where}: column 'source': found '{found['source']}', expected one of "
                f"{', '.join(SOURCES)}"
            )
        yield Row(lines.line_num, **{name: found[name] for name in FIELDS})

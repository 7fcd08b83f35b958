"""The files of stated settings: `settings.csv`, `settings-map.yaml` and `deviations.yaml`.

They are in `config/published`, all or none of them; `docs/papers.md` describes them.
"""

import re
from collections.abc import Collection, Sequence
from functools import cache, cached_property, lru_cache
from pathlib import Path
from typing import Annotated, Any, Generic, NamedTuple, NoReturn, Self, TypeVar

from pydantic import Field, model_validator

from nat.configuration.models import read_model
from nat.configuration.yaml_file import read_yaml
from nat.errors import UserError
from nat.options import OrAbsent, StrictModel, Text, Unique, cached_method, hint
from nat.papers.published import rows_of

ROWS, MAP, DEVIATIONS = FILES = (
    "config/published/settings.csv",
    "config/published/settings-map.yaml",
    "config/published/deviations.yaml",
)
SOURCES = {
    "paper": "the paper",
    "published_code": "its published code",
    "followed_code": "the code that it follows",
}
Names = Annotated[list[Text], Field(min_length=1), Unique]
Patterns = Text | Annotated[list[Text], Field(min_length=1)]


class Row(NamedTuple):
    """A stated setting, and its line in the file."""

    paper: str
    experiments: str
    system: str
    task: str
    key: str
    value: str
    source: str
    line: int

    @property
    def of_decoding(self) -> bool:
        """Whether it is about our decodings rather than our systems."""
        return self.key.startswith("decoding.")

    def at(self, column: str) -> str:
        """Name its line and a column, for messages."""
        return f"{ROWS} line {self.line}: column '{column}'"


FIELDS = Row._fields[:-1]
"""Columns that entries of the other two files can be about."""
COLUMNS = ("paper", "where", *FIELDS[1:], "note")


class About(StrictModel):
    """Which rows an entry is about: those that fit all fields that it gives.

    A field is a pattern or several, in which `*` stands for anything.
    """

    paper: OrAbsent[Patterns] = None
    experiments: OrAbsent[Patterns] = None
    system: OrAbsent[Patterns] = None
    task: OrAbsent[Patterns] = None
    key: OrAbsent[Patterns] = None
    value: OrAbsent[Patterns] = None
    source: OrAbsent[Patterns] = None

    @cached_property
    def patterns(self) -> dict[int, tuple[str, ...]]:
        """The patterns of each field that is given, by its place in a row."""
        given = {place: getattr(self, name) or () for place, name in enumerate(FIELDS)}
        return {
            place: (each,) if isinstance(each, str) else tuple(each)
            for place, each in given.items()
            if each
        }

    @property
    def papers(self) -> tuple[str, ...]:
        """The patterns of the papers that it is about."""
        return self.patterns.get(0, ("*",))


@cache
def fits(value: Any, patterns: tuple[str, ...]) -> bool:
    """Tell whether a value fits one of several patterns."""
    if value in patterns:
        return True
    forms = [".*".join(map(re.escape, each.split("*"))) for each in patterns if "*" in each]
    return any(re.fullmatch(form, value) for form in forms)


class Reasoned(About):
    """Rows that are not about the configuration, and why, one of `reasons`."""

    reason: Text


class OurDecodings(About):
    """Our decodings that rows about decoding are about."""

    ours: Names


class OurSystems(OurDecodings):
    """Our systems that rows are about, and our tasks that those about all tasks are about."""

    tasks: OrAbsent[Names] = None


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


class Map(StrictModel):
    """What rows are about. Of each list, the first entry that is about a row counts.

    Attributes:
        reasons: why a row is not about the configuration, in words, by the names in `outside`.
        outside: rows that are not about it; asked before all others.
        tasks: by paper, our task for each task in `settings.csv`.
        keys: our key for a key of rows, or for `key=value`, where it has another name.
    """

    reasons: dict[str, Text] = {}
    outside: list[Reasoned] = []
    tasks: dict[str, dict[str, Text]] = {}
    systems: list[OurSystems] = []
    decodings: list[OurDecodings] = []
    keys: dict[str, Text] = {}
    values: list[OurValue] = []


class Deviation(Reasoned):
    """Where we differ, why, and what a method does where no key of the configuration has it."""

    ours: OrAbsent[Text] = None


class Deviations(StrictModel):
    """All deviations; of those that are about a row, the first counts."""

    deviations: list[Deviation]


Entry = TypeVar("Entry", bound=About)


class Entries(Generic[Entry]):
    """A list of entries, and the file and key of those, for messages."""

    def __init__(self, where: str, entries: Sequence[Entry]) -> None:
        self.where, self.all = where, entries

    @cached_method
    def first(self, row: Row) -> Entry | None:
        """Find the entry that counts for a row."""
        for each in self._of_paper(row.paper):
            for place, patterns in each.patterns.items():  # faster than `all`
                if not fits(row[place], patterns):
                    break
            else:
                return each
        return None

    @cached_method
    def _of_paper(self, paper: str) -> list[Entry]:
        return [each for each in self.all if fits(paper, each.papers)]


def read(root: Path) -> tuple[list[Row], Map, list[Deviation]]:
    """Read the three files; where there are none, nothing is stated.

    Raises:
        UserError: if one is missing or malformed; names the key, or line and column.
    """
    there = [name for name in FILES if (root / name).exists()]
    for name in FILES if there else ():
        if name not in there:
            refuse(name, "there is no such file", f"one, since there is {there[0]}")
    return _read_changed(root, *((root / name).stat().st_mtime_ns for name in there))


@lru_cache
def _read_changed(root: Path, *changed: int) -> tuple[list[Row], Map, list[Deviation]]:
    if not changed:
        return [], Map(), []
    found = read_model(Deviations, read_yaml(root, DEVIATIONS), DEVIATIONS)
    return _read_rows(root), read_model(Map, read_yaml(root, MAP), MAP), found.deviations


def _read_rows(root: Path) -> list[Row]:
    found = rows_of(root / ROWS, ROWS, COLUMNS)
    rows = [Row._make((row[0], *row[2:-1], line)) for line, row in found]
    for row in rows:
        if row.source not in SOURCES:
            due = f"{' or '.join(SOURCES)} (a value with a comma needs double quotes)"
            refuse(row.at("source"), f"found '{row.source}'", due)
        for name, value in zip(FIELDS, row[:-1], strict=True):
            if not value.strip():
                refuse(row.at(name), "found nothing", "a text")
    return rows


def refuse(where: str, found: str, expected: str) -> NoReturn:
    """Refuse what stands somewhere in the files."""
    raise UserError(f"{where}: {found}, expected {expected}")


def check_known(what: str, name: str, known: Collection[str], where: str) -> None:
    """Refuse an unknown name."""
    if name not in known:
        raise UserError(f"{where}: unknown {what} '{name}'; {hint(name, known)}")

"""Settings that the papers state, and the effective configuration at the papers' scale.

docs/papers.md describes the three files in `config/published`. A key of the map may begin with
`cells.`: its values are then those of all cells that the tables and figures of the row show, such
as their splits; with `among cells.` the stated one is one of them. Here are the deviations, which
reports show; that all other rows say what the configuration says is for the tests to find.
"""

import itertools
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from fnmatch import filter as matching
from functools import cache
from typing import Annotated, Any, NamedTuple

from pydantic import BeforeValidator, Field

from nat.configuration import Configuration
from nat.configuration.families import require
from nat.configuration.files import PAPER_SCALE, read_value, read_yaml
from nat.configuration.models import Training, read_model
from nat.configuration.overrides import RunChoice
from nat.errors import UserError
from nat.options import StrictModel, Text, at, hint
from nat.papers.published import rows_of

ROWS = "config/published/settings.csv"
MAP = "config/published/settings-map.yaml"
DEVIATIONS = "config/published/deviations.yaml"
SOURCES = {
    "paper": "the paper",
    "published_code": "its published code",
    "followed_code": "the code that it follows",
}
CELLS, AMONG = "cells.", "among cells."
_SHOWN = {"None": "nothing", "True": "yes", "False": "no"}


class Stated(NamedTuple):
    """A row of `settings.csv`, and its line there."""

    paper: str
    experiments: str
    system: str
    task: str
    key: str
    value: str
    source: str
    line: int


FIELDS = Stated._fields[:-1]
COLUMNS = ("paper", "where", *FIELDS[1:], "note")
Patterns = Annotated[
    list[Text],
    BeforeValidator(lambda given: [given] if isinstance(given, str) else given),
    Field(min_length=1),
]


class AboutRows(StrictModel):
    """An entry about the rows that fit all fields that are given, from `paper` to `source`.

    A field is a pattern or several, in which `*` stands for anything. `ours` has our systems or
    decodings that rows are about, what our value must be, or what a method does that differs;
    `same_as` has a system or decoding whose value ours must be, `path` another key than the map
    has. What is fixed in code is said in `file`, in the words `says`.
    """

    paper: Patterns = []
    experiments: Patterns = []
    system: Patterns = []
    task: Patterns = []
    key: Patterns = []
    value: Patterns = []
    source: Patterns = []
    reason: Text = ""
    ours: Any = None
    tasks: Patterns = []
    one_of: list[Any] = []
    same_as: Text | None = None
    path: Text | None = None
    file: Text = ""
    says: Text = ""


class SettingsMap(StrictModel):
    """The two YAML files. Of each list, the first entry that is about a row counts.

    Deviations with `ours` are about rows that are `outside` with the reason `method`, all others
    about rows that are not outside.
    """

    reasons: dict[str, Text] = {}
    code: list[AboutRows] = []
    outside: list[AboutRows] = []
    tasks: dict[str, dict[str, Text]] = {}
    systems: list[AboutRows] = []
    decodings: list[AboutRows] = []
    keys: dict[str, Text] = {}
    values: list[AboutRows] = []
    deviations: list[AboutRows] = []


NOTHING = AboutRows()


class StatedSettings:
    """The stated settings of all papers, and ours at the scale of a configuration.

    Attributes:
        entries: of each list the entry that counts for a row, by the line of the row.
        idle: what is wrong with patterns and entries without effect.
    """

    def __init__(self, configuration: Configuration) -> None:
        self.configuration, root = configuration, configuration.root
        self.rows, self.map = [], SettingsMap()
        if (root / ROWS).exists():
            lines = rows_of(root / ROWS, ROWS, COLUMNS)
            self.rows = [Stated._make((row[0], *row[2:-1], line)) for line, row in lines]
            written = read_yaml(root, MAP) | read_yaml(root, DEVIATIONS)
            self.map = read_model(SettingsMap, written, f"{MAP} or {DEVIATIONS}")
        self.idle: list[str] = []
        self.entries: dict[str, dict[int, AboutRows]] = {}
        for key, entries in self.map:
            if isinstance(entries, list):
                self.entries[key] = self._first(key, entries)

    def _first(self, key: str, entries: Sequence[AboutRows]) -> dict[int, AboutRows]:
        """The first entry of a list that is about each row."""
        first: dict[int, AboutRows] = {}
        known = {field: {getattr(row, field) for row in self.rows} for field in FIELDS}
        for number, entry in enumerate(entries):
            where = f"{DEVIATIONS if key == 'deviations' else MAP}: key '{key}.{number}'"
            rows = self.rows
            if key == "deviations":
                wanted = "method" if entry.ours else ""
                rows = [row for row in rows if self.about("outside", row).reason == wanted]
            for field in FIELDS:
                fitting = {each: matching(known[field], each) for each in getattr(entry, field)}
                for pattern in (each for each in fitting if not fitting[each]):
                    near = hint(pattern, known[field])
                    self.idle.append(f"{where}: unknown {field} '{pattern}'; {near}")
                values = list(itertools.chain(*fitting.values()))
                rows = [row for row in rows if not fitting or getattr(row, field) in values]
            if first.keys() >= {row.line for row in rows}:
                self.idle.append(f"{where}: counts for no row; correct, move or remove it")
            first = {row.line: entry for row in rows} | first
        return first

    def about(self, key: str, row: Stated) -> AboutRows:
        """The entry of a list that counts for a row, or `NOTHING`."""
        return self.entries[key].get(row.line, NOTHING)

    def differing(self, row: Stated) -> dict[tuple[str, str], Any]:
        """Those of our values, by task and system or decoding, that are not the stated one."""
        pairs = itertools.product(self.tasks(row), self.named(row))
        ours = {(task, name): self.value(row, task, name) for task, name in pairs}
        return {at_: each for at_, each in ours.items() if not self._agrees(row, *at_, each)}

    def path(self, row: Stated) -> str:
        """Our key of a row."""
        keys = self.map.keys
        named = keys.get(f"{row.key}={row.value}") or keys.get(row.key, row.key)
        return self.about("values", row).path or named

    def is_of_cells(self, row: Stated) -> bool:
        """Tell whether the values of a row are those of cells."""
        return self.path(row).startswith((CELLS, AMONG))

    def tasks(self, row: Stated) -> list[str]:
        """List our tasks that a row is about."""
        ours = self.map.tasks[row.paper]
        if row.task != "all":
            return [ours[row.task]]
        return self.about("systems", row).tasks or list(ours.values())

    def named(self, row: Stated) -> list[str]:
        """List our systems, or for a key of decodings our decodings, that a row is about."""
        of_decoding = self.path(row).startswith("decoding.")
        return list(self.about("decodings" if of_decoding else "systems", row).ours or ())

    def stated(self, row: Stated) -> Any:
        """The value that ours must be."""
        entry = self.about("values", row)
        if "ours" in entry.model_fields_set:
            return entry.ours
        return read_value(row.value, f"{ROWS} line {row.line}: 'value'")

    def _agrees(self, row: Stated, task: str, name: str, ours: Any) -> bool:
        """Tell whether our value of a system or decoding on a task is the stated one."""
        entry = self.about("values", row)
        if entry.one_of:
            return ours in entry.one_of
        if entry.same_as:
            return bool(ours == self.value(row, task, entry.same_as))
        stated = self.stated(row)
        if isinstance(stated, str) and stated in self.configuration.systems:
            # where papers train equal systems, the effective configuration has one name for all
            stated = self.configuration.canonical(self.configuration.task(task), stated)
        if isinstance(ours, dict) and "about" in ours:
            is_number = isinstance(stated, int | float)
            return is_number and abs(stated - ours["about"]) <= ours["tolerance"] * ours["about"]
        return _within(stated, ours)

    def decoding(self, task: str, name: str) -> dict[str, Any]:
        """The options of a decoding on a task."""
        there = self.configuration.on(self.configuration.task(task))
        file, options = there.decoding_file(name), there.decoding(name).as_json()
        tuned = dict.fromkeys(file.tuning, "tuned on validation")
        return {"steps": 1, **options, "assistant": file.assistant, **tuned}

    def value(self, row: Stated, task: str, name: str) -> Any:
        """Look up our effective value for one task and system or decoding."""
        path, corpus = self.path(row), self.configuration.task(task)
        match path.partition(".")[0]:
            case "settings":
                return at({"settings": self.configuration.scale_settings.model_dump()}, path)
            case "corpus":
                return at({"corpus": self.configuration.corpus(corpus).as_written()}, path)
            case "decoding":
                return at({"decoding": self.decoding(task, name)}, path)
        there, training = self.configuration.on(corpus), self.configuration.training(corpus, name)
        if path == "text":
            return training.text.kind
        everything = training.as_json()
        everything |= {part: options or True for part, options in training.parts.items()}
        validated_by = training.validation_decoding
        steps = 1 if validated_by is None else validated_by.options.get("steps", 1)
        everything |= {"size": there.system(name).size, "validation": {"steps": steps}}
        translated = [text for text in training.text.candidates if text.decoding is not None]
        if path.startswith("text.distilled") and translated:
            decoding = there.decoding(str(translated[0].decoding)).as_json()
            everything["text"] = {"distilled": {**vars(translated[0]), "decoding": decoding}}
        return everything if path == "training" else at(everything, path)


def _within(stated: Any, ours: Any) -> bool:
    """Tell whether our value is the stated one, which of a mapping need not name all keys."""
    if isinstance(stated, dict) and isinstance(ours, dict):
        return all(_within(value, ours.get(key)) for key, value in stated.items())
    return bool(stated == ours)


@cache
def at_paper_scale(configuration: Configuration) -> StatedSettings:
    """Hold the stated settings against the papers' scale, whatever scale was chosen."""
    return StatedSettings(replace(configuration, choice=RunChoice(PAPER_SCALE)))


def deviations(configuration: Configuration, paper: str) -> list[str]:
    """Say where the configuration at the papers' scale differs from what a paper states."""
    compared, sentences = at_paper_scale(configuration), list[str]()
    for row in (each for each in compared.rows if each.paper == paper):
        entry = compared.about("deviations", row)
        if entry is NOTHING:
            continue
        values = [entry.ours] if entry.ours else compared.differing(row).values()
        ours = sorted({_SHOWN.get(str(value), str(value)) for value in values})
        stated = f"{row.key} is {row.value} in {SOURCES[row.source]}"
        text = f"{row.system}, {row.task}: {stated}, here {' or '.join(ours)}: {entry.reason}"
        sentences += [text] * bool(ours)
    return sentences


def check(configuration: Configuration) -> None:
    """Check the files of stated settings by names alone, before a graph is built.

    UserErrors name an unknown name, a row that no entry is about, and an entry without effect.
    """
    compared = at_paper_scale(configuration)
    map_, here = compared.map, compared.configuration

    def known(what: str, where: str, names: Iterable[str], all_: Collection[str]) -> None:
        for name in names:
            require(name, all_, what, where)

    for row in compared.rows:
        where = f"{ROWS} line {row.line}"
        known("paper", where, [row.paper], map_.tasks)
        known("source", where, [row.source], SOURCES)
        if row.line not in compared.entries["outside"] | compared.entries["code"]:
            known("task", where, [row.task], ["all", *map_.tasks[row.paper]])
            if not compared.is_of_cells(row) and not compared.named(row):
                raise UserError(f"{where}: {MAP} does not say what it is about")
    for paper, tasks in map_.tasks.items():
        known("task", f"{MAP}: key 'tasks.{paper}'", tasks.values(), here.tasks)
    known("reason", f"{MAP}: key 'outside'", (e.reason for e in map_.outside), map_.reasons)
    for each in map_.systems:
        known("system", f"{MAP}: key 'systems'", each.ours or (), here.systems)
        known("task", f"{MAP}: key 'systems'", each.tasks, here.tasks)
    decodings = (name for each in map_.decodings for name in each.ours or ())
    known("decoding", f"{MAP}: key 'decodings'", decodings, here.files["decodings"])
    stated = {name for row in compared.rows for name in (row.key, f"{row.key}={row.value}")}
    known("key", f"{MAP}: key 'keys'", map_.keys, stated)
    ours = [*Training.model_fields, "size", "validation", "decoding", "training", "settings"]
    ours += ["cells", "among cells"]
    known("key", f"{MAP}: key 'keys'", (key.split(".")[0] for key in map_.keys.values()), ours)
    if compared.idle:
        raise UserError(compared.idle[0])

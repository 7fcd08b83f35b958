"""Settings that the papers state, held against the effective configuration at the papers' scale.

docs/papers.md describes the three files in `config/published`. A key of the map may begin with
`cells.`: its values are then those of all cells that the tables and figures of the row show, such
as their splits; with `among cells.` the stated one is one of them.
"""

import itertools
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
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
from nat.measures.known import MEASURES
from nat.options import StrictModel, Text, at, hint
from nat.papers.cells import Shown
from nat.papers.published import rows_of
from nat.papers.relation import relation

ROWS = "config/published/settings.csv"
MAP = "config/published/settings-map.yaml"
DEVIATIONS = "config/published/deviations.yaml"
SOURCES = {
    "paper": "the paper",
    "published_code": "its published code",
    "followed_code": "the code that it follows",
}
CHECKED, DEVIATION, OUTSIDE = "checked", "deviation", "not configuration"
_SHOWN = {"None": "nothing", "True": "yes", "False": "no"}
_SEVERAL = re.compile(r"\d+(, \d+)+")
_PARTS = re.compile(r"(Table|Figure)s? (\d[\d, -]*)")
_CELLS, _AMONG = "cells.", "among cells."


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
Ours = dict[tuple[str, str], Any]
"""Effective values by task and system or decoding, those of cells by number."""


class Verdict(NamedTuple):
    """The judgement of a row; without a `kind` nothing says why we differ.

    `ours` has, of a deviation, the values that differ.
    """

    row: Stated
    kind: str | None
    ours: Ours
    reason: str = ""


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

    def verdict(self, row: Stated) -> Verdict:
        """Hold a row against the configuration."""
        outside, deviation, code = map(self.about, ("outside", "deviations", "code"), [row] * 3)
        if deviation.ours:
            of_method = {(row.task, row.system): deviation.ours}
            return Verdict(row, DEVIATION, of_method, deviation.reason)
        if code.says:
            text = (self.configuration.root / code.file).read_text(encoding="utf-8")
            said = code.says in " ".join(text.split())
            return Verdict(row, CHECKED if said else None, {(code.file, ""): code.says})
        if outside.reason:
            return Verdict(row, OUTSIDE, {}, self.map.reasons[outside.reason])
        ours = self._ours(row)
        differing = self._differing(row, ours)
        if deviation.reason:
            return Verdict(row, DEVIATION if differing else None, differing, deviation.reason)
        return Verdict(row, CHECKED if ours and not differing else None, differing or ours)

    def _ours(self, row: Stated) -> Ours:
        """Our values of a row."""
        if self.is_of_cells(row):
            values = enumerate(self._of_cells(row), 1)
            return {(row.experiments, f"value {number}"): value for number, value in values}
        pairs = itertools.product(self.tasks(row), self.named(row))
        ours = {(task, name): self.value(row, task, name) for task, name in pairs}
        # deviations are told whenever a graph is built, so they are not to expand tables
        if self.path(row).startswith("decoding.") and self.about("deviations", row) is NOTHING:
            used = set(self._decodings(row))
            ours = {at_: each if at_[1] in used else "not used" for at_, each in ours.items()}
        return ours

    def _differing(self, row: Stated, ours: Ours) -> Ours:
        """Those of our values that are not stated; all if one that is stated is not among them."""
        several = self.about("values", row) is NOTHING and _SEVERAL.fullmatch(row.value)
        if not self.is_of_cells(row) and not several:
            return {at_: each for at_, each in ours.items() if not self._agrees(row, *at_, each)}
        stated, held = self._stated(row), list(ours.values())
        wanted = stated if isinstance(stated, list) else [stated]
        others = [] if self.path(row).startswith(_AMONG) else held
        alike = all(each in held for each in wanted) and all(each in wanted for each in others)
        return {} if alike else ours

    def path(self, row: Stated) -> str:
        """Our key of a row."""
        keys = self.map.keys
        named = keys.get(f"{row.key}={row.value}") or keys.get(row.key, row.key)
        return self.about("values", row).path or named

    def is_of_cells(self, row: Stated) -> bool:
        """Tell whether the values of a row are those of cells."""
        return self.path(row).startswith((_CELLS, _AMONG))

    def _numbers(self, row: Stated) -> list[Shown]:
        """List what tables and figures of a row show on its task, and the paper, too."""
        parts = relation(self.configuration, row.paper)
        named = {
            f"{kind.lower()} {number}"
            for kind, numbers in _PARTS.findall(row.experiments)
            for first, last in re.findall(r"(\d+)(?:-(\d+))?", numbers)
            for number in range(int(first), int(last or first) + 1)
        }
        task, shown = self.map.tasks[row.paper].get(row.task), list[Shown]()
        for part in (parts[name] for name in parts if name in (named or parts)):
            lines = (*part.rows, *part.columns)
            ours = {line.label for line in lines if line.given.ours_only}
            run = (each for each in part.numbers if each.first.system or each.first.derived)
            shown += [each for each in run if not {each.label, each.first.column} & ours]
        return [each for each in shown if task in (None, each.first.task)]

    def _is_about(self, row: Stated, system: str | None) -> bool:
        """Tell whether a row is about a system; one about all or unnamed ones is about each."""
        entry = self.about("systems", row)
        return row.system.startswith("all") or entry is NOTHING or system in entry.ours

    def _decodings(self, row: Stated) -> Iterator[str]:
        """The decodings of the systems of a row: of their cells, and of the texts they write."""
        cells = itertools.chain.from_iterable(each.cells for each in self._numbers(row))
        for cell in (each for each in cells if each.system):
            if self._is_about(row, cell.system):
                yield cell.decoding
            corpus = self.configuration.task(cell.task)
            for text in self.configuration.training(corpus, cell.system).text.candidates:
                if self._is_about(row, text.system):
                    yield str(text.decoding)

    def _of_cells(self, row: Stated) -> list[Any]:
        """The different values of a field of the cells of a row, or of an option of decoding."""
        field = self.path(row).split(_CELLS)[1]
        measure, _, of_measure = field.rpartition(".")
        if measure in MEASURES:
            field = of_measure
        of = {"baseline": "over", "decoding": "cells"}.get(field.partition(".")[0], "own")
        values: list[Any] = []
        for cell in (cell for each in self._numbers(row) for cell in getattr(each, of)):
            if not self._is_about(row, cell.system):
                continue
            if measure in MEASURES and measure != cell.measure:
                continue
            if field.startswith("decoding."):
                name = field.removeprefix("decoding.")
                options = self._decoding(cell.task, cell.decoding) if cell.decoding else {}
                values += [options[name]] if name in options else []
            elif field == "baseline":
                values.append(cell.system)
            else:
                text = cell.setting.partition("-")[2] if field == "batch" else getattr(cell, field)
                value = read_value(text, "") if field in ("batch", "setting") else text
                values += [value] * (value not in ("", None))
        return list(dict.fromkeys(values))

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

    def _stated(self, row: Stated) -> Any:
        """The value that ours must be, or a list where several are stated."""
        entry = self.about("values", row)
        if "ours" in entry.model_fields_set:
            return entry.ours
        text = f"[{row.value}]" if _SEVERAL.fullmatch(row.value) else row.value
        return read_value(text, f"{ROWS} line {row.line}: 'value'")

    def _agrees(self, row: Stated, task: str, name: str, ours: Any) -> bool:
        """Tell whether our value of a system or decoding on a task is the stated one."""
        entry = self.about("values", row)
        if entry.one_of:
            return ours in entry.one_of
        if entry.same_as:
            return bool(ours == self.value(row, task, entry.same_as))
        stated = self._stated(row)
        if isinstance(stated, str) and stated in self.configuration.systems:
            # where papers train equal systems, the effective configuration has one name for all
            stated = self.configuration.canonical(self.configuration.task(task), stated)
        if isinstance(ours, dict) and "about" in ours:
            is_number = isinstance(stated, int | float)
            return is_number and abs(stated - ours["about"]) <= ours["tolerance"] * ours["about"]
        return _within(stated, ours)

    def _decoding(self, task: str, name: str) -> dict[str, Any]:
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
                return at({"decoding": self._decoding(task, name)}, path)
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
        if compared.about("deviations", row) is NOTHING:
            continue
        _, kind, differing, reason = compared.verdict(row)
        ours = sorted({_SHOWN.get(str(value), str(value)) for value in differing.values()})
        stated = f"{row.key} is {row.value} in {SOURCES[row.source]}"
        text = f"{row.system}, {row.task}: {stated}, here {' or '.join(ours)}: {reason}"
        sentences += [text] * (kind == DEVIATION)
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

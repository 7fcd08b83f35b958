"""Settings that the papers state, held against the effective configuration at the papers' scale.

`config/published/settings.csv` has a row for each setting of training, text, decoding and measuring
that a paper or its code states. `settings-map.yaml` beside it says which of our systems, decodings
and keys a row is about, or why it is not about the configuration; `deviations.yaml` says where we
differ, and why.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cache
from typing import Any, NamedTuple

from nat.configuration import Configuration
from nat.configuration.file_names import PAPER_SCALE
from nat.configuration.models import Recipe, Training
from nat.configuration.overrides import Overrides
from nat.configuration.yaml_file import read_value
from nat.data.corpus import Corpus
from nat.errors import UserError
from nat.options import at, unknown_key
from nat.papers.settings_files import (
    DEVIATIONS,
    FIELDS,
    MAP,
    SOURCES,
    Deviation,
    Entries,
    Row,
    check_known,
    fits,
    read,
    refuse,
)
from nat.transformer.architecture import Architecture

CHECKED, DEVIATION, OUTSIDE = "checked", "deviation", "not configuration"
ALL, METHOD = "all", "method"
_SHOWN = {"None": "nothing", "True": "yes", "False": "no"}
_SEVERAL = re.compile(r"\d+(, \d+)+")
_OF_KEYS = {"recipe": Recipe, "architecture": Architecture, "corpus": Corpus}
"""What has the keys below these; those below others depend on the method."""


class Verdict(NamedTuple):
    """What is made of a row.

    Attributes:
        row: the stated setting.
        kind: `CHECKED`, `DEVIATION` or `OUTSIDE`; None if the files say nothing of it.
        ours: our effective values by task and system or decoding; of a deviation, what differs.
        reason: of a deviation, or why the row is not about the configuration.
    """

    row: Row
    kind: str | None
    ours: dict[str, Any]
    reason: str = ""


class Stated:
    """The stated settings of all papers, and our values at the scale of a configuration."""

    def __init__(self, configuration: Configuration) -> None:
        self.configuration = configuration
        self.rows, self.map, deviations = read(configuration.root)
        self.outside = Entries(f"{MAP}: key 'outside", self.map.outside)
        self.systems = Entries(f"{MAP}: key 'systems", self.map.systems)
        self.decodings = Entries(f"{MAP}: key 'decodings", self.map.decodings)
        self.values = Entries(f"{MAP}: key 'values", self.map.values)
        self.deviations = Entries(f"{DEVIATIONS}: key 'deviations", deviations)

    def verdict(self, row: Row) -> Verdict:
        """Hold a row against the configuration.

        Raises:
            UserError: if the map names a system, decoding or task that does not exist.
        """
        outside, deviation = self.outside.first(row), self.deviation(row)
        if deviation is not None and deviation.ours is not None:
            return Verdict(row, DEVIATION, {row.system: deviation.ours}, deviation.reason)
        if outside is not None:
            return Verdict(row, OUTSIDE, {}, self.map.reasons[outside.reason])
        found = self.ours(row)
        differing = self._differing(row, found)
        if deviation is not None and differing:
            return Verdict(row, DEVIATION, differing, deviation.reason)
        if deviation is not None or not found or differing:
            return Verdict(row, None, differing)
        return Verdict(row, CHECKED, found)

    def deviation(self, row: Row) -> Deviation | None:
        """Find the deviation that counts for a row.

        One with `ours` is for what a method fixes, so that no key has it; any other is for what the
        configuration says.
        """
        outside, found = self.outside.first(row), self.deviations.first(row)
        if found is None or (outside and outside.reason) != (METHOD if found.ours else None):
            return None
        return found

    def ours(self, row: Row) -> dict[str, Any]:
        """List our effective value for each task and system or decoding that a row is about."""
        return {
            f"{name} on {task}": self.value(row, task, name)
            for task in self.tasks(row)
            for name in self.named(row)
        }

    def tasks(self, row: Row) -> list[str]:
        """List our tasks that a row is about.

        Raises:
            UserError: if the map does not say them.
        """
        check_known("paper", row.paper, self.map.tasks, f"{MAP}: key 'tasks'")
        ours = self.map.tasks[row.paper]
        if row.task == ALL:
            entry = self.systems.first(row)
            return list(ours.values() if entry is None or entry.tasks is None else entry.tasks)
        check_known("task", row.task, [ALL, *ours], row.at("task"))
        return [ours[row.task]]

    def named(self, row: Row) -> list[str]:
        """List our systems, or for a key of decodings our decodings, that a row is about."""
        entry = (self.decodings if row.of_decoding else self.systems).first(row)
        return [] if entry is None else entry.ours

    def _differing(self, row: Row, ours: Mapping[str, Any]) -> dict[str, Any]:
        """Those of our values that are not as stated; of several stated ones, each must occur."""
        if _SEVERAL.fullmatch(row.value) and self.values.first(row) is None:
            stated = [int(part) for part in row.value.split(", ")]
            found = list(ours.values())  # lists among them have no hash
            known = all(value in stated for value in found)
            return {} if known and all(value in found for value in stated) else dict(ours)
        return {name: value for name, value in ours.items() if not self._agrees(row, name, value)}

    def _agrees(self, row: Row, name: str, ours: Any) -> bool:
        """Whether a value of ours, which `ours` calls by `name`, is the one that is stated."""
        entry, task = self.values.first(row), name.split(" on ")[1]
        if entry is None:
            stated = read_value(row.value, row.at("value"))
        elif entry.one_of is not None:
            return ours in entry.one_of
        elif entry.same_as is not None:
            return bool(ours == self.value(row, task, entry.same_as))
        else:
            stated = entry.ours
        if isinstance(stated, str) and stated in self.configuration.systems:
            # where papers train equal systems, the effective configuration has one name for all
            stated = self.configuration.canonical(self.configuration.task(task), stated)
        if isinstance(ours, Mapping) and "about" in ours:
            is_number = isinstance(stated, int | float)
            return is_number and abs(stated - ours["about"]) <= ours["tolerance"] * ours["about"]
        return bool(stated == ours)

    def path(self, row: Row) -> str:
        """Name our key that a row is about, with dots between the keys of nested mappings."""
        keys = self.map.keys
        return keys.get(f"{row.key}={row.value}") or keys.get(row.key, row.key)

    def value(self, row: Row, task: str, name: str) -> Any:
        """Look up our effective value for one task and system or decoding."""
        corpus = self.configuration.task(task)
        resolved = self.configuration.on(corpus)
        path = self.path(row)
        if path.startswith("corpus."):
            return at(self.configuration.corpus(corpus).as_written(), path.removeprefix("corpus."))
        if row.of_decoding:
            options = {**resolved.decoding(name).as_json(), "assistant": resolved.assistant(name)}
            tuned = dict.fromkeys(resolved.tried(name), "tuned on validation")
            return at({"steps": 1, **options, **tuned}, path.removeprefix("decoding."))
        training = self.configuration.training(corpus, name)
        if path == "text":
            return training.text.kind
        translated = [text for text in training.text.candidates if text.decoding is not None]
        if path.startswith("text.distilled") and translated:
            decoding = resolved.decoding(str(translated[0].decoding)).as_json()
            distilled = {**vars(translated[0]), "decoding": decoding}
            return at({"distilled": distilled}, path.removeprefix("text."))
        validated_by = training.validation_decoding
        steps = 1 if validated_by is None else validated_by.options.get("steps", 1)
        size = resolved.system(name).size
        return at(training.as_json() | {"size": size, "validation": {"steps": steps}}, path)


def at_paper_scale(configuration: Configuration) -> Stated:
    """Hold the stated settings against the papers' scale, whatever scale was chosen."""
    return Stated(_of_papers(configuration))


@cache
def _of_papers(configuration: Configuration) -> Configuration:
    return replace(configuration, scale=PAPER_SCALE, overrides=Overrides())


def deviations(configuration: Configuration, paper: str) -> list[str]:
    """Say where the configuration at the papers' scale differs from what a paper states.

    Args:
        configuration: at any scale.
        paper: its name in `settings.csv`; any other has no stated settings.
    """
    stated = at_paper_scale(configuration)
    rows = [row for row in stated.rows if row.paper == paper and stated.deviation(row)]
    return [_sentence(each) for each in map(stated.verdict, rows) if each.kind == DEVIATION]


def _sentence(verdict: Verdict) -> str:
    row, ours = verdict.row, sorted({str(value) for value in verdict.ours.values()})
    return (
        f"{row.system}, {row.task}: {row.key} is {row.value} in {SOURCES[row.source]}, here "
        f"{' or '.join(_SHOWN.get(value, value) for value in ours)}: {verdict.reason}"
    )


# Checks by names alone


def check(configuration: Configuration) -> None:
    """Check the stated settings of all papers, before a graph is built; no method is imported.

    Raises:
        UserError: for the first problem; names the file, and key or line.
    """
    stated = at_paper_scale(configuration)
    papers = [*configuration.papers, *stated.map.tasks]  # a paper's file may have been removed
    for row in stated.rows:
        check_known("paper", row.paper, papers, row.at("paper"))
    for what, key, names, known in _names(stated):
        for name in names:
            check_known(what, name, known, f"{MAP}: key '{key}'")
    lists: list[Entries[Any]] = [stated.outside, stated.systems, stated.decodings, stated.values]
    count = {id(stated.deviation(row)) for row in stated.rows}
    for row in stated.rows:
        count |= {id(entries.first(row)) for entries in lists}
        if stated.outside.first(row) is None and not (stated.tasks(row) and stated.named(row)):
            due = f"it in '{'decodings' if row.of_decoding else 'systems'}' or 'outside'"
            refuse(row.at("system"), f"'{row.system}' is in no entry of {MAP}", due)
    values: list[Any] = [dict.fromkeys(each) for each in zip(*stated.rows, strict=True)]
    for entries in (*lists, stated.deviations):
        for number, entry in enumerate(entries.all):
            for place, patterns in entry.patterns.items():
                for each in patterns:
                    if not any(fits(value, (each,)) for value in values[place]):
                        where = f"{entries.where}.{number}.{FIELDS[place]}'"
                        check_known(FIELDS[place], each, values[place], where)
            if id(entry) not in count:
                due = "a row that it counts for: correct, move or remove it"
                refuse(f"{entries.where}.{number}'", "found none", due)


def _names(stated: Stated) -> Iterator[tuple[str, str, Iterable[str], Collection[str]]]:
    """What the map names: of which kind, the key, the names, and those that are known."""
    here, found = stated.configuration, stated.map
    yield "paper", "tasks", found.tasks, {*here.papers, *(row.paper for row in stated.rows)}
    for paper, tasks in found.tasks.items():
        for theirs, ours in tasks.items():
            yield "task", f"tasks.{paper}.{theirs}", [ours], here.tasks
    for number, outside in enumerate(found.outside):
        yield "reason", f"outside.{number}.reason", [outside.reason], found.reasons
    for number, systems in enumerate(found.systems):
        yield "system", f"systems.{number}.ours", systems.ours, here.systems
        yield "task", f"systems.{number}.tasks", systems.tasks or (), here.tasks
    for number, decodings in enumerate(found.decodings):
        unknown = [name for name in decodings.ours if not here.has_decoding(name)]
        yield "decoding", f"decodings.{number}.ours", unknown, here.decodings
    for number, value in enumerate(found.values):
        if value.same_as is not None and not here.has_decoding(value.same_as):
            yield "system", f"values.{number}.same_as", [value.same_as], here.systems
    of_rows = {name for row in stated.rows for name in (row.key, f"{row.key}={row.value}")}
    keys = [*Training.model_fields, "size", "validation", "decoding"]
    for key, path in found.keys.items():
        first, _, rest = path.partition(".")
        yield "key", f"keys.{key}", [key], of_rows
        yield "key", f"keys.{key}", [first], keys
        if problem := unknown_key(_OF_KEYS[first], rest) if rest and first in _OF_KEYS else "":
            raise UserError(f"{MAP}: key 'keys.{key}': {problem}")

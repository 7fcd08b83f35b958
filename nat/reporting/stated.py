"""Settings that the papers state, held against the effective configuration at the papers' scale.

`config/published/settings.csv` has a row for each setting of training, text, decoding and measuring
that a paper or its published code states. `settings-map.yaml` beside it says which of our systems,
decodings and keys a row is about, or why it is not about the configuration; `deviations.yaml` says
where we differ, and why.
"""

import csv
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path
from typing import Any

from nat.cached_method import cached_method
from nat.configuration import Configuration
from nat.configuration.overrides import Overrides
from nat.configuration.yaml_file import read_value, read_yaml
from nat.nested import at

SCALE = "paper"
ROWS = "config/published/settings.csv"
MAP = "config/published/settings-map.yaml"
DEVIATIONS = "config/published/deviations.yaml"
CHECKED, DEVIATION, OUTSIDE = "checked", "deviation", "not configuration"
ALL = "all"
_SHOWN = {"None": "nothing", "True": "yes", "False": "no"}
SOURCES = {
    "paper": "the paper",
    "published_code": "its published code",
    "followed_code": "the code that it follows",
}
_SEVERAL = re.compile(r"\d+(, \d+)+")
_FIELDS = ("paper", "experiments", "system", "task", "key", "value", "source")


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


@dataclass(frozen=True)
class Verdict:
    """What is made of a row.

    Attributes:
        row: the stated setting.
        kind: `CHECKED`, `DEVIATION` or `OUTSIDE`; None if the files say nothing of it.
        ours: the effective values that differ, by task and system or decoding.
        reason: of a deviation, or why the row is not about the configuration.
    """

    row: Row
    kind: str | None
    ours: dict[str, Any]
    reason: str = ""


class Stated:
    """The stated settings of all papers.

    Args:
        configuration: at the papers' scale.

    Raises:
        UserError: if one of the three files cannot be read.
    """

    def __init__(self, configuration: Configuration) -> None:
        self.configuration = configuration
        self.map = read_yaml(configuration.root, MAP)
        self.deviations: list[dict[str, Any]] = read_yaml(configuration.root, DEVIATIONS)[
            "deviations"
        ]

    @cached_property
    def rows(self) -> list[Row]:
        """All rows of the file."""
        path = Path(self.configuration.root, ROWS)
        with path.open(encoding="utf-8", newline="") as file:
            lines = csv.DictReader(file)
            return [
                Row(lines.line_num, **{field: line[field] for field in _FIELDS}) for line in lines
            ]

    def verdict(self, row: Row) -> Verdict:
        """Hold one row against the configuration.

        Raises:
            UserError: if the map names a system, decoding or task that does not exist.
        """
        outside = self._entry("outside", row)
        deviation = _first(self.deviations, row)
        if deviation is not None and "ours" in deviation:  # of a method: no key has its value
            kind = DEVIATION if outside is not None and outside["reason"] == "method" else None
            return Verdict(row, kind, {row.system: deviation["ours"]}, deviation["reason"])
        if outside is not None:
            return Verdict(row, OUTSIDE, {}, self.map["reasons"][outside["reason"]])
        found = self.ours(row)
        differing = self.differing(row, found)
        if deviation is not None and differing:
            return Verdict(row, DEVIATION, differing, deviation["reason"])
        if deviation is not None or not found or differing:
            return Verdict(row, None, differing)
        return Verdict(row, CHECKED, found)

    def ours(self, row: Row) -> dict[str, Any]:
        """Our effective value for each task and system or decoding that a row is about."""
        found = {}
        for task in self.tasks(row):
            for name in self.named(row):
                found[f"{name} on {task}"] = self.value(row, task, name)
        return found

    def tasks(self, row: Row) -> list[str]:
        """Our tasks that a row is about."""
        ours: dict[str, str] = self.map["tasks"][row.paper]
        entry = self._entry("systems", row) or {}
        every: list[str] = entry.get("tasks", list(ours.values()))
        return every if row.task == ALL else [ours[row.task]]

    def named(self, row: Row) -> list[str]:
        """Our systems, or for a key of decodings our decodings, that a row is about."""
        kind = "decodings" if row.key.startswith("decoding.") else "systems"
        entry = self._entry(kind, row)
        return [] if entry is None else list(entry["ours"])

    def differing(self, row: Row, ours: Mapping[str, Any]) -> dict[str, Any]:
        """Those of our values that are not as stated; of several stated ones, each must occur."""
        if _SEVERAL.fullmatch(row.value) and self._entry("values", row) is None:
            stated = {int(part) for part in row.value.split(", ")}
            return {} if set(ours.values()) == stated else dict(ours)
        return {name: value for name, value in ours.items() if not self.agrees(row, name, value)}

    def agrees(self, row: Row, name: str, ours: Any) -> bool:
        """Whether a value of ours, which `ours` calls by `name`, is the one that is stated."""
        entry = self._entry("values", row) or {}
        if "one_of" in entry:
            return ours in entry["one_of"]
        if "same_as" in entry:
            return bool(ours == self.value(row, name.split(" on ")[1], entry["same_as"]))
        stated = entry["ours"] if entry else read_value(row.value, str(row))
        if isinstance(stated, str) and stated in self.configuration.systems:
            # where papers train equal systems, the effective configuration has one name for all
            corpus = self.configuration.task(name.split(" on ")[1])
            stated = self.configuration.canonical(corpus, stated)
        if isinstance(ours, Mapping) and "about" in ours:
            return bool(abs(stated - ours["about"]) <= ours["tolerance"] * ours["about"])
        return bool(stated == ours)

    @cached_method
    def _entry(self, section: str, row: Row) -> dict[str, Any] | None:
        """What a section of the map says of a row."""
        return _first(self.map[section], row)

    def path(self, row: Row) -> str:
        """Our key that a row is about, with dots between the keys of nested mappings."""
        keys: dict[str, str] = self.map["keys"]
        return keys.get(f"{row.key}={row.value}") or keys.get(row.key, row.key)

    def value(self, row: Row, task: str, name: str) -> Any:
        """Our effective value for one task and system or decoding."""
        corpus = self.configuration.task(task)
        resolved = self.configuration.on(corpus)
        path = self.path(row)
        if path.startswith("corpus."):
            return at(self.configuration.corpus(corpus).as_written(), path.removeprefix("corpus."))
        if row.key.startswith("decoding."):
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
            return at({"distilled": distilled}, path[len("text.") :])
        validated_by = training.validation_decoding
        steps = 1 if validated_by is None else validated_by.options.get("steps", 1)
        size = resolved.system(name).size
        return at(training.as_json() | {"size": size, "validation": {"steps": steps}}, path)

    def verdicts(self, paper: str | None = None) -> Iterator[Verdict]:
        """All rows, or those of one paper, each with what is made of it."""
        for row in self.rows:
            if paper in (None, row.paper):
                yield self.verdict(row)


def _first(entries: list[dict[str, Any]], row: Row) -> dict[str, Any] | None:
    """The first entry whose patterns for fields of a row all fit."""
    return next((entry for entry in entries if _is_about(entry, row)), None)


def _is_about(entry: Mapping[str, Any], row: Row) -> bool:
    return all(_fits(getattr(row, field), entry[field]) for field in _FIELDS if field in entry)


def _fits(value: str, patterns: str | list[str]) -> bool:
    every = [patterns] if isinstance(patterns, str) else patterns
    return any(fnmatchcase(value, pattern) for pattern in every)


def deviations(configuration: Configuration, paper: str) -> list[str]:
    """Where the configuration at the papers' scale differs from what a paper states, in sentences.

    Args:
        configuration: at any scale.
        paper: its name in `settings.csv`; any other has no stated settings.
    """
    if not entries(configuration, paper):
        return []
    at_paper = replace(configuration, scale=SCALE, overrides=Overrides())
    stated = Stated(at_paper)
    rows = [row for row in stated.rows if row.paper == paper and _first(stated.deviations, row)]
    found = map(stated.verdict, rows)
    return [_printed(verdict) for verdict in found if verdict.kind == DEVIATION]


def entries(configuration: Configuration, paper: str) -> list[dict[str, Any]]:
    """What `deviations.yaml` says of a paper; nothing if there is no such file."""
    if not (configuration.root / DEVIATIONS).exists():
        return []
    found = read_yaml(configuration.root, DEVIATIONS)["deviations"]
    return [entry for entry in found if entry["paper"] == paper]


def made_of(configuration: Configuration, paper: str) -> Any:
    """What `deviations` depends on, JSON-able; nothing if it has nothing to say of a paper."""
    found = entries(configuration, paper)
    if not found:
        return []
    files = configuration.files
    folders = [files[name] for name in ("systems", "recipes", "decodings", "corpora")]
    texts = [(configuration.root / name).read_text("utf-8") for name in (ROWS, MAP)]
    return [found, folders, files["scales"][SCALE], texts]


def _printed(verdict: Verdict) -> str:
    row = verdict.row
    ours = sorted({str(value) for value in verdict.ours.values()})
    return (
        f"{row.system}, {row.task}: {row.key} is {row.value} in {SOURCES[row.source]}, here "
        f"{' or '.join(_SHOWN.get(value, value) for value in ours)}: {verdict.reason}"
    )

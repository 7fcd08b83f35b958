"""Settings that the papers state, held against the effective configuration at the papers' scale.

`config/published/settings.csv` has a row for each setting of training, text, decoding and measuring
that a paper or its published code states. `settings-map.yaml` beside it says which of our systems,
decodings and keys a row is about, or why it is not about the configuration; `deviations.yaml` says
where we differ, and why.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from nat.configuration import Configuration
from nat.configuration.file_names import PAPER_SCALE
from nat.configuration.overrides import Overrides
from nat.configuration.yaml_file import read_value
from nat.errors import UserError
from nat.nested import at
from nat.published import stated_files
from nat.published.stated_files import (
    MAP,
    ROWS,
    SOURCES,
    Deviation,
    Entries,
    Row,
)
from nat.spelling import hint

CHECKED, DEVIATION, OUTSIDE = "checked", "deviation", "not configuration"
ALL, METHOD = "all", "method"
_SHOWN = {"None": "nothing", "True": "yes", "False": "no"}
_SEVERAL = re.compile(r"\d+(, \d+)+")


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

    Attributes:
        rows: all rows of `settings.csv`.
        map: what rows are about.
        outside, systems, decodings, values: lists of the map.
        deviations: where we differ.

    Raises:
        UserError: if one of the three files cannot be read.
    """

    def __init__(self, configuration: Configuration) -> None:
        self.configuration = configuration
        self.rows = stated_files.read_rows(configuration.root)
        self.map = stated_files.read_map(configuration.root)
        self.outside = Entries(self.map.outside)
        self.systems = Entries(self.map.systems)
        self.decodings = Entries(self.map.decodings)
        self.values = Entries(self.map.values)
        self.deviations = stated_files.read_deviations(configuration.root)

    def verdict(self, row: Row) -> Verdict:
        """Hold one row against the configuration.

        Raises:
            UserError: if the map names a system, decoding or task that does not exist.
        """
        outside = self.outside.first(row)
        deviation = self.deviations.first(row)
        if deviation is not None and deviation.ours is not None:  # no key has the value
            kind = DEVIATION if outside is not None and outside.reason == METHOD else None
            return Verdict(row, kind, {row.system: deviation.ours}, deviation.reason)
        if outside is not None:
            return Verdict(row, OUTSIDE, {}, self.map.reasons[outside.reason])
        found = self.ours(row)
        differing = self.differing(row, found)
        if deviation is not None and differing:
            return Verdict(row, DEVIATION, differing, deviation.reason)
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
        """Our tasks that a row is about.

        Raises:
            UserError: if the map says nothing of the tasks of the paper, or not of this one.
        """
        ours = self.map.tasks.get(row.paper)
        if ours is None:
            raise UserError(
                f"{MAP}: missing key '{row.paper}' at 'tasks', since {ROWS} line {row.line} is of "
                "this paper; give our task for each task in its rows, such as "
                f"'{row.paper}: {{wmt14-en-de: wmt14-en-de}}'"
            )
        if row.task == ALL:
            entry = self.systems.first(row)
            return list(ours.values() if entry is None or entry.tasks is None else entry.tasks)
        if row.task not in ours:
            raise UserError(
                f"{ROWS} line {row.line}: column 'task': unknown task '{row.task}'; "
                f"{hint(row.task, [ALL, *ours])} (key 'tasks.{row.paper}' of {MAP})"
            )
        return [ours[row.task]]

    def named(self, row: Row) -> list[str]:
        """Our systems, or for a key of decodings our decodings, that a row is about."""
        entry = (self.decodings if is_of_decoding(row) else self.systems).first(row)
        return [] if entry is None else list(entry.ours)

    def differing(self, row: Row, ours: Mapping[str, Any]) -> dict[str, Any]:
        """Those of our values that are not as stated; of several stated ones, each must occur."""
        if _SEVERAL.fullmatch(row.value) and self.values.first(row) is None:
            stated = [int(part) for part in row.value.split(", ")]
            found = list(ours.values())  # lists among them have no hash
            known = all(value in stated for value in found)
            return {} if known and all(value in found for value in stated) else dict(ours)
        return {name: value for name, value in ours.items() if not self.agrees(row, name, value)}

    def agrees(self, row: Row, name: str, ours: Any) -> bool:
        """Whether a value of ours, which `ours` calls by `name`, is the one that is stated."""
        entry = self.values.first(row)
        if entry is None:
            stated = read_value(row.value, str(row))
        elif entry.one_of is not None:
            return ours in entry.one_of
        elif entry.same_as is not None:
            return bool(ours == self.value(row, name.split(" on ")[1], entry.same_as))
        else:
            stated = entry.ours
        if isinstance(stated, str) and stated in self.configuration.systems:
            # where papers train equal systems, the effective configuration has one name for all
            corpus = self.configuration.task(name.split(" on ")[1])
            stated = self.configuration.canonical(corpus, stated)
        if isinstance(ours, Mapping) and "about" in ours:
            is_number = isinstance(stated, int | float)
            return is_number and abs(stated - ours["about"]) <= ours["tolerance"] * ours["about"]
        return bool(stated == ours)

    def path(self, row: Row) -> str:
        """Our key that a row is about, with dots between the keys of nested mappings."""
        keys = self.map.keys
        return keys.get(f"{row.key}={row.value}") or keys.get(row.key, row.key)

    def value(self, row: Row, task: str, name: str) -> Any:
        """Our effective value for one task and system or decoding."""
        corpus = self.configuration.task(task)
        resolved = self.configuration.on(corpus)
        path = self.path(row)
        if path.startswith("corpus."):
            return at(self.configuration.corpus(corpus).as_written(), path.removeprefix("corpus."))
        if is_of_decoding(row):
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

    def verdicts(self) -> Iterator[Verdict]:
        """All rows, each with what is made of it."""
        return map(self.verdict, self.rows)


def is_of_decoding(row: Row) -> bool:
    """Whether a row is about our decodings rather than our systems."""
    return row.key.startswith("decoding.")


def deviations(configuration: Configuration, paper: str) -> list[str]:
    """Where the configuration at the papers' scale differs from what a paper states, in sentences.

    Args:
        configuration: at any scale.
        paper: its name in `settings.csv`; any other has no stated settings.
    """
    if not _of_paper(configuration, paper):
        return []
    stated = Stated(replace(configuration, scale=PAPER_SCALE, overrides=Overrides()))
    rows = [row for row in stated.rows if row.paper == paper and stated.deviations.first(row)]
    found = map(stated.verdict, rows)
    return [_printed(verdict) for verdict in found if verdict.kind == DEVIATION]


def _of_paper(configuration: Configuration, paper: str) -> list[Deviation]:
    """The deviations that are about rows of a paper."""
    root = configuration.root
    if not stated_files.exist(root):
        return []
    found = stated_files.read_deviations(root)
    its = {found.number(row) for row in stated_files.read_rows(root) if row.paper == paper}
    return [deviation for number, deviation in enumerate(found) if number in its]


def made_of(configuration: Configuration, paper: str) -> Any:
    """What `deviations` depends on, JSON-able; nothing if it has nothing to say of a paper."""
    found = [deviation.as_written() for deviation in _of_paper(configuration, paper)]
    if not found:
        return []
    files = configuration.files
    folders = [files[name] for name in ("systems", "recipes", "decodings", "corpora")]
    texts = [(configuration.root / name).read_text("utf-8") for name in (ROWS, MAP)]
    return [found, folders, files["scales"][PAPER_SCALE], texts]


def _printed(verdict: Verdict) -> str:
    row = verdict.row
    ours = sorted({str(value) for value in verdict.ours.values()})
    return (
        f"{row.system}, {row.task}: {row.key} is {row.value} in {SOURCES[row.source]}, here "
        f"{' or '.join(_SHOWN.get(value, value) for value in ours)}: {verdict.reason}"
    )

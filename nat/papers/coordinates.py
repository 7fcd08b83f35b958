"""From coordinates of a paper's file to cells.

The coordinates of a cell come from several places, later ones overriding earlier ones: the paper's
`cells`, the system that the paper names, the `cells` of the table, and its column and row (in
figures: panel, series and point). They are templates, in which variables such as `{steps}` are
replaced. The file of a number follows from its address, so the graph knows it before anything has
run.
"""

import itertools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from nat.artifacts import (
    Analysis,
    Artifact,
    Latency,
    Score,
    TotalCorrelation,
    TrainingRecord,
    is_generated,
)
from nat.configuration import Configuration
from nat.configuration.file_names import PAPER_SCALE
from nat.data.splits import held_out
from nat.errors import UserError, told_of
from nat.measures.known import LATENCY, MEASURES, PAIR, SCORE, TRAINING
from nat.measures.latency_setting import parse_setting
from nat.options import hint
from nat.papers.cells import OVER, QUOTED, Cell
from nat.papers.description import COORDINATES, Column, Labelled, PrintedSystem

Chosen = dict[str, Any]
"""Coordinates and variables of a cell by name, with one value each."""
_VARIABLE = re.compile(r"\{(\w+)\}")
_ABOVE_ZERO = re.compile(r"(?=.*[1-9])\d*\.?\d+")
_ACRONYM = re.compile(r"(wmt|iwslt|nist)\d*")


class Heading(NamedTuple):
    """A row, column, series or panel: its label, its coordinates, and what it is made from.

    Attributes:
        varied: the coordinates and variables that are lists in `given`.
        given: as the paper's file describes it; None for a row that is only quoted.
    """

    label: str
    chosen: Chosen
    varied: tuple[str, ...] = ()
    given: Any = None


def product(given: Mapping[str, Any]) -> Iterator[tuple[Chosen, tuple[str, ...]]]:
    """Expand lists to their product: every combination, and the names of the lists."""
    order = [key for key in ("system", "task", "steps") if key in given]
    order += [key for key in given if key not in COORDINATES]
    order += [key for key in COORDINATES if key in given and key not in order]
    values = [given[key] if isinstance(given[key], list) else [given[key]] for key in order]
    varied = tuple(key for key in order if isinstance(given[key], list))
    for combination in itertools.product(*values):
        yield dict(zip(order, combination, strict=True)), varied


def heading(task: str) -> str:
    """Write a task as tables print it: `wmt14-en-de` is WMT14 En-De."""
    name, *rest = task.split("-")
    first = name.upper() if _ACRONYM.fullmatch(name) else name.capitalize()
    return " ".join([first, "-".join(part.capitalize() for part in rest)]).strip()


def over(found: Sequence[Cell], others: Sequence[Cell]) -> list[Cell]:
    """Join cells with those that they are shown over."""
    labels = {
        key: getattr(found[0], key) for key in ("group", "x", "y", "category", "point", "axis")
    }
    return [*found, *(each._replace(role=OVER, **labels) for each in others if found[0].system)]


class Resolver:
    """Resolves coordinates of one paper.

    Attributes:
        paper: its file.
        file: path of the file, for messages.
        defaults: the coordinates of the whole file.
    """

    def __init__(self, configuration: Configuration, name: str) -> None:
        self.configuration = configuration
        self.name = name
        self.paper = configuration.paper(name)
        self.file = f"config/papers/{name}.yaml"
        self.defaults = self.paper.cells.given()
        self._systems: dict[tuple[str | None, str | None], PrintedSystem | None] = {}

    # Mistakes

    def error(self, at: str, text: str) -> UserError:
        """The error of a key of the file."""
        return UserError(f"{self.file}: {at}: {text}")

    def unknown(self, at: str, what: str, name: str, known: Iterable[str]) -> UserError:
        """The error of a name that does not exist, with the nearest that does."""
        return self.error(at, f"unknown {what} '{name}'; {hint(name, known)}")

    def missing(self, at: str, key: str) -> UserError:
        """The error of a coordinate that nothing gives."""
        return self.error(at, f"no '{key}' is given; write the key '{key}' there")

    def no_repetition(self, at: str, labels: Sequence[str]) -> None:
        """Refuse repeated labels."""
        twice = next((label for label in labels if labels.count(label) > 1), None)
        if twice is not None:
            raise self.error(at, f"the label '{twice}' is used twice; labels must differ")

    def no_conflict(self, at: str, one: Chosen, other: Chosen) -> None:
        """Refuse two headings that give a coordinate or a variable differently."""
        for key in one.keys() & other.keys():
            if one[key] != other[key]:
                raise self.error(at, f"the key '{key}' is given differently")

    # Words

    def label(self, template: str | None, chosen: Chosen, varied: Sequence[str], at: str) -> str:
        """Write the label of a row, column or case: its system, and all that was varied."""
        words = {key: self.word(key, value) for key, value in chosen.items() if value is not None}
        if template is not None:
            return self.filled(template, words, at)
        names = [key for key in dict.fromkeys(["system", *varied]) if key in words]
        if not names:
            names += [key for key in ("measure", "task") if key in words][:1]
        if not names:
            raise self.missing(at, "label")
        return ", ".join(words[key] for key in names)

    def word(self, key: str, value: Any) -> str:
        """Write a coordinate as labels print it."""
        if key == "task":
            return self.configuration.heading(value) or heading(value)
        if key == "measure":
            return MEASURES[value].label if value in MEASURES else str(value)
        return f"{value} step{'s' * (value != 1)}" if key == "steps" else _text(value)

    def filled(self, template: str, values: Mapping[str, Any], at: str) -> str:
        """Replace the variables of a template."""
        for name in _VARIABLE.findall(template):
            if name not in values:
                raise self.unknown(at, f"variable of '{template}'", name, values)
        return _VARIABLE.sub(lambda match: _text(values[match[1]]), template)

    def headings(self, given: Iterable[str | Labelled], at: str, along: str = "") -> list[Heading]:
        """Expand rows, columns, panels or series; a name alone is a measure or a task.

        A coordinate that runs along an axis does not vary between series.
        """
        found = []
        for each in given:
            described = Column() if isinstance(each, str) else each
            coordinates = described.given()
            if isinstance(each, str):
                tasks = self.configuration.all_tasks
                if each not in MEASURES and each not in tasks:
                    raise self.unknown(at, "measure or task", each, [*MEASURES, *tasks])
                coordinates = {"measure" if each in MEASURES else "task": each}
            coordinates = {key: value for key, value in coordinates.items() if key != along}
            for chosen, varied in product(coordinates):
                label = self.label(described.label, chosen, varied, at)
                found.append(Heading(label, chosen, varied, described))
        self.no_repetition(at, [each.label for each in found])
        return found

    # Systems

    def system(self, name: str | None, task: str | None) -> PrintedSystem | None:
        """A system of the paper, completed by the one that it is `like` and by a task's changes."""
        key = name, task
        if key not in self._systems:
            self._systems[key] = None if name not in self.paper.systems else self._system(*key)
        return self._systems[key]

    def _system(self, name: str | None, task: str | None) -> PrintedSystem:
        chain = [str(name)]
        while (like := self.paper.systems[chain[-1]].like) is not None:
            if like not in self.paper.systems or like in chain:
                others = [each for each in self.paper.systems if each not in chain]
                raise self.unknown(f"systems.{chain[-1]}.like", "system", like, others)
            chain.append(like)
        found: dict[str, Any] = {}
        for own in (self.paper.systems[each] for each in reversed(chain)):
            for change in (own, own.tasks.get(task or "")):
                if change is not None:
                    found |= {key: getattr(change, key) for key in change.model_fields_set}
        return PrintedSystem.model_construct(**found)

    def configured(self, name: str, chosen: Chosen, at: str) -> str:
        """The name of a system in `config/systems`, checked to exist."""
        printed = self.system(name, chosen.get("task"))
        if printed is not None and printed.system is None:
            raise self.missing(f"systems.{name}", "system")
        found = self.filled(str(printed.system) if printed else name, chosen, at)
        if found not in self.configuration.systems:
            known = [*self.paper.systems, *self.configuration.systems]
            raise self.unknown(at, "system", found, known)
        return found

    def decodings(self, chosen: Chosen, at: str) -> list[str]:
        """How a cell is decoded, as it says itself or as its system is: once for each draw."""
        printed = self.system(chosen["system"], chosen.get("task"))
        template = chosen.get("decoding")
        if template is None and printed is not None:
            template = printed.decoding
            if isinstance(template, dict):
                template = template.get(str(chosen.get("steps")), template.get("n"))
        if template is None or ("{steps}" in template and "steps" not in chosen):
            raise self.missing(at, "decoding" if template is None else "steps")
        draws: Sequence[int | None] = (printed.draws if printed else None) or [None]
        found = [
            self.filled(template, chosen | ({"draw": each} if each else {}), at) for each in draws
        ]
        if len(set(found)) < len(found):
            raise self.error(at, f"'draws' of '{chosen['system']}': no '{{draw}}' in '{template}'")
        return found

    # Cells

    def numbers(self, chosen: Chosen, at: str, **labels: Any) -> list[Cell]:
        """The cells at given coordinates, one for each seed and draw.

        Args:
            chosen: the coordinates; the system is `None` where nothing is run.
            at: what they are of, for messages.
            labels: and other fields of the cells.

        Raises:
            UserError: for unknown names, and for missing coordinates.
        """
        printed = self.system(chosen.get("system"), chosen.get("task"))
        defaults = dict(self.defaults)
        if printed is not None and printed.decoding is not None:
            defaults.pop("decoding", None)
        chosen = defaults | chosen
        for key in ("measure", "task", "system"):
            if key not in chosen:
                raise self.missing(at, key)
        name = self.filled(chosen["measure"], chosen, at)
        if name not in MEASURES:
            raise self.unknown(at, "measure", name, MEASURES)
        base = Cell(self.name, measure=name, task=chosen["task"], **labels)
        if chosen["system"] is None:
            return [base._replace(reason=QUOTED)]
        measure = MEASURES[name]
        found: dict[str, Any] = {"system": self.configured(chosen["system"], chosen, at)}
        decodings = self.decodings(chosen, at) if "decoding" in measure.coordinates else [""]
        for key in ("split", "setting", "partner"):
            given = self.filled(chosen.get(key) or "", chosen, at)
            needed = key in measure.coordinates
            if needed and not given:
                raise self.missing(at, key)
            found[key] = given if needed or (key == "setting" and measure.setting) else ""
        if found["partner"]:
            found["partner"] = self.configured(chosen["partner"], chosen, at)
        found["setting"] = found["setting"] or measure.setting
        cells = [base._replace(decoding=each, **found) for each in decodings]
        with told_of(f"{self.file}: {at}: "):
            check_setting(name, found["setting"])
            missing = self._cannot_run(cells)
        if missing:
            return [cells[0]._replace(reason=missing)]
        corpus = self.configuration.task(base.task)
        model = self.configuration.canonical(corpus, found["system"])
        stand_in = self._stand_in(base, corpus)
        return [
            self._sourced(each._replace(corpus=corpus, model=model, seed=seed, stand_in=stand_in))
            for seed in self.configuration.seeds_of(self.name)
            for each in cells
        ]

    def _sourced(self, cell: Cell) -> Cell:
        """A cell with the result that has its number; the group of a latency is yet unknown."""
        kind, run = MEASURES[cell.measure].source, self.configuration.run
        names = run, cell.corpus, cell.model, cell.seed
        source: Artifact = Analysis(*names, kind)
        part = cell.split
        if kind == SCORE:
            source = Score(*names, cell.decoding, cell.split)
        elif kind == TRAINING:
            source, part = TrainingRecord(*names), TRAINING
        elif kind == LATENCY:
            part = f"{cell.model}/{cell.decoding}"
            source = Latency(run, cell.corpus, "", cell.seed, cell.setting, ())
        elif kind == PAIR:
            partner = self.configuration.canonical(cell.corpus, cell.partner)
            source = TotalCorrelation(run, cell.corpus, cell.model, partner, cell.seed)
        return cell._replace(source=source, path=source.path, part=part)

    def _cannot_run(self, cells: Sequence[Cell]) -> str:
        """Why this scale cannot measure a cell; '' if it can.

        Raises:
            UserError: for an unknown task or split, and a decoding that does not suit.
        """
        configuration, cell = self.configuration, cells[0]
        measure = MEASURES[cell.measure]
        for each in cells if cell.decoding else ():
            configuration.check_decoding(each.system, each.decoding)
        if cell.task in configuration.all_tasks and cell.task not in configuration.tasks:
            return f"scale {configuration.scale} has no corpus for {cell.task}"
        corpus = configuration.task(cell.task)
        known = held_out(configuration.corpus(corpus))
        if cell.split and measure.of_corpus and cell.split not in known:
            where = configuration.file_of("corpora", corpus)
            raise UserError(
                f"'{cell.split}' is no held-out split of {where}; {hint(cell.split, known)}"
            )
        there = configuration.on(corpus)
        model = configuration.canonical(corpus, cell.system)
        cannot = there.cannot_train(model) or there.cannot_prepare(corpus)
        if cell.decoding and not cannot:
            reasons = (there.cannot_translate(each.decoding) for each in cells)
            cannot = next(filter(None, reasons), "")
        if not cannot and measure.known_law and not is_generated(configuration, corpus):
            return f"the law of {corpus} is not known"
        return cannot

    def _stand_in(self, cell: Cell, corpus: str) -> str:
        """What stands in for the paper's corpus or training; '' where nothing does."""
        measure, scale, task = MEASURES[cell.measure], self.configuration.scale, cell.task
        comparable = not measure.of_corpus or measure.known_law
        if comparable or (corpus == task and scale == PAPER_SCALE):
            return ""
        stand_in = f"corpus {corpus} at scale {scale}"
        of_papers = self.configuration.files["scales"].get(PAPER_SCALE, {}).get("tasks", [task])
        theirs = task if corpus != task else f"the training of scale {PAPER_SCALE}"
        return stand_in + (f" stands in for {theirs}" if task in of_papers else "")


def _text(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def check_setting(measure: str, setting: str) -> None:
    """Refuse a setting that a measure cannot have.

    Raises:
        UserError: naming what was expected.
    """
    known = MEASURES[measure]
    if known.source == LATENCY:
        parse_setting(setting)
    elif bool(known.setting) != bool(setting) or (setting and not _ABOVE_ZERO.fullmatch(setting)):
        expected = "beta, a number above 0" if known.setting else f"none for '{measure}'"
        raise UserError(f"setting: found '{setting}', expected {expected}")

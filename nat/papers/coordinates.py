"""From coordinates of a paper's file, which docs/papers.md describes, to cells.

The file of a number follows from its address, so the graph knows it before anything has run.
"""

import itertools
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from nat.artifacts import Analysis, Artifact, Latency, Score, TotalCorrelation, TrainingRecord
from nat.configuration import Configuration
from nat.configuration.compatibility import check_decoding
from nat.configuration.entries import all_tasks
from nat.configuration.families import family_of, require
from nat.configuration.files import PAPER_SCALE
from nat.configuration.overrides import Point
from nat.configuration.runnable import cannot_prepare, cannot_train, cannot_translate
from nat.data.corpus_parts import has_references
from nat.errors import UserError, told_of
from nat.measures.known import LATENCY, MEASURES, PAIR, SCORE, TRAINING
from nat.measures.latency_setting import parse_setting
from nat.options import cached_method
from nat.papers import published
from nat.papers.cells import QUOTED, Cell
from nat.papers.description import COORDINATES, Line, PrintedSystem

Chosen = dict[str, Any]
"""Coordinates and variables of a cell by name, with one value each."""
SOURCES: dict[str, type[Artifact]] = {
    **{SCORE: Score, TRAINING: TrainingRecord},
    **{LATENCY: Latency, PAIR: TotalCorrelation},
}
"""What has the numbers of a source of measures; those of all others are in an analysis."""
_ABOVE_ZERO = re.compile(r"(?=.*[1-9])\d*\.?\d+")
_ACRONYM = re.compile(r"(wmt|iwslt|nist)\d*")


class Heading(NamedTuple):
    """A row, column, series or panel: one of those that a line gives."""

    label: str
    chosen: Chosen
    given: Line

    @property
    def is_run(self) -> bool:
        """Whether a row is run, and not only quoted or computed from others."""
        return self.given.quoted is None and self.given.derived is None


def product(given: Mapping[str, Any]) -> Iterator[tuple[Chosen, tuple[str, ...]]]:
    """Expand lists to their product: every combination, and the names of the lists."""
    variables = [key for key in given if key not in COORDINATES]
    order = dict.fromkeys(["system", "task", "steps", *variables, *COORDINATES])
    lists = {key: given[key] for key in order if key in given}
    varied = tuple(key for key, value in lists.items() if isinstance(value, list))
    several = (value if isinstance(value, list) else [value] for value in lists.values())
    for values in itertools.product(*several):
        yield dict(zip(lists, values, strict=True)), varied


def heading(task: str) -> str:
    """Write a task as tables print it: `wmt14-en-de` is WMT14 En-De."""
    name, *rest = task.split("-")
    first = name.upper() if _ACRONYM.fullmatch(name) else name.capitalize()
    return " ".join([first, "-".join(part.capitalize() for part in rest)]).strip()


def missing(key: str) -> UserError:
    """The error of a coordinate that nothing gives."""
    return UserError(f"no '{key}' is given; write the key '{key}' there")


def all_differ(labels: Iterable[str]) -> None:
    """Refuse repeated labels."""
    for label, number in Counter(labels).items():
        if number > 1:
            raise UserError(f"the label '{label}' is used twice; labels must differ")


def filled(template: str, values: Mapping[str, Any]) -> str:
    """Replace the variables of a template."""
    for name in re.findall(r"\{(\w+)\}", template):
        require(name, values, f"variable of '{template}'")
    return re.sub(r"\{(\w+)\}", lambda match: _text(values[match[1]]), template)


class Resolver:
    """Resolves coordinates of one paper; who calls it tells of which part of its file."""

    def __init__(self, configuration: Configuration, name: str) -> None:
        self.configuration, self.name = configuration, name
        self.paper = configuration.paper(name)
        self.file = f"config/papers/{name}.yaml"
        self.defaults = self.paper.cells.given()
        numbers = [each for each, table in self.paper.tables.items() if table.kind != "samples"]
        self.published = published.read(configuration.root, name, numbers)

    # Words

    def label(self, template: str | None, chosen: Chosen, varied: Sequence[str]) -> str:
        """Write the label of a row, column or case: its system, and all that was varied."""
        words = {key: self.word(key, value) for key, value in chosen.items() if value is not None}
        if template is not None:
            return filled(template, words)
        names = [key for key in dict.fromkeys(["system", *varied]) if key in words]
        names += [key for key in ("measure", "task") if key in words and not names][:1]
        if not names:
            raise missing("label")
        return ", ".join(words[key] for key in names)

    def word(self, key: str, value: Any) -> str:
        """Write a coordinate as labels print it."""
        if key == "task":
            return self.configuration.scale_settings.heading(value) or heading(value)
        if key == "measure" and value in MEASURES:
            return MEASURES[value].label
        return f"{value} step{'s' * (value != 1)}" if key == "steps" else _text(value)

    def headings(self, given: Iterable[str | Line], key: str, along: str = "") -> list[Heading]:
        """Expand the rows, columns, panels or series that a part has under a key.

        A name alone is a measure or a task. What runs along an axis does not vary between series.
        """
        headings = []
        with told_of(f"{key}: "):
            for line in given:
                if isinstance(line, str):
                    names = [*MEASURES, *all_tasks(self.configuration)]
                    require(line, names, "measure (docs/measures.md) or task")
                    line = Line(**{"measure" if line in MEASURES else "task": line})
                coordinates = {key: each for key, each in line.given().items() if key != along}
                for chosen, varied in product(coordinates):
                    label = self.label(line.label, chosen, varied)
                    headings.append(Heading(label, chosen, line))
            all_differ(each.label for each in headings)
        return headings

    # Systems

    @cached_method
    def system(self, name: str | None, task: str | None) -> PrintedSystem | None:
        """A system of the paper, completed by the one that it is `like` and by a task's changes."""
        own = self.paper.systems.get(str(name))
        if own is None:
            return None
        if own.like is not None:
            above = itertools.takewhile(lambda each: each != name, self.paper.systems)
            with told_of(f"systems.{name}.like: "):
                require(own.like, [*above], "system above it:")
        keys = dict(self.system(own.like, task) or {})
        for change in (own, own.tasks.get(str(task))):
            keys |= {} if change is None else change.model_dump(exclude_unset=True)
        return PrintedSystem.model_construct(**keys)

    def configured(self, name: str, chosen: Chosen) -> str:
        """The name of a system in `config/systems`, checked to exist."""
        printed = self.system(name, chosen.get("task"))
        if printed is not None and printed.system is None:
            raise missing(f"systems.{name}.system")
        system = filled(str(printed.system) if printed else name, chosen)
        if system not in self.configuration.systems:
            require(system, [*self.paper.systems, *self.configuration.systems], "system")
        return system

    def _decodings(self, chosen: Chosen, printed: PrintedSystem) -> list[str]:
        """Decodings of a cell, its own or those of its system: one for each draw."""
        template = chosen.get("decoding") or printed.decoding or self.defaults.get("decoding")
        chosen = self.defaults | chosen
        if isinstance(template, dict):
            template = template.get(str(chosen.get("steps")), template.get("n"))
        if template is None or ("{steps}" in template and "steps" not in chosen):
            raise missing("decoding" if template is None else "steps")
        if printed.draws is None:
            return [filled(template, chosen)]
        return [filled(template, chosen | {"draw": draw}) for draw in printed.draws]

    # Cells

    def numbers(self, chosen: Chosen, **labels: Any) -> list[Cell]:
        """The cells at given coordinates, one for each seed and draw, with further fields.

        The system is None where nothing is run. Unknown names and missing coordinates are errors.
        """
        here = self.defaults | chosen
        for key in ("measure", "task", "system"):
            if key not in here:
                raise missing(key)
        name = require(filled(here["measure"], here), MEASURES, "measure (docs/measures.md)")
        measure, cell = MEASURES[name], Cell(measure=name, task=here["task"], **labels)
        if here["system"] is None:
            return [cell._replace(reason=QUOTED)]
        own: Chosen = {"setting": measure.setting} if measure.setting else {}
        for key in ("split", "setting", "partner"):
            if key in measure.coordinates or key in own:
                own[key] = filled(here.get(key) or own.get(key, ""), here)
                if not own[key]:
                    raise missing(key)
        if "partner" in own:
            own["partner"] = self.configured(own["partner"], here)
        cell = cell._replace(system=self.configured(here["system"], here), **own)
        decodings = [""]
        if "decoding" in measure.coordinates:
            printed = self.system(here["system"], here["task"]) or PrintedSystem()
            decodings = self._decodings(chosen, printed)
        cells = [cell._replace(decoding=decoding) for decoding in decodings]
        if reason := self._cannot_run(cells):
            return [cells[0]._replace(reason=reason)]
        seeds = self.paper.seeds or self.configuration.scale_settings.seeds
        return [self._sourced(each._replace(seed=seed)) for seed in seeds for each in cells]

    def at(self, cell: Cell, point: Point) -> Cell:
        """The cell with what a value of a sweep changes; the same if it changes nothing."""
        here = self.configuration
        names: dict[str, Collection[str]] = {"system": here.systems, "partner": here.systems}
        names |= {"decoding": here.files["decodings"], "task": here.tasks}
        moved: Chosen = {}
        for key, known in names.items():
            name = getattr(cell, key)
            for end in point.ends:  # of those keys that change what has this name
                if family_of(name + end, known):
                    name = moved[key] = name + end
        if cell.source is None or not moved:
            return cell
        return self._sourced(cell._replace(**moved, published=None, printed="", origin=""))

    def _sourced(self, cell: Cell) -> Cell:
        """A cell with the result that has its number; the group of a latency is yet unknown."""
        run, corpus = self.configuration.run, self.configuration.task(cell.task)
        model = self.configuration.canonical(corpus, cell.system)
        measure = MEASURES[cell.measure]
        kind, own = measure.source, {"run": run, "corpus": corpus, "system": model}
        names = {**cell._asdict(), **own, "analysis": measure.source, "group": "", "names": ()}
        if cell.partner:
            names["other"] = self.configuration.canonical(corpus, cell.partner)
        part = {TRAINING: TRAINING, LATENCY: f"{model}/{cell.decoding}"}.get(kind, cell.split)
        source = SOURCES.get(kind, Analysis).of(names)
        cell = cell._replace(corpus=corpus, model=model, source=source, part=part)
        # what stands in for the corpus or the training of the paper
        scale, task = self.configuration.scale, cell.task
        comparable = measure.any_corpus or measure.known_law
        if comparable or (corpus == task and scale == PAPER_SCALE):
            return cell
        stand_in = f"corpus {corpus} at scale {scale}"
        if task in self.configuration.files["scales"].get(PAPER_SCALE, {}).get("tasks", [task]):
            theirs = task if corpus != task else f"the training of scale {PAPER_SCALE}"
            stand_in = f"{stand_in} stands in for {theirs}"
        return cell._replace(stand_in=stand_in)

    def _cannot_run(self, cells: Sequence[Cell]) -> str:
        """The reason for which this scale cannot measure a cell; '' if it can."""
        configuration, cell = self.configuration, cells[0]
        measure = MEASURES[cell.measure]
        if measure.source == LATENCY:
            parse_setting(cell.setting)
        elif cell.setting and not _ABOVE_ZERO.fullmatch(cell.setting):
            raise UserError(f"setting: found '{cell.setting}', expected beta, a number above 0")
        for each in cells if cell.decoding else ():
            check_decoding(configuration, each.system, each.decoding)
        if cell.task in all_tasks(configuration) and cell.task not in configuration.tasks:
            return f"scale {configuration.scale} has no corpus for {cell.task}"
        corpus = configuration.task(cell.task)
        described = configuration.corpus(corpus)
        if cell.split and not measure.any_corpus:
            where = configuration.file_of("corpora", corpus)
            require(cell.split, described.held_out, f"held-out split of {where}:")
        there = configuration.on(corpus)
        model = configuration.canonical(corpus, cell.system)
        cannot = cannot_train(there, model) or cannot_prepare(there, corpus)
        if cell.decoding and not cannot:
            reasons = (cannot_translate(there, each.decoding) for each in cells)
            cannot = next(filter(None, reasons), "")
        if measure.known_law and described.generator is None:
            return cannot or f"the law of {corpus} is not known"
        several = any(has_references(described, split) for split in described.held_out)
        if measure.several_references and not several:
            return cannot or f"{corpus} has one reference per sentence"
        return cannot


def _text(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)

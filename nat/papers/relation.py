"""A paper as one relation: a row for each number of its tables and figures.

A row is a cell: a number with an address. Its coordinates come from several places, later ones
overriding earlier ones: the paper's `cells`, the system that the paper names, the `cells` of the
table, and its column and row (in figures: panel, series and point). Coordinates are templates, in
which variables such as `{steps}` are replaced. A row and a column that give the same coordinate or
variable differently are an error.

The file of a number follows from its address, so the graph knows it before anything has run.
Everything else is a query: the inputs of a report are its paths, a table is a pivot, a figure the
rows themselves, and what is timed together a group.
"""

import itertools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple, TypeVar

import pandas as pd

from nat.artifacts import (
    Analysis,
    Artifact,
    Latency,
    Score,
    TotalCorrelation,
    TrainingCurve,
    TrainingRecord,
    held_out,
    is_generated,
)
from nat.configuration import Configuration
from nat.configuration.file_names import PAPER_SCALE
from nat.errors import UserError, told_of
from nat.measures.known import DERIVED, LATENCY, MEASURES, PAIR, SCORE, TOYS, TRAINING, measure_of
from nat.measures.latency_setting import parse_setting
from nat.papers import published
from nat.papers.description import (
    COORDINATES,
    NUMBERED,
    Axis,
    Column,
    Coordinates,
    Figure,
    Labelled,
    PrintedSystem,
    Table,
)
from nat.papers.published import Published
from nat.spelling import hint

Chosen = dict[str, Any]
"""Coordinates and variables of a cell by name, with one value each."""
Kind = TypeVar("Kind")
QUOTED, COMPUTED = "only quoted", "derived"
"""Why a cell has no number of ours: the paper quotes it, or it is computed from others."""
OWN, OVER = "own", "over"
"""Roles of a cell: what is shown, and what it is shown over."""
TEACHER, STUDENT = "teacher", "student"
TEXT = "text"
"""The only column of a table of texts."""
CURVE = "best_validation_bleu"
"""The measure of the cells of a training curve, which lies beside their file."""
_VARIABLE = re.compile(r"\{(\w+)\}")
_ACRONYM = re.compile(r"(wmt|iwslt|nist)\d*")


class Derivation(NamedTuple):
    """An operation and the cells that it takes, by row and column; of a correlation in pairs."""

    operation: str
    of: tuple[tuple[str, str], ...]


class Cell(NamedTuple):
    """A number with an address.

    The cells of a report that differ in nothing but seed and draw are shown as their mean. A cell
    of a system that is only quoted, of a task that the scale has no corpus for, and one that is
    computed from others have no source; `reason` says which.

    Attributes:
        report: such as `table 2`; of claims `claims`.
        row: label of a row, in figures of a series.
        column: label of a column, in figures of a panel.
        x: place on the horizontal axis, with a name in `category` where that is no number.
        y: place on the vertical axis of a plane.
        point: number of the point of a series in a scatter plot.
        axis: along which it is shown: `x` for the horizontal one of a scatter plot.
        role: `OVER` if others are shown over it.
        system: as the configuration calls it.
        model: the system of the same training on this corpus.
        seed: of the training; 0 without a source.
        source: the result with the number.
        part: of that file, see `nat.measures.results`.
        published: the printed number, or the printed words where it is none.
        printed: as the paper prints it.
        origin: of the printed value.
        stand_in: how the cell differs from the paper's; empty where it does not.
    """

    paper: str
    report: str
    row: str
    column: str
    measure: str
    task: str
    group: str = ""
    x: float | None = None
    y: float | None = None
    category: str = ""
    point: int = 0
    axis: str = "y"
    role: str = OWN
    system: str = ""
    decoding: str = ""
    split: str = ""
    setting: str = ""
    partner: str = ""
    corpus: str = ""
    model: str = ""
    seed: int = 0
    source: Artifact | None = None
    path: str = ""
    part: str = ""
    baseline: str = ""
    published: float | str | None = None
    printed: str = ""
    origin: str = ""
    stand_in: str = ""
    reason: str = ""
    derived: Derivation | None = None

    @property
    def address(self) -> tuple[str, ...]:
        """What the number is, whatever shows it."""
        names = self.system, self.task, self.decoding, self.split
        return (*names, self.measure, self.setting, self.partner)

    @property
    def where(self) -> tuple[Any, ...]:
        """What the cells have in common that are shown as one mean."""
        names = self.report, self.row, self.column, self.x, self.y, self.category
        return (*names, self.point, self.axis)

    @property
    def of_training(self) -> list[Artifact]:
        """The record and the curve of the training of the model; of a toy there are none."""
        if self.source is None or MEASURES[self.measure].source in TOYS:
            return []
        run: str = self.source.run  # type: ignore[attr-defined]
        names = run, self.corpus, self.model, self.seed
        return [TrainingRecord(*names), TrainingCurve(*names)]

    @property
    def results(self) -> list[Artifact]:
        """The results that are read for the number."""
        if self.source is None or isinstance(self.source, TrainingRecord):
            return self.of_training
        return [self.source]


def frame(cells: Iterable[Cell]) -> pd.DataFrame:
    """Make a frame with a row for each cell."""
    return pd.DataFrame(list(cells), columns=Cell._fields, dtype=object)


def cells_of(selected: pd.DataFrame) -> list[Cell]:
    """List the rows of a frame as cells."""
    return [Cell(*row) for row in selected[list(Cell._fields)].itertuples(index=False, name=None)]


@cache
def relation(configuration: Configuration, paper: str) -> pd.DataFrame:
    """Resolve all tables and figures of a paper.

    Raises:
        UserError: for a table, system, decoding, measure, baseline or published value that does
            not exist; names the file and the key.
    """
    return frame(Relation(configuration, paper).cells())


def report(configuration: Configuration, paper: str, name: str) -> list[Cell]:
    """List the cells of a table or figure such as `table 2`, row by row."""
    found = relation(configuration, paper)
    return cells_of(found[found.report == name])


def shown(cells: Iterable[Cell]) -> dict[tuple[Any, ...], tuple[list[Cell], list[Cell]]]:
    """Group cells that are shown as one mean, in order, each with those that it is shown over."""
    found: dict[tuple[Any, ...], tuple[list[Cell], list[Cell]]] = {}
    for cell in cells:
        found.setdefault(cell.where, ([], []))[cell.role == OVER].append(cell)
    return found


# Labels and products


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


def variables(template: str | None) -> list[str]:
    """List the names in braces of a template."""
    return _VARIABLE.findall(template or "")


def no_repetition(labels: Sequence[str], where: str) -> None:
    """Refuse repeated labels.

    Raises:
        UserError: for the first one.
    """
    twice = next((label for label in labels if labels.count(label) > 1), None)
    if twice is not None:
        raise UserError(f"{where}: the label '{twice}' is used twice; labels must differ")


class Relation:
    """Resolves the cells of one paper.

    Attributes:
        paper: its file.
        file: path of the file, for messages.
    """

    def __init__(self, configuration: Configuration, name: str) -> None:
        self.configuration = configuration
        self.name = name
        self.paper = configuration.paper(name)
        self.file = f"config/papers/{name}.yaml"
        self.defaults = self.paper.cells.given()
        self._systems: dict[tuple[str | None, str | None], PrintedSystem | None] = {}
        self._tables: dict[str, list[Cell]] = {}

    def cells(self) -> list[Cell]:
        """Resolve everything that the paper shows."""
        found = [cell for number in self.paper.tables for cell in self.table(number)]
        found += [cell for number in self.paper.figures for cell in self.figure(number)]
        return timed_together(self.configuration, self.name, found)

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
            raise UserError(f"{self.file}: {at}: missing key 'label'")
        return ", ".join(words[key] for key in names)

    def word(self, key: str, value: Any) -> str:
        """Write a coordinate as labels print it."""
        if key == "task":
            return self.configuration.heading(value) or heading(value)
        if key == "measure":
            return MEASURES[value].label if value in MEASURES else str(value)
        if key == "steps":
            return f"{value} step{'s' * (value != 1)}"
        return _text(value)

    def filled(self, template: str, values: Mapping[str, Any], at: str) -> str:
        """Replace the variables of a template."""
        for name in variables(template):
            if name not in values:
                raise UserError(
                    f"{self.file}: {at}: '{template}' needs the variable '{name}', which is not "
                    f"given; {hint(name, values)}"
                )
        return _VARIABLE.sub(lambda match: _text(values[match[1]]), template)

    def headings(self, given: Iterable[str | Labelled], at: str) -> list[Heading]:
        """Expand rows, columns or panels; a name alone is a measure or a task."""
        found = []
        for each in given:
            described = Column() if isinstance(each, str) else each
            coordinates = described.given()
            if isinstance(each, str):
                tasks = self.configuration.all_tasks
                if each not in MEASURES and each not in tasks:
                    known = hint(each, [*MEASURES, *tasks])
                    raise UserError(f"{self.file}: {at}: unknown measure or task '{each}'; {known}")
                coordinates = {"measure" if each in MEASURES else "task": each}
            for chosen, varied in product(coordinates):
                label = self.label(described.label, chosen, varied, at)
                found.append(Heading(label, chosen, varied, described))
        no_repetition([each.label for each in found], f"{self.file}: {at}")
        return found

    # Systems and addresses

    def system(self, name: str | None, task: str | None) -> PrintedSystem | None:
        """A system of the paper, completed by the one that it is `like` and by a task's changes."""
        key = name, task
        if key not in self._systems:
            self._systems[key] = self._system(name, task)
        return self._systems[key]

    def _system(self, name: str | None, task: str | None) -> PrintedSystem | None:
        if name not in self.paper.systems:
            return None
        chain = [name]
        while (like := self.paper.systems[chain[-1]].like) is not None:
            if like not in self.paper.systems or like in chain:
                known = hint(like, [each for each in self.paper.systems if each not in chain])
                raise UserError(f"{self.file}: systems.{chain[-1]}.like: unknown '{like}'; {known}")
            chain.append(like)
        found: dict[str, Any] = {}
        for each in reversed(chain):
            own = self.paper.systems[each]
            for change in (own, own.tasks.get(task or "")):
                if change is not None:
                    found |= {key: getattr(change, key) for key in change.model_fields_set}
        return PrintedSystem.model_construct(**found)

    def configured(self, name: str, chosen: Chosen, at: str) -> str:
        """The name of a system in `config/systems`, checked to exist."""
        printed = self.system(name, chosen.get("task"))
        if printed is not None and printed.system is None:
            raise UserError(f"{self.file}: systems.{name}: missing key 'system'")
        found = self.filled(str(printed.system) if printed else name, chosen, at)
        if found not in self.configuration.systems:
            known = hint(found, [*self.paper.systems, *self.configuration.systems])
            raise UserError(f"{self.file}: {at}: unknown system '{found}'; {known}")
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
            raise self.missing("decoding" if template is None else "steps", at)
        draws: Sequence[int | None] = (printed.draws if printed else None) or [None]
        found = [
            self.filled(template, chosen | ({"draw": each} if each else {}), at) for each in draws
        ]
        if len(set(found)) < len(found):
            raise UserError(
                f"{self.file}: {at}: '{chosen['system']}' has several 'draws', but its decoding "
                f"'{found[0]}' is the same for all; write '{{draw}}' in its name"
            )
        return found

    def missing(self, key: str, at: str) -> UserError:
        """The error about a coordinate that nothing gives."""
        return UserError(f"{self.file}: {at}: no '{key}' is given; write the key '{key}' there")

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
        own = printed is not None and printed.decoding is not None
        chosen = {k: v for k, v in self.defaults.items() if not (own and k == "decoding")} | chosen
        for key in ("measure", "task", "system"):
            if key not in chosen:
                raise self.missing(key, at)
        name = self.filled(chosen["measure"], chosen, at)
        if name not in MEASURES:
            raise UserError(f"{self.file}: {at}: unknown measure '{name}'; {hint(name, MEASURES)}")
        base = Cell(self.name, measure=name, task=chosen["task"], **labels)
        if chosen["system"] is None:
            return [base._replace(reason=QUOTED)]
        return self._measured(base, chosen, at)

    def _measured(self, base: Cell, chosen: Chosen, at: str) -> list[Cell]:
        measure = MEASURES[base.measure]
        found: dict[str, Any] = {"system": self.configured(chosen["system"], chosen, at)}
        decodings = self.decodings(chosen, at) if "decoding" in measure.coordinates else [""]
        for key in ("split", "setting", "partner"):
            given = self.filled(chosen.get(key) or "", chosen, at)
            needed = key in measure.coordinates
            if needed and not given:
                raise self.missing(key, at)
            found[key] = given if needed or (key == "setting" and measure.setting) else ""
        if found["partner"]:
            found["partner"] = self.configured(chosen["partner"], chosen, at)
        found["setting"] = found["setting"] or measure.setting
        cells = [base._replace(decoding=each, **found) for each in decodings]
        with told_of(f"{self.file}: {at}: "):
            check_setting(base.measure, found["setting"])
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
        """A cell with the result that has its number; `timed_together` completes latencies."""
        kind, run = MEASURES[cell.measure].source, self.configuration.run
        names = run, cell.corpus, cell.model, cell.seed
        source: Artifact
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
        else:
            source = Analysis(*names, kind)
        return cell._replace(source=source, path=source.path, part=part)

    def _cannot_run(self, cells: Sequence[Cell]) -> str:
        """Why this scale cannot measure a cell; '' if it can.

        Raises:
            UserError: for an unknown task or split, and a decoding that does not suit.
        """
        configuration, cell = self.configuration, cells[0]
        measure = MEASURES[cell.measure]
        # the check imports methods, and with them torch
        if cell.decoding and configuration.checked:
            for each in cells:
                configuration.check_decoding(each.system, each.decoding)
        if cell.task in configuration.all_tasks and cell.task not in configuration.tasks:
            return f"scale {configuration.scale} has no corpus for {cell.task}"
        corpus = configuration.task(cell.task)
        if cell.split and measure.of_corpus and cell.split not in held_out(configuration, corpus):
            known = held_out(configuration, corpus)
            where = configuration.file_of("corpora", corpus)
            raise UserError(
                f"split: '{cell.split}' of {where} is not scored; {hint(cell.split, known)}"
            )
        there = configuration.on(corpus)
        model = configuration.canonical(corpus, cell.system)
        cannot = there.cannot_train(model) or there.cannot_prepare(corpus)
        if cell.decoding:
            reasons = (there.cannot_translate(each.decoding) for each in cells)
            cannot = cannot or next(filter(None, reasons), "")
        if not cannot and measure.known_law and not is_generated(configuration, corpus):
            return f"the law of {corpus} is not known"
        return cannot

    def _stand_in(self, cell: Cell, corpus: str) -> str:
        """What stands in for the paper's corpus or training; '' where nothing does."""
        configuration, measure = self.configuration, MEASURES[cell.measure]
        scale = configuration.scale
        comparable = not measure.of_corpus or measure.known_law
        if comparable or (corpus == cell.task and scale == PAPER_SCALE):
            return ""
        stand_in = f"corpus {corpus} at scale {scale}"
        if cell.task in configuration.files["scales"].get(PAPER_SCALE, {}).get(
            "tasks", [cell.task]
        ):
            theirs = cell.task if corpus != cell.task else f"the training of scale {PAPER_SCALE}"
            stand_in += f" stands in for {theirs}"
        return stand_in

    def no_conflict(self, one: Chosen, other: Chosen, at: str) -> None:
        """Refuse two headings that give a coordinate or a variable differently."""
        for key in one.keys() & other.keys():
            if one[key] != other[key]:
                raise UserError(f"{self.file}: {at} give the key '{key}' differently")

    # Tables

    def table(self, number: str) -> list[Cell]:
        """The cells of a table, row by row; a table of settings has none."""
        if number not in self._tables:
            table = self.paper.tables[number]
            kinds = {"grid": self._grid, "samples": self._samples, "texts": self._texts}
            make = kinds.get(table.kind)
            self._tables[number] = make(number, table) if make else []
        return self._tables[number]

    def _grid(self, number: str, table: Table) -> list[Cell]:
        at = f"tables.{number}"
        columns = self.headings(table.columns, f"{at}.columns")
        rows = self._rows(table, at)
        lines = self.lines(number)
        published_ = published.join(
            self.name,
            lines,
            {row.label: not row.given.ours_only for row in rows if row.given is not None},
            {
                each.label: None if each.given.hidden else not each.given.ours_only
                for each in columns
            },
            f"{self.file}: {at}",
        )
        rows = _with_quoted(rows, lines)
        groups = self._groups(rows, lines, table, at)
        baselines = {row.label: self._baseline(row, rows, table, at) for row in rows}
        self._check_labels(rows, columns, table, at)
        found: dict[tuple[str, str], list[Cell]] = {}
        for row, column in itertools.product(rows, columns):
            if _derived(row) is None and _derived(column) is None:
                labels = {"group": groups[row.label], "baseline": baselines[row.label]}
                found[row.label, column.label] = self._cell(at, table, rows, row, column, labels)
        # Derived columns first: a derived row may be made of them too.
        for of_row in (False, True):
            for row, column in itertools.product(rows, columns):
                if (_derived(row) is not None) == of_row and (of_row or _derived(column)):
                    group = groups[row.label]
                    cell = self._computed(at, rows, columns, row, column, found)
                    found[row.label, column.label] = [cell._replace(group=group)]
        return [
            with_published(cell, published_.get((row.label, column.label)))
            for row, column in itertools.product(rows, columns)
            for cell in found[row.label, column.label]
        ]

    def _rows(self, table: Table, at: str) -> list[Heading]:
        found: list[Heading] = []
        for given in table.rows:
            if given.quoted is not None:
                found += [Heading(label, {"group": given.group}) for label in given.quoted]
            else:
                found += self.headings([given], f"{at}.rows")
        no_repetition([row.label for row in found], f"{self.file}: {at}.rows")
        return found

    def lines(self, number: str) -> list[Published]:
        """The published values of a table."""
        printed = [key for key, table in self.paper.tables.items() if table.kind != "samples"]
        return published.of_table(self.configuration.root, self.name, printed, number)

    def _groups(
        self, rows: Sequence[Heading], lines: Sequence[Published], table: Table, at: str
    ) -> dict[str, str]:
        """The group of each row: its own, its system if the steps vary, or the printed one."""
        printed = {line.row: line.group for line in lines}
        for name in table.groups:
            if name not in printed.values():
                known = hint(name, dict.fromkeys(printed.values()))
                raise UserError(
                    f"{self.file}: {at}.groups: no row group '{name}' is printed; {known}"
                )
        found = {}
        for row in rows:
            given = row.given.group if row.given is not None else row.chosen.get("group")
            if (
                given is None
                and "steps" in row.varied
                and row.chosen.get("system") in self.paper.systems
            ):
                given = row.chosen["system"]
            if given is None:
                own = printed.get(row.label, "")
                given = table.groups.get(own, own)
            found[row.label] = given
        return found

    def _baseline(self, row: Heading, rows: Sequence[Heading], table: Table, at: str) -> str:
        """The label of the row that a row is tested against; empty if there is none."""
        if not _is_run(row):
            return ""
        name = row.chosen.get("system", "")
        given = row.given.baseline or table.baseline.get(name)
        printed = self.system(name, None)
        wanted = given or (printed.baseline if printed is not None else None)
        if wanted is None:
            return ""
        for each in rows:
            same = {**each.chosen, "system": name} == row.chosen
            if each.label != row.label and each.chosen.get("system") == wanted and same:
                return each.label
        labels = [each.label for each in rows]
        if given is not None and wanted not in labels:
            known = hint(wanted, labels)
            raise UserError(
                f"{self.file}: {at}.rows: baseline '{wanted}' of row '{row.label}' is not a row; "
                f"{known}"
            )
        return wanted if wanted in labels else ""

    def _check_labels(
        self, rows: Sequence[Heading], columns: Sequence[Heading], table: Table, at: str
    ) -> None:
        """Refuse labels that a table names and does not have."""
        labels = {"row": [row.label for row in rows], "column": [each.label for each in columns]}
        systems = [row.chosen["system"] for row in rows if row.chosen.get("system")]
        named = [("baseline", name, systems) for name in table.baseline]
        named += [
            (f"footnotes: {key}", label, known)
            for footnote in table.footnotes
            for key, known in labels.items()
            if (label := getattr(footnote, key)) is not None
        ]
        named += [
            (f"rows: columns of '{row.label}'", label, labels["column"])
            for row in rows
            for label in (row.given.columns if row.given is not None else None) or ()
        ]
        for key, label, known in named:
            if label not in known:
                raise UserError(
                    f"{self.file}: {at}.{key}: '{label}' is not in the table; {hint(label, known)}"
                )

    def _cell(
        self,
        at: str,
        table: Table,
        rows: Sequence[Heading],
        row: Heading,
        column: Heading,
        labels: dict[str, str],
    ) -> list[Cell]:
        """What a table shows in a row and a column: measured, or only quoted."""
        where = f"{at}: row '{row.label}', column '{column.label}'"
        blank = row.given is None or column.label not in (row.given.columns or [column.label])
        own = {} if row.given is None else row.chosen
        self.no_conflict(own, column.chosen, where)
        levels = {**table.cells.given(), **column.chosen}
        here = {**levels, **own, **({"system": None} if blank else {})}
        names = {"report": f"table {number_of(at)}", "row": row.label, "column": column.label}
        found = self.numbers(here, where, **names, **labels)
        measure = MEASURES[found[0].measure]
        of_row = measure.relative and row.given is not None and row.given.over is not None
        over = row.given.over if of_row else column.given.over
        if over is None and measure.relative:
            raise UserError(f"{self.file}: {where} leaves the key 'over' open")
        if over is None or blank:
            return found
        over = self.filled(over, {**self.defaults, **here}, where)
        known = {each.label: each for each in rows if _is_run(each)}
        if over not in known:
            raise UserError(
                f"{self.file}: {where}: over '{over}' is not a row that is run; {hint(over, known)}"
            )
        same = {"measure": found[0].measure} if of_row else {}
        others = self.numbers({**levels, **known[over].chosen, **same}, where, **names)
        return self.over([each._replace(baseline="") for each in found], others)

    def over(self, found: Sequence[Cell], others: Sequence[Cell]) -> list[Cell]:
        """Cells together with those that they are shown over."""
        like = found[0]
        labels = {
            key: getattr(like, key) for key in ("group", "x", "y", "category", "point", "axis")
        }
        return [*found, *(each._replace(role=OVER, **labels) for each in others if found[0].system)]

    def _computed(
        self,
        at: str,
        rows: Sequence[Heading],
        columns: Sequence[Heading],
        row: Heading,
        column: Heading,
        found: Mapping[tuple[str, str], list[Cell]],
    ) -> Cell:
        """A cell that is computed from others."""
        of_row = _derived(row) is not None
        derived = _derived(row) or _derived(column)
        key, label = ("rows", row.label) if of_row else ("columns", column.label)
        where = f"{at}.{key}: derived of '{label}'"
        names = ("difference", "ratio", "mean", "correlation", "reaching", "short_of")
        operation = next(name for name in names if getattr(derived, name) is not None)
        named = getattr(derived, operation)
        if operation not in ("difference", "ratio", "mean") and not of_row:
            raise UserError(f"{self.file}: {where}: '{operation}' is for rows, not for columns")
        if derived.among is not None:
            among = [label for pair in derived.among.items() for label in pair]
            of = [(label, column.label) for label in (named, *among)]
        elif operation == "correlation":
            over = derived.over or [each.label for each in rows if _is_run(each)]
            of = [(label, each) for label in over for each in (column.label, named)]
        else:
            of = [(label, column.label) if of_row else (row.label, label) for label in named]
        for operand in of:
            if operand not in found:
                is_row = of_row and operand[1] == column.label
                label, known = (operand[0], rows) if is_row else (operand[1], columns)
                labels = [each.label for each in known]
                raise UserError(
                    f"{self.file}: {where}: '{label}' is no earlier label; {hint(label, labels)}"
                )
        if derived.absolute:
            operation = f"absolute_{operation}"
        first = found[of[0]][0]
        like = first if derived.among is None else found[of[2]][0]
        return Cell(
            self.name,
            f"table {number_of(at)}",
            row.label,
            column.label,
            measure=operation if operation in DERIVED else like.measure,
            task=first.task,
            reason=COMPUTED,
            derived=Derivation(operation, tuple(of)),
        )

    def _samples(self, number: str, table: Table) -> list[Cell]:
        """The cells of a table of samples: of each system, its baseline's and its own."""
        at = f"tables.{number}"
        found: list[Cell] = []
        labels = []
        for given in table.rows:
            for chosen, _ in product(given.given()):
                name = chosen.get("system", "")
                printed = self.system(name, None)
                if printed is None or printed.baseline is None:
                    raise UserError(
                        f"{self.file}: {at}.rows: '{name}' is not a system of the paper with a "
                        "baseline, which its samples are compared with"
                    )
                words = chosen | {"baseline": printed.baseline}
                label = self.label(given.label or "{baseline}, {task}", words, (), at)
                labels.append(label)
                for side, each in ((TEACHER, printed.baseline), (STUDENT, name)):
                    here = {**table.cells.given(), **chosen, "system": each}
                    names = {"report": f"table {number}", "row": label, "column": side}
                    found += self.numbers(here, f"{at}: row '{label}'", **names)
                    if measure_of(found[-1].measure).unit != "BLEU":
                        raise UserError(
                            f"{self.file}: {at}: measure: samples are chosen by sentence BLEU, not "
                            f"by '{found[-1].measure}'"
                        )
        no_repetition(labels, f"{self.file}: {at}.rows")
        return found

    def _texts(self, number: str, table: Table) -> list[Cell]:
        """The cells of a table of texts, each of the analysis that its text is in."""
        at = f"tables.{number}"
        rows, lines = self._rows(table, at), self.lines(number)
        printed = {row.label: not row.given.ours_only for row in rows if row.given is not None}
        where = f"{self.file}: {at}"
        values = published.join(self.name, lines, printed, {TEXT: bool(lines)}, where)
        found = []
        for row in rows:
            here = {**table.cells.given(), **row.chosen} | (
                {"system": None} if not row.given else {}
            )
            group = (row.given.group if row.given is not None else row.chosen["group"]) or ""
            names = {"report": f"table {number}", "row": row.label, "column": TEXT, "group": group}
            for cell in self.numbers(here, f"{at}: row '{row.label}'", **names):
                found.append(with_published(cell, values.get((row.label, TEXT))))
        return found

    def keys_of_texts(self, number: str) -> dict[str, str]:
        """The key of each text of a table in the file of its analysis, by the row's label."""
        table, at = self.paper.tables[number], f"tables.{number}"
        return {
            row.label: self.filled(row.given.key or "", {**table.cells.given(), **row.chosen}, at)
            for row in self._rows(table, at)
            if row.given is not None
        }

    # Figures

    def figure(self, number: str) -> list[Cell]:
        """The cells of a figure, series by series."""
        figure, at = self.paper.figures[number], f"figures.{number}"
        if figure.kind == "curves":
            return self._curves(figure, at)
        if figure.kind == "scatter":
            return self._scatter(figure, at)
        if figure.keys:
            return self._analyses(figure, at)
        return self._quote(figure, self._points(figure, at))

    def panels(self, figure: Figure, at: str) -> list[Heading]:
        """The panels of a figure."""
        return self.headings(figure.panels, f"{at}.panels")

    def series(self, figure: Figure, at: str) -> list[Heading]:
        """The series of a figure; the coordinate along the axis does not vary between them."""
        found: list[Heading] = []
        for series in figure.series:
            along = figure.x.of if figure.kind != "curves" else ""
            given = {key: value for key, value in series.given().items() if key != along}
            for chosen, varied in product(given):
                label = self.label(series.label, chosen, varied, f"{at}.series")
                found.append(Heading(label, chosen, varied, series))
        no_repetition([each.label for each in found], f"{self.file}: {at}.series")
        return found

    def along(self, figure: Figure, series: Heading, at: str) -> list[tuple[Chosen, Chosen]]:
        """The points of a series: coordinates, and the fields of a cell on the axis."""
        axis, given, where = figure.x, series.given, f"{at}: series '{series.label}'"
        key = "x" if figure.kind in NUMBERED else "category"
        points = []
        if given.points is not None:
            for point in given.points:
                points.append((series.chosen | point.given(), getattr(point, key)))
        else:
            values = given.given().get(axis.of, axis.values)
            if values is None:
                raise self.missing(axis.of, where)
            for value in values if isinstance(values, list) else [values]:
                name: Any = value
                if key == "category":
                    words = {axis.of: value if axis.of == "steps" else self.word(axis.of, value)}
                    name = self.filled(axis.category or f"{{{axis.of}}}", words, where)
                points.append((series.chosen | {axis.of: value}, name))
        if given.style == "level" and len(points) > 1:
            raise UserError(f"{self.file}: {where}: style level: one point, not {len(points)}")
        for _, value in points:
            if key == "x" and (isinstance(value, str) or (axis.log and value <= 0)):
                raise UserError(
                    f"{self.file}: {where}: found '{value}' for the axis, a number is due"
                )
        return [(chosen, {key: value}) for chosen, value in points]

    def _points(self, figure: Figure, at: str) -> list[Cell]:
        panels, found = self.panels(figure, at), []
        levels: set[str] = set()
        for series in self.series(figure, at):
            levels |= {series.label} if series.given.style == "level" else set()
            for chosen, axis in self.along(figure, series, at):
                for panel in panels:
                    names = {"row": series.label, "column": panel.label, **axis}
                    if figure.kind == "contour":
                        names["y"] = self._height(figure.y, chosen, at)
                    found += self._point(
                        figure, at, series, panel, chosen, series.given.over, names
                    )
        if figure.kind in NUMBERED:
            return found
        last = sorted(found, key=lambda each: each.row in levels)
        categories = list(dict.fromkeys(each.category for each in last))
        return [each._replace(x=categories.index(each.category)) for each in found]

    def _point(
        self,
        figure: Figure,
        at: str,
        series: Heading,
        panel: Heading,
        chosen: Chosen,
        over: str | None,
        names: Chosen,
        axis: Coordinates | None = None,
    ) -> list[Cell]:
        """The cells of one point, and those that it is shown over."""
        where = f"{at}: series '{series.label}', panel '{panel.label}'"
        given = axis.given() if axis is not None else {}
        for one, other in ((chosen, panel.chosen), (chosen, given), (panel.chosen, given)):
            self.no_conflict(one, other, where)
        here = {**figure.cells.given(), **panel.chosen, **given, **chosen}
        names = {"report": f"figure {number_of(at)}", **names}
        found = self.numbers(here, where, **names)
        if over is None:
            if MEASURES[found[0].measure].relative:
                raise UserError(f"{self.file}: {where} leaves the key 'over' open")
            return found
        return self.over(found, self.numbers({**here, "system": over}, where, **names))

    def _height(self, axis: Axis, chosen: Chosen, at: str) -> float:
        """Where a point stands on the vertical axis of a plane."""
        value = chosen.get(axis.of)
        if not isinstance(value, int | float):
            raise UserError(
                f"{self.file}: {at}.series: '{axis.of}': found '{value}', expected a number"
            )
        return float(value)

    def _quote(self, figure: Figure, found: list[Cell]) -> list[Cell]:
        """Points with the paper's own values of the same cells from the tables that are quoted."""
        known = self.values(figure.quotes)
        others = {each.where: each for each in found if each.role == OVER}
        return [
            each if each.role == OVER else _quoted(each, others.get(each.where), known)
            for each in found
        ]

    def values(self, tables: Iterable[int | str], own: bool = True) -> dict[tuple[str, ...], Cell]:
        """Cells of tables with published values, by address.

        Args:
            tables: their numbers; the first that has an address counts.
            own: whether only values of the paper's own runs count.
        """
        found: dict[tuple[str, ...], Cell] = {}
        for number in tables:
            if str(number) not in self.paper.tables:
                known = hint(str(number), self.paper.tables)
                raise UserError(f"{self.file}: quotes: there is no table {number}; {known}")
            for cell in self.table(str(number)):
                if cell.system and cell.printed and (is_own(cell) or not own):
                    found.setdefault(cell.address, cell)
        return found

    def _scatter(self, figure: Figure, at: str) -> list[Cell]:
        """The points of a scatter plot: cells along both axes."""
        found: list[Cell] = []
        for panel in self.panels(figure, at):
            for series in figure.series:
                if series.quoted is not None:
                    continue
                name = series.label or series.system
                if not isinstance(name, str):
                    raise UserError(f"{self.file}: {at}.series: missing key 'label'")
                for number, (chosen, varied) in enumerate(product(series.given())):
                    point = ""
                    if series.point is not None or varied:
                        named = chosen | ({"system": None} if name == series.system else {})
                        point = self.label(series.point, named, varied, at)
                    row = Heading(name, chosen, varied, series)
                    names: Chosen = {"row": name, "column": panel.label, "category": point}
                    names["point"] = number
                    for key, axis in (("y", figure.y), ("x", figure.x)):
                        own = {**names, "axis": key}
                        found += self._point(figure, at, row, panel, chosen, axis.over, own, axis)
        return self._quote(figure, found) + self._quoted_points(figure, at)

    def _quoted_points(self, figure: Figure, at: str) -> list[Cell]:
        """Points of quoted rows, whose values stand in the columns that the axes name."""
        found: list[Cell] = []
        quoted = {
            (cell.row, cell.column): cell
            for number in reversed(figure.quotes)
            for cell in self.table(str(number))
            if cell.printed
        }
        for series in figure.series:
            given = series.given() if series.quoted else {}
            for row, panel in itertools.product(series.quoted or (), self.panels(figure, at)):
                if any(panel.chosen.get(key, own) != own for key, own in given.items()):
                    continue  # the values are of another setting than the panel's
                for key, axis in (("y", figure.y), ("x", figure.x)):
                    cell = quoted.get((row, axis.column or ""))
                    if cell is None:
                        raise UserError(
                            f"{self.file}: {at}.series: no table of 'quotes' has a published value "
                            f"in row '{row}', column '{axis.column}'"
                        )
                    here = {**figure.cells.given(), **panel.chosen, **axis.given(), "system": None}
                    names = {"report": f"figure {number_of(at)}", "row": series.label or row}
                    names |= {"column": panel.label, "category": row, "axis": key}
                    (point,) = self.numbers(here, at, **names)
                    found.append(with_like_published(point, cell))
        return found

    def _analyses(self, figure: Figure, at: str) -> list[Cell]:
        """The cells of the analysis that each panel shows."""
        found = []
        for panel in self.panels(figure, at):
            names = {"report": f"figure {number_of(at)}", "row": panel.label, "column": panel.label}
            here = {**figure.cells.given(), **panel.chosen}
            found += self.numbers(here, f"{at}: panel '{panel.label}'", **names)
        return found

    def keys_of_panels(self, number: str) -> dict[str, dict[str, str]]:
        """The keys in the analysis that each panel shows, by what they stand for."""
        figure, at = self.paper.figures[number], f"figures.{number}"
        return {
            panel.label: {
                name: self.filled(
                    key, {**self.defaults, **figure.cells.given(), **panel.chosen}, at
                )
                for name, key in figure.keys.items()
            }
            for panel in self.panels(figure, at)
        }

    def named(self, report: str) -> tuple[dict[str, Chosen], list[str]]:
        """What claims can name in a table or figure.

        Returns:
            Coordinates of rows, series and points by label, and the labels of the points (of a
            table, those of the rows that are run), in order.
        """
        named: dict[str, Chosen] = {}
        points: dict[str, Chosen] = {}
        part = self.paper.part(report)
        at = f"{report.split()[0]}s.{report.split()[1]}"
        if isinstance(part, Table):
            rows = _with_quoted(self._rows(part, at), self.lines(report.split()[1]))
            named |= {row.label: row.chosen if row.given else {} for row in rows}
            return named, [row.label for row in rows if _is_run(row)]
        assert part is not None
        if part.kind == "curves":
            for series in self.series(part, at):
                named[series.label] = {**series.chosen, "system": series.given.chain[-1]}
        elif part.kind in ("lines", "bars"):
            for series in self.series(part, at):
                named[series.label] = series.chosen
                for chosen, axis in self.along(part, series, at):
                    label = axis.get("category") or f"{axis['x']:g}"
                    points.setdefault(label, chosen)
        return {**points, **named}, list(points)

    def _curves(self, figure: Figure, at: str) -> list[Cell]:
        found: list[Cell] = []
        for series, panel in itertools.product(self.series(figure, at), self.panels(figure, at)):
            for number, system in enumerate(series.given.chain or (), 1):
                chosen = {**series.chosen, "system": system, "measure": CURVE}
                names = {"row": series.label, "column": panel.label, "x": number}
                found += self._point(figure, at, series, panel, chosen, None, names)
                self._check_curve(found[-1], at)
        return found

    def _check_curve(self, cell: Cell, at: str) -> None:
        """Refuse a training without validation BLEU, of which there would be no curve."""
        if cell.source is None:
            return
        here = self.configuration.on(cell.corpus)
        metric = here.recipe(here.system(cell.model).recipe).validation.metric
        if metric != "bleu":
            raise UserError(
                f"{self.file}: {at}.series: '{cell.system}' validates by {metric}; curves show "
                "validation BLEU, so remove it"
            )


def number_of(at: str) -> str:
    """The number of a report in the key of a message, such as `tables.2`."""
    return at.partition(".")[2]


def _text(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _derived(heading_: Heading) -> Any:
    return getattr(heading_.given, "derived", None)


def _is_run(row: Heading) -> bool:
    return row.given is not None and row.given.derived is None


def _with_quoted(rows: list[Heading], lines: Sequence[Published]) -> list[Heading]:
    """Rows, including quoted ones, each after its predecessor in the published file."""
    rows, place = list(rows), 0
    for label in dict.fromkeys(line.row for line in lines):
        known = [row.label for row in rows]
        if label in known:
            place = known.index(label) + 1
        else:
            rows.insert(place, Heading(label, {}))
            place += 1
    return rows


def check_setting(measure: str, setting: str) -> None:
    """Refuse a setting that a measure cannot have.

    Raises:
        UserError: naming what was expected.
    """
    known = MEASURES[measure]
    if known.source == LATENCY:
        parse_setting(setting)
    elif known.setting:
        try:
            beta = float(setting)
        except ValueError:
            beta = 0.0
        if not 0 < beta < float("inf"):
            raise UserError(f"setting: found '{setting}', expected beta, a number above 0")
    elif setting:
        raise UserError(f"setting: found '{setting}', but the measure '{measure}' has no settings")


# Published values


def with_published(cell: Cell, value: Published | None) -> Cell:
    """A cell with a printed value."""
    if value is None or cell.role == OVER:
        return cell
    number = value.text if value.value is None else value.value
    return cell._replace(published=number, printed=value.text, origin=value.origin)


def with_like_published(cell: Cell, other: Cell) -> Cell:
    """A cell with the printed value of another."""
    return cell._replace(published=other.published, printed=other.printed, origin=other.origin)


def is_own(cell: Cell) -> bool:
    """Whether a printed value is from the paper's own runs, not quoted from another paper."""
    return f"; {published.OWN}" in cell.origin


def _quoted(cell: Cell, over: Cell | None, known: Mapping[tuple[str, ...], Cell]) -> Cell:
    """A point with the published value of its address, or the difference of two."""
    value = known.get(cell.address) if cell.system else None
    if value is None:
        return cell
    if over is None or MEASURES[cell.measure].relative:
        return with_like_published(cell, value)
    other = known.get(over.address)
    if other is None or isinstance(value.published, str) or isinstance(other.published, str):
        return cell
    assert value.published is not None and other.published is not None
    difference = round(value.published - other.published, 6)
    origin = f"{value.origin}; minus {other.origin}"
    return cell._replace(published=difference, printed=f"{difference:+g}", origin=origin)


# Latencies


def timed_together(configuration: Configuration, paper: str, cells: Sequence[Cell]) -> list[Cell]:
    """Complete the latencies of a paper: what is measured together in one job.

    All latencies of a report that are measured on one corpus, with models of one seed and in one
    setting, are one group, so that whatever disturbs the machine disturbs all of it. A report whose
    group is a part of another report's takes its latencies from there, so that nothing is measured
    twice.
    """
    groups: dict[tuple[Any, ...], dict[str, set[str]]] = {}
    for cell in cells:
        if isinstance(cell.source, Latency):
            key = cell.corpus, cell.seed, cell.setting
            groups.setdefault(key, {}).setdefault(cell.report, set()).add(cell.part)
    found = []
    for cell in cells:
        if isinstance(cell.source, Latency):
            among = groups[cell.corpus, cell.seed, cell.setting]
            own = among[cell.report]
            # the largest that contains it, and the first of equal ones
            name = max(
                (each for each in among if own <= among[each]), key=lambda each: len(among[each])
            )
            group = f"{paper}_{name.replace(' ', '_')}"
            source = cell.source
            names = source.run, source.corpus, group, source.seed, source.setting
            latency = Latency(*names, tuple(sorted(among[name])))
            cell = cell._replace(source=latency, path=latency.path)
        found.append(cell)
    return found


@cache
def latencies(configuration: Configuration) -> dict[tuple[str, str, int, str], Latency]:
    """All groups of latencies, by corpus, report, seed and setting."""
    return {
        (source.corpus, source.group, source.seed, source.setting): source
        for paper in configuration.papers
        for source in relation(configuration, paper).source
        if isinstance(source, Latency)
    }


def latency(
    configuration: Configuration, corpus: str, group: str, seed: int, setting: str
) -> Latency:
    """The latencies of a group, by the names in the path of their file.

    Raises:
        UserError: for a group, or a combination of these, that no report shows.
    """
    known = latencies(configuration)
    key = corpus, group, seed, setting
    if key not in known:
        groups = {each for _, each, _, _ in known}
        settings = {each for _, of, _, each in known if of == group}
        near = hint(setting, sorted(settings)) if group in groups else hint(group, sorted(groups))
        raise UserError(
            f"no table or figure '{group}' shows a latency on {corpus} with seed {seed} and the "
            f"setting '{setting}'; {near}"
        )
    return known[key]

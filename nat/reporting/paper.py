"""Tables and figures as grids of cells, resolved from `config/papers/*.yaml`.

A cell is one number: a measure of a system on one task's corpus, most often of one decoding of one
split. Its coordinates come from several places, later ones overriding earlier ones: the paper's
`cells`, the system that the paper names, the `cells` of the table, and its column and row (in
figures: panel, series and point). It is an error if a row and a column give the same coordinate
differently. Coordinates are templates, in which variables such as `{steps}` are replaced.

The files that a cell needs follow from the configuration alone, so the graph knows them before
anything has run.
"""

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, NamedTuple

from nat.configuration import Configuration
from nat.configuration import papers as models
from nat.errors import UserError
from nat.reporting import published
from nat.reporting.cells import MEASURES, Cell, Measure, check_setting
from nat.reporting.published import Published
from nat.spelling import hint

Kind = Literal["table", "figure"]
Chosen = dict[str, Any]
"""Coordinates by name; the variables of templates are a mapping under `with`."""

PAPER_SCALE = "paper"
QUOTED = "only quoted"
DERIVED = "derived"
TEACHER, STUDENT = "teacher", "student"
CURVE = "best_validation_bleu"
"""Measure that the cells of a training curve carry; the curve itself lies beside its file."""
DERIVED_MEASURES = {"ratio": Measure("ratio", "", 2), "correlation": Measure("r", "", 3)}
"""Units of derived places; differences and means have that of what they are made of."""
_OF_SOURCES = ("decoding", "split", "partner")
_VARIABLE = re.compile(r"\{(\w+)\}")
_ACRONYM = re.compile(r"(wmt|iwslt|nist)\d*")


class Address(NamedTuple):
    """The names behind a place; those that its measure does not need are empty."""

    system: str
    task: str
    decoding: str
    split: str
    measure: str
    setting: str
    partner: str


@dataclass(frozen=True)
class Entry:
    """A place of the grid: its labels, its cells (one per seed) and its published value.

    `cells` is empty for a system that is only quoted, and where the scale has no corpus for the
    task; `reason` says which. `stand_in` says how the place differs from the paper's, and is empty
    where it does not. In figures `row` is the series, `column` the panel, and `x` the place on the
    horizontal axis, with a name in `category` where that is no number. `over` holds the cells that
    are subtracted, where differences are shown. `address` is `None` for a quoted row. `derived`
    says how a place is computed from others of its table.
    """

    row: str
    column: str
    group: str
    task: str
    measure: str
    cells: tuple[Cell, ...]
    published: Published | None
    stand_in: str
    reason: str
    baseline: str
    x: float | None = None
    category: str = ""
    over: tuple[Cell, ...] = ()
    address: Address | None = None
    over_address: Address | None = None
    derived: "Derivation | None" = None
    across: "Entry | None" = None
    """The place that is shown along the horizontal axis, where that is a measure."""


def measure_of(name: str) -> Measure:
    """A measure, or the unit of a derived place."""
    return DERIVED_MEASURES[name] if name in DERIVED_MEASURES else MEASURES[name]


@dataclass(frozen=True)
class Derivation:
    """An operation, and the places (row, column) that it takes; of a correlation pairs of them."""

    operation: str
    places: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Line:
    """A row or a column: its label, its coordinates, and which of them were varied."""

    label: str
    chosen: Chosen
    varied: tuple[str, ...] = ()
    group: str | None = None
    baseline: str = ""
    quoted: bool = False
    printed: bool = True
    over: str | None = None
    derived: models.Derived | None = None


def describe(configuration: Configuration, paper: str, kind: Kind, number: str | int) -> Any:
    """The description of one table or figure.

    Raises:
        UserError: if the paper has no such table or figure.
    """
    found = configuration.paper(paper)
    content: Mapping[str, Any] = found.tables if kind == "table" else found.figures
    if str(number) not in content:
        raise UserError(
            f"config/papers/{paper}.yaml: no {kind} {number}; {hint(str(number), content)}"
        )
    return content[str(number)]


def heading(task: str) -> str:
    """A task as tables print it: `wmt14-en-de` is WMT14 En-De."""
    name, *rest = task.split("-")
    first = name.upper() if _ACRONYM.fullmatch(name) else name.capitalize()
    return " ".join([first, "-".join(part.capitalize() for part in rest)]).strip()


def entries(configuration: Configuration, paper: str, kind: Kind, number: str | int) -> list[Entry]:
    """The places of a table or figure, row by row; a table of settings has none.

    Raises:
        UserError: for a table, system, decoding, measure, baseline or published value that does
            not exist; names the file and the key.
    """
    description = describe(configuration, paper, kind, number)
    resolver = Resolver(configuration, paper, f"{kind}s.{number}")
    if isinstance(description, models.Grid):
        return _grid(resolver, description, str(number))
    if isinstance(description, models.Samples):
        return _samples(resolver, description)
    if isinstance(description, models.Settings):
        return []
    if isinstance(description, models.Curves):
        return _curves(resolver, description)
    if isinstance(description, models.Scatter):
        return _scatter(resolver, description)
    if isinstance(description, models.HeatMap):
        return _heat_map(resolver, description)
    return _quote(resolver, description.quotes, _points(resolver, description))


class Resolver:
    """Resolves coordinates of one table, figure or claim of a paper.

    Attributes:
        paper: the paper.
        name: of its file.
        where: file and key, for messages.
    """

    def __init__(self, configuration: Configuration, name: str, key: str) -> None:
        self.configuration = configuration
        self.name = name
        self.paper = configuration.paper(name)
        self.where = f"config/papers/{name}.yaml: {key}"
        self.seeds = configuration.seeds if self.paper.seeds is None else self.paper.seeds

    def lines(self, specifications: Sequence[str | models.Varied], key: str) -> list[Line]:
        """Rows or columns of a description, with products expanded."""
        found = []
        for specification in specifications:
            if isinstance(specification, str):
                found.append(self._short(specification))
                continue
            for chosen, varied in product(specification):
                found.append(Line(self.label(specification.label, chosen, varied), chosen, varied))
        no_repetition([line.label for line in found], f"{self.where}.{key}")
        return found

    def _short(self, name: str) -> Line:
        """A column or panel that is just a measure or a task."""
        key = "measure" if name in MEASURES else "task"
        chosen: Chosen = {key: name, "with": {}}
        return Line(self.label(None, chosen, ()), chosen)

    def label(self, template: str | None, chosen: Chosen, varied: Sequence[str]) -> str:
        """The label of a row, column or case: its system, and all that was varied."""
        given = {key: value for key, value in flat(chosen).items() if value is not None}
        words = {key: self.word(key, value) for key, value in given.items()}
        if template is not None:
            return self.filled(template, words)
        shown = [key for key in dict.fromkeys(["system", *varied]) if key in words]
        if not shown:
            shown += [key for key in ("measure", "task") if key in words][:1]
        if not shown:
            raise UserError(f"{self.where}: missing key 'label'")
        return ", ".join(words[key] for key in shown)

    def word(self, key: str, value: Any) -> str:
        """A coordinate as labels print it."""
        if key == "task":
            return self.configuration.heading(value) or heading(value)
        if key == "measure":
            return MEASURES[value].label if value in MEASURES else str(value)
        if key == "steps":
            return f"{value} step" if value == 1 else f"{value} steps"
        return f"{value:g}" if isinstance(value, float) else str(value)

    def filled(self, template: str, values: Mapping[str, Any]) -> str:
        """A template with its variables replaced."""

        def value(match: re.Match[str]) -> str:
            if match[1] not in values:
                raise UserError(
                    f"{self.where}: '{template}' needs the variable '{match[1]}', which is not "
                    f"given; {hint(match[1], values)}"
                )
            found = values[match[1]]
            return f"{found:g}" if isinstance(found, float) else str(found)

        return _VARIABLE.sub(value, template)

    def system(self, name: str, task: str | None = None) -> models.System | None:
        """A system of the paper with what it has from others and what differs on a task."""
        if name not in self.paper.systems:
            return None
        chain = [name]
        while (like := self.paper.systems[chain[-1]].like) is not None:
            if like not in self.paper.systems or like in chain:
                problem = "is like itself" if like in chain else f"is like an unknown '{like}'"
                others = [each for each in self.paper.systems if each not in chain]
                raise UserError(
                    f"config/papers/{self.name}.yaml: systems.{name}: '{chain[-1]}' {problem}; "
                    f"{hint(like, others)}"
                )
            chain.append(like)
        found: dict[str, Any] = {}
        for each in reversed(chain):
            own = self.paper.systems[each]
            found |= {key: getattr(own, key) for key in own.model_fields_set}
            if task in own.tasks:
                change = own.tasks[task]
                found |= {key: getattr(change, key) for key in change.model_fields_set}
        return models.System(**found)

    def ours(self, name: str, chosen: Chosen) -> str:
        """Our name of a system."""
        system = self.system(name, chosen.get("task"))
        if system is not None and system.system is None:
            raise UserError(
                f"config/papers/{self.name}.yaml: missing key 'system' at 'systems.{name}'"
            )
        found = self.filled(name if system is None else str(system.system), flat(chosen))
        if found not in self.configuration.systems and system is None:
            known = [*self.paper.systems, *self.configuration.systems]
            raise UserError(f"{self.where}: unknown system '{found}'; {hint(found, known)}")
        return found

    def known(self, name: str, chosen: Chosen) -> str:
        """Our name of a system, checked to exist."""
        found = self.ours(name, chosen)
        try:
            self.configuration.system(found)
        except UserError as error:
            raise UserError(f"{self.where}: {error}") from error
        return found

    def _has_decoding(self, chosen: Chosen) -> bool:
        """Whether the paper says how the system of a place is decoded."""
        system = self.system(chosen.get("system") or "", chosen.get("task"))
        return system is not None and system.decoding is not None

    def decoding(self, chosen: Chosen, label: str) -> str | None:
        """How a place is decoded: as it says itself, or as its system is."""
        if chosen.get("decoding") is not None:
            return self.filled(chosen["decoding"], flat(chosen))
        system = self.system(chosen["system"], chosen.get("task"))
        if system is None or system.decoding is None:
            return None
        template: str | None
        if isinstance(system.decoding, str):
            template = system.decoding
        else:
            by_steps = system.decoding
            template = by_steps.get(str(chosen.get("steps")), by_steps.get("n"))
            if "steps" in chosen and template is None:
                raise UserError(
                    f"config/papers/{self.name}.yaml: systems.{chosen['system']}: the key "
                    f"'decoding' has nothing for {chosen['steps']} steps, asked for by "
                    f"{self.where}; known: {', '.join(by_steps)}"
                )
        if template is not None and "{steps}" in template and "steps" not in chosen:
            raise UserError(f"{self.where}: {label} leave the key 'steps' open")
        return None if template is None else self.filled(template, flat(chosen))

    def entry(self, chosen: Chosen, label: str, over: str | None = None, **names: Any) -> Entry:
        """The place at given coordinates.

        Args:
            chosen: the coordinates.
            label: of the place, for messages.
            over: the system whose cells are subtracted.
            names: labels and other fields of the entry.

        Raises:
            UserError: for unknown names, and for missing coordinates.
        """
        defaults = self.paper.cells.coordinates()
        if self._has_decoding(chosen):
            defaults.pop("decoding", None)
        chosen = merged(defaults, chosen)
        for key in ("measure", "task"):
            if chosen.get(key) is None:
                raise UserError(f"{self.where}: {label} leave the key '{key}' open")
        measure = self.filled(chosen["measure"], flat(chosen))
        if measure not in MEASURES:
            raise UserError(f"{self.where}: unknown measure '{measure}'; {hint(measure, MEASURES)}")
        chosen = {**chosen, "measure": measure}
        base = Entry(
            task=chosen["task"],
            measure=measure,
            cells=(),
            published=None,
            stand_in="",
            reason=QUOTED,
            **{"group": "", "baseline": "", **names},
        )
        if chosen.get("system") is None:
            return base
        address, cells, stand_in, reason = self._cells(chosen, label)
        if over is not None:
            other, subtracted, _, _ = self._cells({**chosen, "system": over}, label)
            base = replace(base, over=subtracted, over_address=other)
        return replace(base, address=address, cells=cells, stand_in=stand_in, reason=reason)

    def _cells(self, chosen: Chosen, label: str) -> tuple[Address, tuple[Cell, ...], str, str]:
        """The address and cells of a place, how it differs from the paper's, why there are none."""
        configuration, task = self.configuration, chosen["task"]
        system = self.known(chosen["system"], chosen)
        needed = MEASURES[chosen["measure"]].coordinates
        found = {key: chosen.get(key) or "" for key in ("split", "setting")}
        default = MEASURES[chosen["measure"]].setting
        if not default and "setting" not in needed:
            found["setting"] = ""
        found["setting"] = found["setting"] or default
        if "decoding" in needed:
            found["decoding"] = self.decoding(chosen, label) or ""
        if "partner" in needed and chosen.get("partner"):
            found["partner"] = self.known(chosen["partner"], chosen)
        for key in needed:
            if not found.get(key):
                raise UserError(f"{self.where}: {label} leave the key '{key}' open")
        address = Address(
            system=system,
            task=task,
            measure=chosen["measure"],
            setting=found["setting"],
            **{key: found[key] if key in needed else "" for key in _OF_SOURCES},
        )
        try:
            check_setting(address.measure, address.setting)
            if address.decoding:
                configuration.check_decoding(address.system, address.decoding)
            scale = configuration.scale
            if task in configuration.all_tasks and task not in configuration.tasks:
                return address, (), "", f"scale {scale} has no corpus for {task}"
            corpus = configuration.task(task)
        except UserError as error:
            raise UserError(f"{self.where}: {label}: {error}") from error
        stand_in = ""
        if corpus != task or scale != PAPER_SCALE:
            paper = task if corpus != task else "training"
            stand_in = f"corpus {corpus} at scale {scale}, not the paper's {paper}"
        cells = tuple(
            Cell(
                run=configuration.run,
                corpus=corpus,
                system=configuration.canonical(corpus, address.system),
                seed=seed,
                decoding=address.decoding,
                split=address.split,
                measure=address.measure,
                setting=address.setting,
                partner=address.partner and configuration.canonical(corpus, address.partner),
            )
            for seed in self.seeds
        )
        return address, cells, stand_in, ""


def product(specification: models.Varied) -> Iterator[tuple[Chosen, tuple[str, ...]]]:
    """Every combination of the values of a description, and the coordinates that are lists."""
    given = flat(specification.coordinates())
    order: list[str] = [key for key in ("system", "task", "steps") if key in given]
    order += [key for key in given if key not in models.COORDINATES]
    order += [key for key in models.COORDINATES if key in given and key not in order]
    values = [given[key] if isinstance(given[key], list) else [given[key]] for key in order]
    varied = tuple(key for key in order if isinstance(given[key], list))
    for combination in itertools.product(*values):
        chosen: Chosen = {"with": {}}
        for key, value in zip(order, combination, strict=True):
            put(chosen, key, value)
        yield chosen, varied


def put(chosen: Chosen, key: str, value: Any) -> None:
    """Set a coordinate, or a variable of this name."""
    if key in models.COORDINATES:
        chosen[key] = value
    else:
        chosen["with"] = {**chosen["with"], key: value}


def merged(*levels: Chosen) -> Chosen:
    """Coordinates of several levels; later ones override earlier ones."""
    found: Chosen = {"with": {}}
    for level in levels:
        variables = {**found["with"], **level.get("with", {})}
        found = {**found, **level, "with": variables}
    return found


def flat(chosen: Chosen) -> dict[str, Any]:
    """Coordinates and variables by name."""
    return {key: value for key, value in chosen.items() if key != "with"} | chosen.get("with", {})


def no_repetition(labels: Sequence[str], where: str) -> None:
    """Refuse repeated labels.

    Raises:
        UserError: for the first one.
    """
    twice = [label for label in labels if labels.count(label) > 1]
    if twice:
        raise UserError(f"{where}: the label '{twice[0]}' is used twice here; labels must differ")


def _grid(resolver: Resolver, description: models.Grid, number: str) -> list[Entry]:
    rows, columns, places = grid(resolver, description, number)
    found: dict[tuple[str, str], Entry] = {}
    for row in rows:
        for column in columns:
            if row.derived is None and column.derived is None:
                found[row.label, column.label] = _cell(resolver, description, rows, row, column)
    # Derived columns first: a derived row may be made of them too.
    for row, column in itertools.product(rows, columns):
        if row.derived is None and column.derived is not None:
            found[row.label, column.label] = _derived(resolver, rows, columns, row, column, found)
    for row, column in itertools.product(rows, columns):
        if row.derived is not None:
            found[row.label, column.label] = _derived(resolver, rows, columns, row, column, found)
    return [
        replace(found[row.label, column.label], published=places.get((row.label, column.label)))
        for row, column in itertools.product(rows, columns)
    ]


def _cell(
    resolver: Resolver, description: models.Grid, rows: Sequence[Line], row: Line, column: Line
) -> Entry:
    """A place that is measured, or only quoted."""
    label = f"row '{row.label}', column '{column.label}'"
    _no_conflict(resolver, row.chosen, column.chosen, label)
    levels = description.cells.coordinates(), column.chosen
    names = {"row": row.label, "column": column.label, "group": row.group or ""}
    entry = resolver.entry(merged(*levels, row.chosen), label, **names, baseline=row.baseline)
    relative = MEASURES[entry.measure].relative
    if column.over is None and relative:
        raise UserError(f"{resolver.where}.columns: '{column.label}' leaves the key 'over' open")
    if column.over is None or row.quoted:
        return entry
    other = next((each for each in rows if each.label == column.over), None)
    if other is None or other.quoted or other.derived is not None:
        known = [each.label for each in rows if not each.quoted and each.derived is None]
        raise UserError(
            f"{resolver.where}.columns: key 'over' of '{column.label}': '{column.over}' is not a "
            f"row that is run; {hint(column.over, known)}"
        )
    subtracted = resolver.entry(merged(*levels, other.chosen), label, row="", column="")
    return replace(entry, over=subtracted.cells, over_address=subtracted.address, baseline="")


def _derived(
    resolver: Resolver,
    rows: Sequence[Line],
    columns: Sequence[Line],
    row: Line,
    column: Line,
    found: Mapping[tuple[str, str], Entry],
) -> Entry:
    """A place that is computed from others."""
    of_row = row.derived is not None
    derived = row.derived or column.derived
    assert derived is not None
    where = f"{resolver.where}.{'rows' if of_row else 'columns'}: key 'derived'"
    operation, named = next(item for item in derived.operands.items() if item[1] is not None)
    if operation == "correlation":
        if not of_row:
            raise UserError(f"{where}: a correlation is for rows, not for columns")
        known = [each.label for each in rows if not each.quoted and each.derived is None]
        over = derived.over or known
        places = [(label, each) for label in over for each in (column.label, named)]
    elif of_row:
        places = [(label, column.label) for label in named]
    else:
        places = [(row.label, label) for label in named]
    for place in places:
        if place not in found:
            label, labels = place[1], [each.label for each in columns]
            if (place[0], columns[0].label) not in found and of_row:
                label, labels = place[0], [each.label for each in rows]
            raise UserError(f"{where}: '{label}' is not in the table; {hint(label, labels)}")
    first = found[places[0]]
    return Entry(
        row=row.label,
        column=column.label,
        group=row.group or "",
        task=first.task,
        measure=operation if operation in DERIVED_MEASURES else first.measure,
        cells=(),
        published=None,
        stand_in="",
        reason=DERIVED,
        baseline="",
        derived=Derivation(operation, tuple(places)),
    )


def grid(
    resolver: Resolver, description: models.Grid, number: str
) -> tuple[list[Line], list[Line], published.Places]:
    """Rows, columns and published values of a table."""
    columns = []
    for each in description.columns:
        printed = isinstance(each, str) or not each.ours_only
        over = None if isinstance(each, str) else each.over
        derived = None if isinstance(each, str) else each.derived
        columns += [
            replace(line, printed=printed, over=over, derived=derived)
            for line in resolver.lines([each], "columns")
        ]
    no_repetition([column.label for column in columns], f"{resolver.where}.columns")
    rows: list[Line] = []
    for row in description.rows:
        if row.quoted is not None:
            rows += [
                Line(label, {"with": {}}, group=row.group, quoted=True) for label in row.quoted
            ]
            continue
        for line in resolver.lines([row], "rows"):
            group = row.group
            if group is None and "steps" in line.varied and _is_printed(resolver, line):
                group = line.chosen["system"]
            printed = not row.ours_only
            baseline = row.baseline or ""
            line = replace(line, group=group, printed=printed, baseline=baseline)
            rows.append(replace(line, derived=row.derived))
    no_repetition([row.label for row in rows], f"{resolver.where}.rows")
    shown = [
        number
        for number, each in resolver.paper.tables.items()
        if not isinstance(each, models.Samples)
    ]
    lines = published.of_table(resolver.configuration.root, resolver.name, shown, number)
    places = published.join(
        resolver.name,
        lines,
        {row.label: row.printed for row in rows if not row.quoted},
        {column.label: column.printed for column in columns},
        resolver.where,
    )
    rows = _with_quoted(resolver, rows, lines)
    rows = _grouped(resolver, rows, lines, description)
    rows = [replace(row, baseline=_baseline(resolver, row, rows, description)) for row in rows]
    _check_footnotes(resolver, description, rows, columns)
    return rows, columns, places


def _is_printed(resolver: Resolver, line: Line) -> bool:
    return line.chosen.get("system") in resolver.paper.systems


def _with_quoted(
    resolver: Resolver, rows: list[Line], lines: Sequence[published.Line]
) -> list[Line]:
    """Rows, including quoted ones, each after its predecessor in the published file."""
    rows = list(rows)
    quoted = [line.row for line in lines if line.use == published.QUOTED]
    for row in rows:
        if row.quoted and row.label not in quoted:
            raise UserError(
                f"{resolver.where}.rows: {published.file_of(resolver.name)} has no quoted row "
                f"'{row.label}'; {hint(row.label, dict.fromkeys(quoted))}"
            )
    place = 0
    for label in dict.fromkeys(line.row for line in lines):
        known = [row.label for row in rows]
        if label in known:
            place = known.index(label) + 1
        else:
            rows.insert(place, Line(label, {"with": {}}, quoted=True))
            place += 1
    return rows


def _grouped(
    resolver: Resolver,
    rows: list[Line],
    lines: Sequence[published.Line],
    description: models.Grid,
) -> list[Line]:
    """Rows with their groups: their own, or that of their published values."""
    printed = {line.row: line.value.group for line in lines}
    for name in description.groups:
        if name not in printed.values():
            raise UserError(
                f"{resolver.where}.groups: {published.file_of(resolver.name)} has no row group "
                f"'{name}' in this table; {hint(name, dict.fromkeys(printed.values()))}"
            )
    return [
        row
        if row.group is not None or row.label not in printed
        else replace(row, group=description.groups.get(printed[row.label], printed[row.label]))
        for row in rows
    ]


def _baseline(resolver: Resolver, row: Line, rows: Sequence[Line], description: models.Grid) -> str:
    """The label of the row that a row is tested against; empty if there is none."""
    if row.quoted or row.derived is not None:
        return ""
    labels = [each.label for each in rows]
    name = row.chosen.get("system", "")
    given = row.baseline or description.baseline.get(name)
    system = resolver.system(name)
    wanted = given or (system.baseline if system is not None else None)
    if wanted is None:
        return ""
    for each in rows:
        same = {**each.chosen, "system": name} == row.chosen
        if each.chosen.get("system") == wanted and same:
            return each.label
    if wanted in labels:
        return wanted
    if given is not None:
        raise UserError(
            f"{resolver.where}.rows: baseline '{wanted}' of row '{row.label}' is not a row; "
            f"{hint(wanted, labels)}"
        )
    return ""


def _check_footnotes(
    resolver: Resolver, description: models.Grid, rows: Sequence[Line], columns: Sequence[Line]
) -> None:
    known = {
        "row": [row.label for row in rows],
        "column": [column.label for column in columns],
    }
    for footnote in description.footnotes:
        for key, labels in known.items():
            label = getattr(footnote, key)
            if label is not None and label not in labels:
                raise UserError(
                    f"{resolver.where}.footnotes: {key} '{label}' is not in the table; "
                    f"{hint(label, labels)}"
                )


def _no_conflict(resolver: Resolver, row: Chosen, column: Chosen, label: str) -> None:
    for key in models.COORDINATES:
        if key in row and key in column and row[key] != column[key]:
            raise UserError(f"{resolver.where}: {label} give the key '{key}' differently")


def _samples(resolver: Resolver, description: models.Samples) -> list[Entry]:
    """Places of a table of samples: of each system, its baseline's and its own."""
    defaults = description.cells.coordinates()
    found = []
    for row in description.rows:
        for chosen, _ in product(row):
            name = chosen.get("system", "")
            system = resolver.system(name)
            if system is None or system.baseline is None:
                raise UserError(
                    f"{resolver.where}.rows: '{name}' is not a system of the paper with a key "
                    "'baseline', which its samples are compared with"
                )
            template = row.label or "{baseline}, {task}"
            words = merged(chosen, {"with": {"baseline": system.baseline}})
            label = resolver.label(template, words, ())
            for side, each in ((TEACHER, system.baseline), (STUDENT, name)):
                place = f"row '{label}', column '{side}'"
                here = merged(defaults, chosen, {"system": each})
                found.append(resolver.entry(here, place, row=label, column=side))
    no_repetition([each.row for each in found[::2]], f"{resolver.where}.rows")
    return found


_Along = models.Lines | models.Bars | models.HeatMap


def _points(resolver: Resolver, description: _Along) -> list[Entry]:
    defaults = description.cells.coordinates()
    panels = resolver.lines(description.panels, "panels")
    found, labels = [], []
    for series in description.series:
        for line in _series(resolver, series, description):
            labels.append(line.label)
            for panel in panels:
                for chosen, names in _along(resolver, series, line.chosen, description):
                    label = f"row '{line.label}', column '{panel.label}'"
                    _no_conflict(resolver, chosen, panel.chosen, label)
                    found.append(
                        resolver.entry(
                            merged(defaults, panel.chosen, chosen),
                            label,
                            over=series.over,
                            row=line.label,
                            column=panel.label,
                            **names,
                        )
                    )
    no_repetition(labels, f"{resolver.where}.series")
    if not isinstance(description, models.Lines):
        categories = list(dict.fromkeys(each.category for each in found))
        found = [replace(each, x=categories.index(each.category)) for each in found]
    return found


def _series(resolver: Resolver, series: models.Series, description: _Along) -> list[Line]:
    """The series of a description; the coordinate along the axis does not vary between series."""
    along = description.x.of
    if along in models.COORDINATES:
        own = series.model_copy(update={along: None})
    else:
        left = {key: value for key, value in series.variables.items() if key != along}
        own = series.model_copy(update={"variables": left})
    return resolver.lines([own], "series")


def _along(
    resolver: Resolver,
    series: models.Series,
    chosen: Chosen,
    description: _Along,
) -> Iterator[tuple[Chosen, dict[str, Any]]]:
    """The points of a series: coordinates, and the place on the axis."""
    axis, where = description.x, f"{resolver.where}: series '{series.label or chosen}'"
    key = "x" if isinstance(description, models.Lines) else "category"
    if series.points is not None:
        for point in series.points:
            if getattr(point, key) is None:
                raise UserError(f"{where}: missing key '{key}' of a point")
            yield merged(chosen, point.coordinates()), {key: getattr(point, key)}
        return
    values = flat(series.coordinates()).get(axis.of, axis.values)
    if values is None:
        raise UserError(f"{where}: missing key '{axis.of}', which runs along the axis, or 'points'")
    values = values if isinstance(values, list) else [values]
    if series.style == "level" and len(values) > 1:
        raise UserError(f"{where}: a series of style level has one point, not {len(values)}")
    for value in values:
        here = merged(chosen)
        put(here, axis.of, value)
        if key == "x":
            if isinstance(value, str):
                raise UserError(f"{where}: found the text '{value}' for the axis, not a number")
            yield here, {"x": value}
        else:
            words = {axis.of: value if axis.of == "steps" else resolver.word(axis.of, value)}
            yield here, {"category": resolver.filled(axis.category or f"{{{axis.of}}}", words)}


def _quote(resolver: Resolver, tables: Sequence[int], found: list[Entry]) -> list[Entry]:
    """Points with the paper's own values of the same cells from the tables that are quoted."""
    known: dict[Address, Published] = {}
    for number in tables:
        for each in entries(resolver.configuration, resolver.name, "table", number):
            if each.address is not None and each.published is not None and each.published.own:
                known.setdefault(each.address, each.published)
    return [replace(each, published=_quoted(each, known)) for each in found]


def _scatter(resolver: Resolver, description: models.Scatter) -> list[Entry]:
    """Points, with the place of the vertical axis; that of the horizontal one is `across` it."""
    defaults = description.cells.coordinates()
    up: list[Entry] = []
    across: list[Entry] = []
    for panel in resolver.lines(description.panels, "panels"):
        for series in description.series:
            name = series.label or series.system
            if not isinstance(name, str):
                raise UserError(f"{resolver.where}.series: missing key 'label'")
            if series.quoted is not None:
                continue
            for chosen, varied in product(series):
                point = ""
                if series.point is not None or varied:
                    named = {**chosen, "system": None} if name == series.system else chosen
                    point = resolver.label(series.point, named, varied)
                for axis, found in ((description.y, up), (description.x, across)):
                    label = f"series '{name}', panel '{panel.label}'"
                    here = merged(defaults, panel.chosen, axis.coordinates(), chosen)
                    names = {"row": name, "column": panel.label, "category": point}
                    found.append(resolver.entry(here, label, over=axis.over, **names))
    up = _quote(resolver, description.quotes, up)
    across = _quote(resolver, description.quotes, across)
    found = [replace(one, across=other) for one, other in zip(up, across, strict=True)]
    return found + _quoted_points(resolver, description)


def _quoted_points(resolver: Resolver, description: models.Scatter) -> list[Entry]:
    """Points of quoted rows, whose values stand in the columns that the axes name."""
    found = []
    for series in description.series:
        for row in series.quoted or []:
            values: list[Published] = []
            for axis in (description.y, description.x):
                places = [
                    each
                    for number in description.quotes
                    for each in entries(resolver.configuration, resolver.name, "table", number)
                    if (each.row, each.column) == (row, axis.column) and each.published is not None
                ]
                if not places:
                    raise UserError(
                        f"{resolver.where}.series: no table of 'quotes' has a published value in "
                        f"row '{row}', column '{axis.column}'"
                    )
                assert places[0].published is not None
                values.append(places[0].published)
            for panel in resolver.lines(description.panels, "panels"):
                chosen = merged(description.cells.coordinates(), panel.chosen)
                names = {"row": series.label or row, "column": panel.label, "category": row}
                up, across = (
                    replace(
                        resolver.entry(
                            {**merged(chosen, axis.coordinates()), "system": None},
                            f"quoted row '{row}'",
                            **names,
                        ),
                        published=value,
                    )
                    for axis, value in zip((description.y, description.x), values, strict=True)
                )
                found.append(replace(up, across=across))
    return found


def _heat_map(resolver: Resolver, description: models.HeatMap) -> list[Entry]:
    """Places of series and categories, or one for the matrix of each panel."""
    if description.matrix is None:
        return _points(resolver, description)
    defaults = description.cells.coordinates()
    return [
        resolver.entry(
            merged(defaults, panel.chosen),
            f"panel '{panel.label}'",
            row=panel.label,
            column=panel.label,
        )
        for panel in resolver.lines(description.panels, "panels")
    ]


def _quoted(entry: Entry, known: Mapping[Address, Published]) -> Published | None:
    value = None if entry.address is None else known.get(entry.address)
    if entry.over_address is None:
        return value
    other = known.get(entry.over_address)
    if value is None or other is None or value.value is None or other.value is None:
        return None
    difference = round(value.value - other.value, 6)
    return Published(f"{difference:+g}", difference, f"{value.source}; minus {other.source}")


def _curves(resolver: Resolver, description: models.Curves) -> list[Entry]:
    defaults = description.cells.coordinates()
    panels = resolver.lines(description.panels, "panels")
    chains = [
        (line, series.chain)
        for series in description.series
        for line in resolver.lines([series], "series")
    ]
    no_repetition([line.label for line, _ in chains], f"{resolver.where}.series")
    return [
        resolver.entry(
            merged(defaults, panel.chosen, line.chosen, {"system": system, "measure": CURVE}),
            f"row '{line.label}', column '{panel.label}'",
            row=line.label,
            column=panel.label,
            x=number,
        )
        for line, chain in chains
        for panel in panels
        for number, system in enumerate(chain, 1)
    ]


def lines_of(
    configuration: Configuration, paper: str, kind: Kind, number: str | int
) -> tuple[dict[str, Chosen], tuple[str, ...]]:
    """What claims can name in a table or figure.

    Returns:
        Coordinates of rows, series and points by label, and the labels of the points (of a table,
        those of the rows that are run), in order.
    """
    description = describe(configuration, paper, kind, number)
    resolver = Resolver(configuration, paper, f"{kind}s.{number}")
    if isinstance(description, models.Grid):
        rows, _, _ = grid(resolver, description, str(number))
        return (
            {row.label: row.chosen for row in rows},
            tuple(row.label for row in rows if not row.quoted and row.derived is None),
        )
    named: dict[str, Chosen] = {}
    points: dict[str, Chosen] = {}
    if isinstance(description, models.Curves):
        for chain in description.series:
            for line in resolver.lines([chain], "series"):
                named[line.label] = merged(line.chosen, {"system": chain.chain[-1]})
    if isinstance(description, models.Lines | models.Bars):
        for series in description.series:
            for line in _series(resolver, series, description):
                named[line.label] = line.chosen
                for chosen, place in _along(resolver, series, line.chosen, description):
                    label = place.get("category") or f"{place['x']:g}"
                    points.setdefault(label, chosen)
    return {**points, **named}, tuple(points)


@dataclass(frozen=True)
class Layout:
    """The panels and series of a figure, in order; of each series its style."""

    panels: tuple[str, ...]
    series: dict[str, str | None]


def layout(configuration: Configuration, paper: str, number: str | int) -> Layout:
    """How a figure is divided."""
    description = describe(configuration, paper, "figure", number)
    resolver = Resolver(configuration, paper, f"figures.{number}")
    series: dict[str, str | None] = {}
    for each in description.series:
        if isinstance(each, models.Cloud):
            style = "joined" if each.joined else None
            names = [each.label or each.system] if each.quoted is None else each.quoted
            series |= {str(each.label or name): style for name in names}
            continue
        if isinstance(each, models.Chain):
            series |= {line.label: None for line in resolver.lines([each], "series")}
            continue
        series |= {line.label: each.style for line in _series(resolver, each, description)}
    panels = resolver.lines(description.panels, "panels")
    return Layout(tuple(line.label for line in panels), series)


def interval_columns(configuration: Configuration, paper: str, number: str | int) -> set[str]:
    """Labels of the columns of a table that show an interval."""
    description = describe(configuration, paper, "table", number)
    resolver = Resolver(configuration, paper, f"tables.{number}")
    return {
        line.label
        for column in description.columns
        if isinstance(column, models.Column) and column.interval
        for line in resolver.lines([column], "columns")
    }


@dataclass(frozen=True)
class SettingsTable:
    """A table of settings: its systems by label, its rows, and the published texts by place."""

    systems: dict[str, str]
    rows: tuple[models.Setting, ...]
    published: dict[tuple[str, str], str]


def settings_table(configuration: Configuration, paper: str, number: str | int) -> SettingsTable:
    """A table of settings with its published values.

    Raises:
        UserError: as `entries`.
    """
    description = describe(configuration, paper, "table", number)
    resolver = Resolver(configuration, paper, f"tables.{number}")
    systems: dict[str, str] = {}
    for column in description.columns:
        name = column if isinstance(column, str) else column.system
        label = name if isinstance(column, str) else column.label or name
        no_repetition([*systems, label], f"{resolver.where}.columns")
        chosen = merged(
            resolver.paper.cells.coordinates(), description.cells.coordinates(), {"system": name}
        )
        systems[label] = resolver.ours(name, chosen)
    no_repetition([row.label for row in description.rows], f"{resolver.where}.rows")
    shown = [
        each
        for each, table in resolver.paper.tables.items()
        if not isinstance(table, models.Samples)
    ]
    lines = published.of_table(Path(configuration.root), paper, shown, str(number))
    places = published.join(
        paper,
        lines,
        {row.label: not row.ours_only for row in description.rows},
        dict.fromkeys(systems, True),
        resolver.where,
    )
    return SettingsTable(
        systems=systems,
        rows=tuple(description.rows),
        published={place: value.text for place, value in places.items()},
    )

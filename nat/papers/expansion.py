"""From the tables of a paper's file to cells, with their published values.

A table and a figure are expanded alike: rows or series one way, columns or panels the other way.
What claims can name in them follows from the same lines. Figures: `nat.papers.figure_expansion`.
"""

import itertools
from collections.abc import Collection, Iterable, Mapping
from functools import cached_property
from typing import Any

from nat.artifacts import step_of
from nat.configuration.overrides import Point
from nat.data.splits import sides
from nat.errors import told_of
from nat.measures.known import DERIVED, MEASURES
from nat.options import hint
from nat.papers import published
from nat.papers.cells import (
    COMPUTED,
    OVER,
    OWN,
    STUDENT,
    TEACHER,
    Cell,
    Derivation,
    place,
    with_published,
)
from nat.papers.coordinates import (
    Chosen,
    Heading,
    Mistake,
    Resolver,
    filled,
    known,
    missing,
    no_repetition,
    product,
)
from nat.papers.description import Line, PaperPart
from nat.papers.published import Published, is_own

TEXT = "text"
"""The only column of a table of texts."""


class Expanded:
    """A table or figure, expanded.

    Attributes:
        levels: its own coordinates.
        rows: or series; those of the published file included.
        columns: or panels.
        named: coordinates that claims find under the labels of rows, series and points.
        points: labels of the points or, of a table, of the rows that are run, in order.
        keys: see `nat.papers.resolved.ResolvedPart`.
        quoted: of a figure, the cells of the tables whose printed values it draws.
    """

    def __init__(self, resolver: Resolver, name: str, described: PaperPart) -> None:
        self.resolver, self.name, self.described = resolver, name, described
        self.levels = described.cells.given()
        self.rows: list[Heading] = []
        self.columns: list[Heading] = []
        self.cells: list[Cell] = []
        self.named: dict[str, Chosen] = {}
        self.points: list[str] = []
        self.keys: dict[str, dict[str, str]] = {}
        self.quoted: list[Cell] = []

    def numbers(self, here: Chosen, other: Chosen | None, **labels: Any) -> list[Cell]:
        """The cells at given coordinates, and those at other ones that they are shown over."""
        labels["report"] = self.name
        cells = self.resolver.numbers(here, **labels)
        if cells[0].system and other is not None:
            cells += self.resolver.numbers(other, **labels, role=OVER)
        elif cells[0].system and MEASURES[cells[0].measure].relative:
            raise missing("over")
        return cells

    def merged(self, *levels: Chosen) -> Chosen:
        """The coordinates of the table or figure with those of lines, which must not conflict."""
        merged: Chosen = {}
        for key, value in itertools.chain.from_iterable(each.items() for each in levels):
            if merged.setdefault(key, value) != value:
                raise Mistake(f"the key '{key}' is given differently")
        return self.levels | merged

    def filled(self, key: str, chosen: Chosen) -> str:
        """A template with the variables of a line and of what it is in."""
        return filled(key, self.resolver.defaults | self.levels | chosen)

    # What claims find

    @cached_property
    def tasks(self) -> list[str]:
        """Tasks of its columns or panels, in order."""
        return list(dict.fromkeys(cell.task for cell in self.cells if cell.role == OWN))

    @cached_property
    def shared(self) -> Chosen:
        """Its own coordinates, and the measure of all its cells if this is the same."""
        measures = {each.measure for each in self.cells if each.role == OWN and not each.derived}
        if "measure" in self.resolver.defaults or len(measures) != 1:
            return self.levels
        return {"measure": measures.pop(), **self.levels}

    @property
    def shown_by_paper(self) -> list[Cell]:
        """Cells that are run or computed, without rows and columns that are ours only."""
        lines = [*self.rows, *self.columns]
        ours = {line.label for line in lines if line.given.ours_only}
        own = (cell for cell in self.cells if cell.system or cell.derived)
        return [cell for cell in own if cell.row not in ours and cell.column not in ours]

    @cached_property
    def printed(self) -> dict[tuple[str, ...], Cell]:
        """Cells with the printed values of numbers, those that are only quoted by row."""
        # what is shown over others is a difference, not the number of its address
        overs = {place(cell) for cell in self.cells if cell.role == OVER}
        printed = [e for e in self.cells if place(e) not in overs or MEASURES[e.measure].relative]
        printed += [cell for cell in self.quoted if is_own(cell.origin) and cell.system]
        return {identity(cell, cell.row): cell for cell in reversed(printed) if cell.printed}


def identity(cell: Cell, called: str) -> tuple[str, ...]:
    """The number of a cell, or of one that is only quoted its row, task and measure."""
    return cell.address if cell.system else (called, cell.task, cell.measure)


def lines_of(resolver: Resolver, number: str) -> list[Published]:
    """The published values of a table; one of a table that there is not is a UserError."""
    tables = resolver.paper.tables
    names = [f"table{each}" for each, table in tables.items() if table.kind != "samples"]
    for line in resolver.published:
        if line.use != published.NONE and line.table not in names:
            raise line.refuse(f"no such table '{line.table}'; {hint(line.table, names)}")
    return [line for line in resolver.published if line.table == f"table{number}" and line.columns]


def is_run(row: Heading) -> bool:
    """Tell whether a row is run, and not only quoted or computed from others."""
    return row.given.quoted is None and row.given.derived is None


class ExpandedTable(Expanded):
    """A table; texts are in the column `TEXT`. `swept`: see `nat.papers.sweeps`."""

    def __init__(self, resolver: Resolver, number: str) -> None:
        super().__init__(resolver, f"table {number}", resolver.paper.tables[number])
        self.swept: dict[str, tuple[str, Point]] = {}
        with told_of(f"{resolver.file}: tables.{number}: "):
            if self.described.kind == "samples":
                self._samples()
            elif self.described.kind != "settings":
                self.lines = lines_of(resolver, number)
                self._lines()
                self._check_labels()
                self._cells()

    def _lines(self) -> None:
        """Expand rows and columns, and place rows that are only quoted.

        Each of these stands after its predecessor in the published file, or where the table says.
        """
        resolver, texts = self.resolver, self.described.kind == "texts"
        columns = [Line(label=TEXT)] if texts else self.described.columns
        self.columns = resolver.headings(columns, "columns")
        for row in self.described.rows:
            quoted = [Heading(label, {}, given=row) for label in row.quoted or ()]
            self.rows += quoted or resolver.headings([row], "rows")
        with told_of("rows: "):
            no_repetition(row.label for row in self.rows)
        ours: published.Needed = {
            row.label: not row.given.ours_only for row in self.rows if not row.given.quoted
        }
        shown: published.Needed = {
            each.label: None if each.given.hidden else not each.given.ours_only
            for each in self.columns
        }
        self.published = published.join(self.lines, ours, shown)
        at = 0
        for label in dict.fromkeys(line.row for line in self.lines):
            labels = [row.label for row in self.rows]
            if label in labels:
                at = labels.index(label)
            else:
                self.rows.insert(at, Heading(label, {}, given=Line(quoted=[label])))
            at += 1
        self.named = {row.label: row.chosen for row in self.rows}
        self.points = [row.label for row in self.rows if is_run(row)]
        for line in self.rows if texts else ():
            if is_run(line):
                self.keys[line.label] = {"text": self.filled(line.given.key or "", line.chosen)}

    def _check_labels(self) -> None:
        """Refuse labels that the table names and does not have."""
        rows, columns = ([line.label for line in each] for each in (self.rows, self.columns))
        described, systems = self.described, [row.chosen.get("system", "") for row in self.rows]
        named: dict[str, tuple[Iterable[str | None], Collection[str]]] = {
            "baseline": (described.baseline, systems),
            "groups": (described.groups, [line.group for line in self.lines]),
            "footnotes.row": ((each.row for each in described.footnotes), rows),
            "footnotes.column": ((each.column for each in described.footnotes), columns),
            "rows.columns": ((name for r in self.rows for name in r.given.columns or ()), columns),
        }
        for key, (labels, there) in named.items():
            for label in filter(None, labels):
                known(f"name in '{key}':", label, there)

    def _group(self, row: Heading) -> str:
        """The group of a row: its own, its system if the steps vary, or the printed one."""
        if row.given.group is not None or self.described.kind == "texts":
            return row.given.group or ""
        system = row.chosen.get("system")
        if "steps" in row.varied and system in self.resolver.paper.systems:
            return str(system)
        printed = next((line.group for line in self.lines[::-1] if line.row == row.label), "")
        return self.described.groups.get(printed, printed)

    def _baseline(self, row: Heading) -> str:
        """The label of the row that a row is tested against; empty if there is none."""
        if not is_run(row):
            return ""
        name = row.chosen.get("system", "")
        given = row.given.baseline or self.described.baseline.get(name)
        printed = self.resolver.system(name, None)
        wanted = given or (printed and printed.baseline)
        alike = {**row.chosen, "system": wanted}
        others = [each for each in self.rows if each.label != row.label]
        labels = [each.label for each in others if each.chosen == alike]
        labels += [each.label for each in others if each.label == wanted]
        if given is not None and not labels:
            known("baseline in 'rows':", given, [*self.named])
        return next(iter(labels), "")

    def _cells(self) -> None:
        """Resolve all cells: first those that are measured, last derived rows."""
        everything = list(itertools.product(self.rows, self.columns))
        resolved: dict[tuple[str, str], list[Cell]] = {}

        def derived(pair: tuple[Heading, Heading]) -> list[bool]:
            return [line.given.derived is not None for line in pair]

        for row, column in sorted(everything, key=derived):
            at = row.label, column.label
            labels: Chosen = {"row": row.label, "column": column.label, "group": self._group(row)}
            with told_of(f"row '{row.label}', column '{column.label}': "):
                if any(derived((row, column))):
                    cells = [self._computed(row, column, resolved)._replace(**labels)]
                else:
                    cells = self._measured(row, column, labels)
            resolved[at] = [with_published(each, self.published.get(at)) for each in cells]
        of = (resolved[row.label, column.label] for row, column in everything)
        self.cells = list(itertools.chain.from_iterable(of))

    def _measured(self, row: Heading, column: Heading, labels: Chosen) -> list[Cell]:
        """Cells in a row and a column: measured, or only quoted."""
        here = self.merged(column.chosen, row.chosen)
        measure = MEASURES.get((self.resolver.defaults | here).get("measure", ""))
        of_row = row.given.over if measure is not None and measure.relative else None
        over = of_row or column.given.over
        if row.given.quoted or column.label not in (row.given.columns or [column.label]):
            here, over = here | {"system": None}, None
        if over is None:
            return self.numbers(here, None, **labels, baseline=self._baseline(row))
        rows = {each.label: each.chosen for each in self.rows if is_run(each)}
        name = known("row in 'over':", self.filled(over, here), rows)
        same = {"measure": here["measure"]} if of_row else {}
        other = self.levels | column.chosen | rows[name] | same
        return self.numbers(here, other, **labels)

    def _computed(
        self, row: Heading, column: Heading, resolved: Mapping[tuple[str, str], list[Cell]]
    ) -> Cell:
        """A cell that is computed from others."""
        of_row = row.given.derived is not None
        derived = row.given.derived or column.given.derived
        assert derived is not None
        operation = derived.choice
        named = getattr(derived, operation)
        like = 0
        if derived.among is not None:
            among = itertools.chain.from_iterable(derived.among.items())
            of, like = [(label, column.label) for label in (named, *among)], 2
        elif operation == "correlation":
            rows = derived.over or self.points
            of = [(label, each) for label in rows for each in (column.label, named)]
        else:
            of = [(label, column.label) if of_row else (row.label, label) for label in named]
        labels = {*itertools.chain.from_iterable(resolved)}
        for each in of:
            if each not in resolved:
                label = next((label for label in each if label not in labels), each[0])
                raise Mistake(f"'derived' has no earlier '{label}'; {hint(label, labels)}")
        operation = f"absolute_{operation}" if derived.absolute else operation
        measure = operation if operation in DERIVED else resolved[of[like]][0].measure
        cell = Cell(self.name, "", "", measure, resolved[of[0]][0].task, reason=COMPUTED)
        return cell._replace(derived=Derivation(operation, tuple(of)))

    def _samples(self) -> None:
        """Expand a table of samples: of each system, its baseline's cells and its own."""
        resolver = self.resolver
        lines = [(row, each) for row in self.described.rows for each, _ in product(row.given())]
        for row, chosen in lines:
            name = chosen.get("system", "")
            printed = resolver.system(name, None)
            if printed is None or printed.baseline is None:
                raise missing(f"systems.{name}.baseline")
            words = chosen | {"baseline": printed.baseline}
            label = resolver.label(row.label or "{baseline}, {task}", words, ())
            for column, system in ((TEACHER, printed.baseline), (STUDENT, name)):
                here = self.levels | chosen | {"system": system}
                self.cells += self.numbers(here, None, row=label, column=column)
        for cell in self.cells:
            if cell.source is not None:
                stem = f"{step_of(cell.corpus, cell.split, 'tokens').path}/{cell.split}"
                corpus = resolver.configuration.corpus(cell.corpus)
                source, target = sides(corpus)
                files = {"source": f"{stem}.{source}", "reference": f"{stem}.{target}"}
                # units are named where tokens are none
                unit = {} if corpus.unit == "none" else {"unit": corpus.unit}
                self.keys[cell.row] = files | unit

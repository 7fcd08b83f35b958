"""From the tables and figures of a paper's file to cells, with their published values.

A table and a figure are expanded alike: rows or series one way, columns or panels the other way.
What claims can name in them follows from the same lines.
"""

import itertools
from collections.abc import Mapping
from typing import Any

from nat.artifacts import step_of
from nat.data.splits import sides
from nat.measures.known import DERIVED, MEASURES
from nat.papers import published
from nat.papers.cells import (
    COMPUTED,
    OVER,
    STUDENT,
    TEACHER,
    Cell,
    Derivation,
    place,
    with_published,
)
from nat.papers.coordinates import Chosen, Heading, Resolver, product
from nat.papers.description import Axis, Line, Part
from nat.papers.published import Published, is_own

TEXT = "text"
"""The only column of a table of texts."""
CURVE = "best_validation_bleu"
"""The measure of the cells of a training curve, which lies beside their file."""


class Expanded:
    """A table or figure, expanded.

    Attributes:
        name: such as `table 2`.
        described: in the paper's file.
        at: its key there, for messages.
        levels: its own coordinates.
        rows: or series; those of the published file included.
        columns: or panels.
        cells: row by row.
        named: coordinates that claims find under the labels of rows, series and points.
        points: labels of the points or, of a table, of the rows that are run, in order.
        keys: see `nat.papers.resolved.ResolvedPart`.
    """

    def __init__(self, resolver: Resolver, name: str, described: Part) -> None:
        self.resolver, self.name, self.described = resolver, name, described
        self.at = name.replace(" ", "s.")
        self.levels = described.cells.given()
        self.rows: list[Heading] = []
        self.columns: list[Heading] = []
        self.cells: list[Cell] = []
        self.named: dict[str, Chosen] = {}
        self.points: list[str] = []
        self.keys: dict[str, dict[str, str]] = {}

    def numbers(self, at: str, here: Chosen, other: Chosen | None, **labels: Any) -> list[Cell]:
        """The cells at given coordinates, and those at other ones that they are shown over."""
        labels["report"] = self.name
        cells = self.resolver.numbers(here, at, **labels)
        if not cells[0].system:
            return cells
        if other is not None:
            return [*cells, *self.resolver.numbers(other, at, **labels, role=OVER)]
        if MEASURES[cells[0].measure].relative:
            raise self.resolver.missing(at, "over")
        return cells

    def merged(self, at: str, *levels: Chosen) -> Chosen:
        """The coordinates of the table or figure with those of lines, which must not conflict."""
        found: Chosen = {}
        for key, value in itertools.chain.from_iterable(each.items() for each in levels):
            if found.setdefault(key, value) != value:
                raise self.resolver.error(at, f"the key '{key}' is given differently")
        return self.levels | found

    def filled(self, key: str, chosen: Chosen) -> str:
        """A template with the variables of a line and of what it is in."""
        return self.resolver.filled(
            key, {**self.resolver.defaults, **self.levels, **chosen}, self.at
        )


# Tables


def lines_of(resolver: Resolver, number: str) -> list[Published]:
    """The published values of a table."""
    printed = [key for key, table in resolver.paper.tables.items() if table.kind != "samples"]
    lines = published.read(resolver.configuration.root, resolver.name)
    return published.of_table(lines, printed, number)


def is_run(row: Heading) -> bool:
    """Tell whether a row is run, and not only quoted or computed from others."""
    return row.given.quoted is None and row.given.derived is None


class ExpandedTable(Expanded):
    """A table; texts are in the column `TEXT`."""

    def __init__(self, resolver: Resolver, number: str) -> None:
        super().__init__(resolver, f"table {number}", resolver.paper.tables[number])
        kind = self.described.kind
        if kind == "settings":
            return
        if kind == "samples":
            self._samples()
            return
        columns = [Line(label=TEXT)] if kind == "texts" else self.described.columns
        self.columns = resolver.headings(columns, f"{self.at}.columns")
        self.lines = lines_of(resolver, number)
        own = self._own_rows()
        self.published = published.join(
            self.lines,
            {row.label: not row.given.ours_only for row in own if row.given.quoted is None},
            {
                each.label: None if each.given.hidden else not each.given.ours_only
                for each in self.columns
            },
            f"{resolver.file}: {self.at}",
        )
        self.rows = self._with_quoted(own)
        self._check_labels()
        self.named = {row.label: row.chosen for row in self.rows}
        self.points = [row.label for row in self.rows if is_run(row)]
        self.groups = {row.label: self._group(row) for row in self.rows}
        self.baselines = {row.label: self._baseline(row) for row in self.rows}
        self.found: dict[tuple[str, str], list[Cell]] = {}
        self._fill()
        if kind == "texts":
            keys = {row.label: (row.given.key, row.chosen) for row in self.rows if is_run(row)}
            self.keys = {
                label: {"text": self.filled(key or "", chosen)}
                for label, (key, chosen) in keys.items()
            }

    def _own_rows(self) -> list[Heading]:
        at, rows = f"{self.at}.rows", []
        for row in self.described.rows:
            if row.quoted is None:
                rows += self.resolver.headings([row], at)
            else:
                rows += [Heading(label, {}, given=row) for label in row.quoted]
        self.resolver.no_repetition(at, [row.label for row in rows])
        return rows

    def _with_quoted(self, own: list[Heading]) -> list[Heading]:
        """Add the rows that are only quoted, each after its predecessor in the published file."""
        rows, at = list(own), 0
        for label in dict.fromkeys(line.row for line in self.lines):
            known = [row.label for row in rows]
            if label in known:
                at = known.index(label)
            else:
                rows.insert(at, Heading(label, {}, given=Line(quoted=[label])))
            at += 1
        return rows

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
        wanted = given or (printed.baseline if printed is not None else None)
        alike = [
            each.label
            for each in self.rows
            if each.label != row.label and each.chosen == {**row.chosen, "system": wanted}
        ]
        labels = [*alike, *(each.label for each in self.rows if each.label == wanted)]
        if given is not None and not labels:
            known = [each.label for each in self.rows]
            raise self.resolver.unknown(f"{self.at}.rows", "baseline", str(wanted), known)
        return next(iter(labels), "")

    def _check_labels(self) -> None:
        """Refuse labels that the table names and does not have."""
        rows = [row.label for row in self.rows]
        columns = [column.label for column in self.columns]
        systems = [row.chosen["system"] for row in self.rows if row.chosen.get("system")]
        named = [("baseline", name, systems) for name in self.described.baseline]
        groups = [line.group for line in self.lines]
        named += [("groups", name, groups) for name in self.described.groups]
        for footnote in self.described.footnotes:
            named += [("footnotes.row", footnote.row, rows)] if footnote.row else []
            named += [("footnotes.column", footnote.column, columns)] if footnote.column else []
        for row in self.rows:
            named += [("rows.columns", label, columns) for label in row.given.columns or ()]
        for key, label, known in named:
            if label not in known:
                raise self.resolver.unknown(f"{self.at}.{key}", "name", label, known)

    def _fill(self) -> None:
        """Resolve all cells: first those that are measured, last derived rows."""
        everything = list(itertools.product(self.rows, self.columns))

        def level(pair: tuple[Heading, Heading]) -> list[bool]:
            return [line.given.derived is not None for line in pair]

        for row, column in sorted(everything, key=level):
            make = self._computed if any(level((row, column))) else self._measured
            self.found[row.label, column.label] = make(row, column)
        self.cells = [
            with_published(cell, self.published.get((row.label, column.label)))
            for row, column in everything
            for cell in self.found[row.label, column.label]
        ]

    def _measured(self, row: Heading, column: Heading) -> list[Cell]:
        """What the table shows in a row and a column: measured, or only quoted."""
        at = f"{self.at}: row '{row.label}', column '{column.label}'"
        here = self.merged(at, column.chosen, row.chosen)
        blank = column.label not in (row.given.columns or [column.label])
        if blank or row.given.quoted is not None:
            here["system"] = None
        name, other = column.given.over, None
        measure = MEASURES.get({**self.resolver.defaults, **here}.get("measure", ""))
        if measure is not None and measure.relative:
            name = row.given.over or name
        if name is not None and here.get("system", "") is not None:
            name = self.filled(name, here)
            known = {each.label: each.chosen for each in self.rows if is_run(each)}
            if name not in known:
                raise self.resolver.unknown(at, "row that is run, in 'over':", name, known)
            same = {key: here[key] for key in ("measure",) if key in here}
            other = {**self.levels, **column.chosen, **known[name], **same}
        return self.numbers(
            *(at, here, other),
            row=row.label,
            column=column.label,
            group=self.groups[row.label],
            baseline=self.baselines[row.label] if name is None else "",
        )

    def _computed(self, row: Heading, column: Heading) -> list[Cell]:
        """A cell that is computed from others."""
        of_row = row.given.derived is not None
        derived = row.given.derived or column.given.derived
        assert derived is not None
        name = derived.choice
        named = getattr(derived, name)
        if derived.among is not None:
            among = itertools.chain.from_iterable(derived.among.items())
            of = [(label, column.label) for label in (named, *among)]
        elif name == "correlation":
            rows = derived.over or [each.label for each in self.rows if is_run(each)]
            of = [(label, each) for label in rows for each in (column.label, named)]
        else:
            of = [(label, column.label) if of_row else (row.label, label) for label in named]
        for operand in of:
            if operand not in self.found:
                at = f"{self.at}.{'rows' if of_row else 'columns'}.derived"
                label = operand[0] if of_row and operand[1] == column.label else operand[1]
                known = [each for one in self.found for each in one]
                raise self.resolver.unknown(at, "earlier label", label, dict.fromkeys(known))
        like = self.found[of[0] if derived.among is None else of[2]][0]
        operation = f"absolute_{name}" if derived.absolute else name
        cell = Cell(
            *(self.name, row.label, column.label),
            measure=operation if operation in DERIVED else like.measure,
            task=self.found[of[0]][0].task,
            group=self.groups[row.label],
            reason=COMPUTED,
            derived=Derivation(operation, tuple(of)),
        )
        return [cell]

    def _samples(self) -> None:
        """Expand a table of samples: of each system, its baseline's cells and its own."""
        resolver, at = self.resolver, f"{self.at}.rows"
        for row in self.described.rows:
            for chosen, _ in product(row.given()):
                name = chosen.get("system", "")
                printed = resolver.system(name, None)
                if printed is None or printed.baseline is None:
                    raise resolver.error(at, f"'{name}' has no baseline to be compared with")
                words = chosen | {"baseline": printed.baseline}
                label = resolver.label(row.label or "{baseline}, {task}", words, (), at)
                for column, system in ((TEACHER, printed.baseline), (STUDENT, name)):
                    here = {**self.levels, **chosen, "system": system}
                    self.cells += self.numbers(at, here, None, row=label, column=column)
        for cell in self.cells:
            if cell.source is not None:
                folder = step_of(cell.corpus, cell.split, "tokens").path
                languages = sides(resolver.configuration.corpus(cell.corpus))
                paths = [f"{folder}/{cell.split}.{language}" for language in languages]
                self.keys[cell.row] = dict(zip(("source", "reference"), paths, strict=True))


# Figures


class ExpandedFigure(Expanded):
    """A figure.

    Args:
        resolver: of the paper.
        number: of the figure.
        tables: those of the paper by number, whose published values it shows.
    """

    def __init__(self, resolver: Resolver, number: str, tables: Mapping[str, Expanded]) -> None:
        super().__init__(resolver, f"figure {number}", resolver.paper.figures[number])
        kind, at = self.described.kind, self.at
        for each in map(str, self.described.quotes):
            if each not in tables:
                raise resolver.unknown(f"{at}.quotes", "table", each, tables)
        cells = [cell for each in self.described.quotes for cell in tables[str(each)].cells]
        self.quoted = [cell for cell in cells if cell.printed]
        self.columns = resolver.headings(self.described.panels, f"{at}.panels")
        if self.described.keys:
            self._analyses()
        elif kind == "scatter":
            self._scatter()
        else:
            along = self.described.x.of if kind != "curves" else ""
            self.rows = resolver.headings(self.described.series, f"{at}.series", along)
            self._curves() if kind == "curves" else self._points()
        own = {cell.address: cell for cell in self.quoted[::-1] if is_own(cell.origin)}
        overs = {place(cell): cell for cell in self.cells if cell.role == OVER}
        self.cells = [_quoting(cell, overs.get(place(cell)), own) for cell in self.cells]

    def _mark(self, row: str, panel: Heading, *levels: Chosen, **labels: Any) -> None:
        """Add the cells of a point, and those of the system `over` that they are shown over."""
        at = f"{self.at}: series '{row}', panel '{panel.label}'"
        over, here = labels.pop("over", None), self.merged(at, panel.chosen, *levels)
        other = None if over is None else {**here, "system": over}
        self.cells += self.numbers(at, here, other, row=row, column=panel.label, **labels)

    def _analyses(self) -> None:
        for panel in self.columns:
            self._mark(panel.label, panel)
            self.keys[panel.label] = {
                name: self.filled(key, panel.chosen) for name, key in self.described.keys.items()
            }

    def _curves(self) -> None:
        """Expand trainings, one after the other where they start from each other."""
        for series, panel in itertools.product(self.rows, self.columns):
            for number, system in enumerate(series.given.chain or (), 1):
                self.named[series.label] = {**series.chosen, "system": system}
                chosen = {**self.named[series.label], "measure": CURVE}
                self._mark(series.label, panel, chosen, x=number)

    def _points(self) -> None:
        """Expand lines and bars; categories have places in the order in which they occur."""
        levels = [row.label for row in self.rows if row.given.style == "level"]
        for series in self.rows:
            marks = self._along(series)
            if series.label in levels and len(marks) > 1:
                at = f"{self.at}: series '{series.label}'"
                raise self.resolver.error(at, f"style 'level' has one point, not {len(marks)}")
            for name, chosen in marks:
                bars = self.described.kind == "bars"
                axis = {"category": name} if bars else {"x": name}
                self.named.setdefault(name if bars else f"{name:g}", chosen)
                for panel in self.columns:
                    self._mark(series.label, panel, chosen, over=series.given.over, **axis)
        self.points = [*self.named]
        self.named |= {series.label: series.chosen for series in self.rows}
        if self.described.kind == "bars":
            # those of levels, which lie across all others, come last
            last = sorted(self.cells, key=lambda cell: cell.row in levels)
            order = list(dict.fromkeys(cell.category for cell in last))
            self.cells = [cell._replace(x=order.index(cell.category)) for cell in self.cells]

    def _along(self, series: Heading) -> list[tuple[Any, Chosen]]:
        """The points of a series: number or category on the axis, and coordinates."""
        axis, at = self.described.x, f"{self.at}: series '{series.label}'"
        numbered = self.described.kind == "lines"
        if series.given.points is not None:
            marks = [
                (each.x if numbered else each.category, series.chosen | each.given())
                for each in series.given.points
            ]
        else:
            values = series.given.given().get(axis.of, axis.values)
            if values is None:
                raise self.resolver.missing(at, axis.of)
            marks = []
            for value in values if isinstance(values, list) else [values]:
                name = value
                if not numbered:
                    word = value if axis.of == "steps" else self.resolver.word(axis.of, value)
                    template = axis.category or f"{{{axis.of}}}"
                    name = self.resolver.filled(template, {axis.of: word}, at)
                marks.append((name, series.chosen | {axis.of: value}))
        for name, _ in marks:
            on_axis = isinstance(name, int | float) and (name > 0 or not axis.log)
            if not (on_axis if numbered else name):
                raise self.resolver.error(at, f"found '{name}', which has no place on the axis")
        return marks

    def _scatter(self) -> None:
        """Expand a scatter plot: each point has cells along both axes."""
        everything = list(itertools.product(self.columns, self.described.series))
        for series in self.described.series:
            for name in series.quoted or (series.system,):
                if not isinstance(series.label or name, str):
                    raise self.resolver.missing(f"{self.at}.series", "label")
                self.rows.append(Heading(str(series.label or name), {}, given=series))
        for panel, series in everything:
            row = str(series.label or series.system)
            for number, (chosen, varied) in enumerate(product(series.given())):
                words = chosen | ({"system": None} if series.system == row else {})
                named = series.quoted is None and (series.point is not None or varied)
                name = self.resolver.label(series.point, words, varied, self.at) if named else ""
                for key, axis in self._axes() if series.quoted is None else ():
                    at = {"category": name, "point": number, "axis": key}
                    self._mark(row, panel, chosen, axis.given(), over=axis.over, **at)
        for panel, series in everything:
            own = series.given().items()
            if all(panel.chosen.get(key, value) == value for key, value in own):
                for row in series.quoted or ():
                    self._quoted_point(row, panel, series)

    def _axes(self) -> tuple[tuple[str, Axis], ...]:
        return ("y", self.described.y), ("x", self.described.x)

    def _quoted_point(self, row: str, panel: Heading, series: Line) -> None:
        """Add a row that is only quoted, with its values in the columns that the axes name."""
        for key, axis in self._axes():
            values = {cell.row: cell for cell in self.quoted[::-1] if cell.column == axis.column}
            if row not in values:
                raise self.resolver.unknown(f"{self.at}.series", "quoted row", row, values)
            here = {**self.levels, **panel.chosen, **axis.given(), "system": None}
            at = {"row": series.label or row, "column": panel.label, "category": row, "axis": key}
            (cell,) = self.numbers(self.at, here, {}, **at)
            self.cells.append(with_published(cell, values[row]))


def _quoting(cell: Cell, over: Cell | None, own: Mapping[tuple[str, ...], Cell]) -> Cell:
    """A point with the published value of its address, or the difference of two."""
    value = own.get(cell.address) if cell.system else None
    if value is None or over is None or MEASURES[cell.measure].relative:
        return with_published(cell, value)
    other = own.get(over.address)
    if other is None or isinstance(value.published, str) or isinstance(other.published, str):
        return cell
    difference = round((value.published or 0.0) - (other.published or 0.0), 6)
    origin = f"{value.origin}; minus {other.origin}"
    return with_published(
        cell, value._replace(published=difference, printed=f"{difference:+g}", origin=origin)
    )

"""From the tables and figures of a paper's file to cells, with their published values.

Both are expanded alike: rows or series one way, columns or panels the other way. What claims can
name in them follows from the same lines.
"""

import itertools
from collections.abc import Collection, Iterable, Mapping
from functools import cached_property
from typing import Any

from nat.artifacts import Latency, step_of
from nat.configuration.families import require
from nat.configuration.overrides import Point
from nat.errors import UserError, told_of
from nat.measures.known import DERIVED, MEASURES
from nat.papers import hyper_parameters, published
from nat.papers.cells import COMPUTED, STUDENT, TEACHER, Cell, Derivation, Shown, identity, quoting
from nat.papers.coordinates import Chosen, Heading, Resolver, all_differ, filled, missing, product
from nat.papers.description import Line, PaperPart, TablePart
from nat.papers.published import is_own

TEXT = "text"  # the only column of a table of texts
CURVE = "best_validation_bleu"  # of the cells of a training curve, which lies beside their file


class Expanded:
    """A table or figure, expanded; one that the paper does not have shows nothing.

    Attributes:
        numbers: all that it shows, row by row.
        rows: or series; those of the published file included.
        columns: or panels.
        named: coordinates that claims find under the labels of rows, series and points.
        points: labels of the points or, of a table, of the rows that are run, in order.
        keys, settings: see `nat.papers.cells.ResolvedPart`.
        quoted: of a figure, the cells of the tables whose printed values it draws.
        latencies: what is timed together, by corpus, seed and setting; see `relation`.
    """

    def __init__(self, resolver: Resolver, name: str, described: PaperPart | None = None) -> None:
        self.resolver, self.name = resolver, name
        self.described = described or TablePart.model_construct(title="")
        self.levels = self.described.cells.given()  # its own coordinates
        self.rows: list[Heading] = []
        self.columns: list[Heading] = []
        self.numbers: list[Shown] = []
        self.named: dict[str, Chosen] = {}
        self.points: list[str] = []
        self.keys: dict[str, dict[str, str]] = {}
        self.quoted: list[Cell] = []
        self.latencies: dict[tuple[Any, ...], Latency] = {}
        self.settings: list[dict[str, Any]] = []

    @property
    def cells(self) -> list[Cell]:
        """The cells of all numbers."""
        return [cell for number in self.numbers for cell in number.cells]

    def number(self, here: Chosen, other: Chosen | None = None, **labels: Any) -> Shown:
        """The cells at given coordinates, and those at other ones that they are shown over."""
        own = tuple(self.resolver.numbers(here, **labels))
        if own[0].system and other is not None:
            return Shown(own, tuple(self.resolver.numbers(other, **labels)))
        if own[0].system and MEASURES[own[0].measure].relative:
            raise missing("over")
        return Shown(own)

    def merged(self, *lines: Chosen) -> Chosen:
        """The coordinates of the table or figure with those of lines, which must not conflict."""
        merged: Chosen = {}
        for chosen in lines:
            for key in chosen:
                if merged.setdefault(key, chosen[key]) != chosen[key]:
                    raise UserError(f"the key '{key}' is given differently")
        return self.levels | merged

    def filled(self, key: str, chosen: Chosen) -> str:
        """A template with the variables of a line and of what it is in."""
        return filled(key, self.resolver.defaults | self.levels | chosen)

    def timed(self, cell: Cell) -> Cell:
        """A cell whose latency, if it is one, is measured with all others that are shown."""
        if not isinstance(cell.source, Latency):
            return cell
        source = self.latencies.get((cell.corpus, cell.seed, cell.setting))
        names = () if source is None else source.names
        require(cell.part, names, f"latency of {self.name} in the setting '{cell.setting}':")
        return cell._replace(source=source)

    # What claims find

    @cached_property
    def shared(self) -> Chosen:
        """Its own coordinates, and the measure of all its cells if this is the same."""
        firsts = [number.first for number in self.numbers]
        measures = {each.measure for each in firsts if not each.derived}
        if "measure" in self.resolver.defaults or len(measures) != 1:
            return self.levels
        return {"measure": measures.pop(), **self.levels}

    @cached_property
    def printed(self) -> dict[tuple[str, ...], Cell]:
        """Cells with the printed values of numbers, those that are only quoted by row."""
        printed: list[Cell] = []
        for own, over in self.numbers:
            # what is shown over others is a difference, not the number of its address
            printed += own if not over or MEASURES[own[0].measure].relative else ()
        printed += [cell for cell in self.quoted if is_own(cell.origin) and cell.system]
        return {identity(cell, cell.row): cell for cell in reversed(printed) if cell.printed}


class ExpandedTable(Expanded):
    """A table; texts are in the column `TEXT`. `swept`: see `nat.papers.relation`."""

    def __init__(self, resolver: Resolver, number: str) -> None:
        super().__init__(resolver, f"table {number}", resolver.paper.tables[number])
        self.swept: dict[str, tuple[str, Point]] = {}
        with told_of(f"{resolver.file}: tables.{number}: "):
            if self.described.kind == "samples":
                self._samples()
            elif self.described.kind == "settings":
                self.settings = hyper_parameters.settings(resolver, number)
            else:
                self.lines = resolver.published.get(number, [])
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
            quoted = [Heading(label, {}, row) for label in row.quoted or ()]
            self.rows += quoted or resolver.headings([row], "rows")
        with told_of("rows: "):
            all_differ(row.label for row in self.rows)
        ours = {e.label: not e.given.ours_only for e in self.rows if not e.given.quoted}
        shown = {e.label: None if e.given.hidden else not e.given.ours_only for e in self.columns}
        self.published = published.join(self.lines, ours, shown)
        at = 0
        for label in dict.fromkeys(line.row for line in self.lines):
            labels = [row.label for row in self.rows]
            if label in labels:
                at = labels.index(label)
            else:
                self.rows.insert(at, Heading(label, {}, Line(quoted=[label])))
            at += 1
        self.named = {row.label: row.chosen for row in self.rows}
        run = [row for row in self.rows if row.is_run]
        self.points = [row.label for row in run]
        for line in run if texts else ():
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
                require(label, there, f"name in '{key}':")

    def _group(self, row: Heading) -> str:
        """The group of a row: its own, its system if the steps vary, or the printed one."""
        if row.given.group is not None or self.described.kind == "texts":
            return row.given.group or ""
        system = row.chosen.get("system")
        if isinstance(row.given.steps, list) and system in self.resolver.paper.systems:
            return str(system)
        printed = next((line.group for line in self.lines[::-1] if line.row == row.label), "")
        return self.described.groups.get(printed, printed)

    def _baseline(self, row: Heading) -> str:
        """The label of the row that a row is tested against; empty if there is none."""
        if not row.is_run:
            return ""
        name = row.chosen.get("system", "")
        given = row.given.baseline or self.described.baseline.get(name)
        printed = self.resolver.system(name, None)
        wanted = given or (printed and printed.baseline)
        alike = {**row.chosen, "system": wanted}
        others = {label: its for label, its in self.named.items() if label != row.label}
        labels = [label for label, its in others.items() if its == alike]
        labels += [label for label in others if label == wanted]
        if given is not None and not labels:
            require(given, [*self.named], "baseline in 'rows':")
        return next(iter(labels), "")

    def _cells(self) -> None:
        """Resolve all cells: first those that are measured, last derived rows."""
        everything = list(itertools.product(self.rows, self.columns))
        resolved: dict[tuple[str, str], Shown] = {}

        def derived(pair: tuple[Heading, Heading]) -> list[bool]:
            return [line.given.derived is not None for line in pair]

        for row, column in sorted(everything, key=derived):
            at = row.label, column.label
            labels: Chosen = {"row": row.label, "column": column.label, "group": self._group(row)}
            with told_of(f"row '{row.label}', column '{column.label}': "):
                if any(derived((row, column))):
                    cell = self._computed(row, column, resolved)._replace(**labels)
                    number = Shown((cell,))
                else:
                    number = self._measured(row, column, labels)
            resolved[at] = number.with_published(self.published.get(at))
        self.numbers = [resolved[row.label, column.label] for row, column in everything]

    def _measured(self, row: Heading, column: Heading, labels: Chosen) -> Shown:
        """Cells in a row and a column: measured, or only quoted."""
        here = self.merged(column.chosen, row.chosen)
        if row.given.quoted or column.label not in (row.given.columns or [column.label]):
            return self.number(here | {"system": None}, **labels, baseline=self._baseline(row))
        measure = MEASURES.get((self.resolver.defaults | here).get("measure", ""))
        of_row = row.given.over if measure is not None and measure.relative else None
        over = of_row or column.given.over
        if over is None:
            return self.number(here, **labels, baseline=self._baseline(row))
        rows = {each.label: each.chosen for each in self.rows if each.is_run}
        name = require(self.filled(over, here), rows, "row in 'over':")
        same = {"measure": here["measure"]} if of_row else {}
        other = self.levels | column.chosen | rows[name] | same
        return self.number(here, other, **labels)

    def _computed(
        self, row: Heading, column: Heading, resolved: Mapping[tuple[str, str], Shown]
    ) -> Cell:
        """A cell that is computed from others."""
        derived = row.given.derived or column.given.derived
        assert derived is not None
        operation, named = derived.choice, getattr(derived, derived.choice)
        like = 0
        if derived.among is not None:
            among = itertools.chain.from_iterable(derived.among.items())
            of, like = [(label, column.label) for label in (named, *among)], 2
        elif operation == "correlation":
            rows = derived.over or self.points
            of = [(label, each) for label in rows for each in (column.label, named)]
        elif row.given.derived is not None:
            of = [(label, column.label) for label in named]
        else:
            of = [(row.label, label) for label in named]
        for label, name in of:
            require(label, [earlier for earlier, _ in resolved], "earlier row in 'derived':")
            columns = [earlier for its, earlier in resolved if its == label]
            require(name, columns, "earlier column in 'derived':")
        operation = f"absolute_{operation}" if derived.absolute else operation
        measure = operation if operation in DERIVED else resolved[of[like]].first.measure
        cell = Cell("", "", measure, resolved[of[0]].first.task, reason=COMPUTED)
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
                self.numbers.append(self.number(here, row=label, column=column))
        for cell in self.cells:
            if cell.source is not None:
                stem = f"{step_of(cell.corpus, cell.split, 'tokens').path}/{cell.split}"
                corpus = resolver.configuration.corpus(cell.corpus)
                source, reference = (f"{stem}.{side}" for side in corpus.sides)
                own = {"source": source, "reference": reference, "unit": corpus.unit}
                self.keys[cell.row] = own


class ExpandedFigure(Expanded):
    """A figure: points of series, panel by panel, with values that tables of the paper print."""

    def __init__(self, resolver: Resolver, number: str, tables: Mapping[str, Expanded]) -> None:
        super().__init__(resolver, f"figure {number}", resolver.paper.figures[number])
        described = self.described
        with told_of(f"{resolver.file}: figures.{number}: "):
            quotes = [require(str(e), tables, "table in 'quotes':") for e in described.quotes]
            self.quoted = [cell for each in quotes for cell in tables[each].cells if cell.printed]
            self.columns = resolver.headings(described.panels, "panels")
            if described.analysis:
                for panel in self.columns:
                    self._mark(panel.label, panel)
                    keys = described.analysis.items()
                    self.keys[panel.label] = {n: self.filled(key, panel.chosen) for n, key in keys}
            elif described.kind == "scatter":
                self._scatter()
            else:
                self._points()
        own = {cell.address: cell for cell in self.quoted[::-1] if is_own(cell.origin)}
        self.numbers = [quoting(number, own) for number in self.numbers]

    def _mark(
        self, row: str, panel: Heading, *levels: Chosen, over: str | None = None, **labels: Any
    ) -> None:
        """Add the cells of a point, and those of the system `over` that they are shown over."""
        with told_of(f"series '{row}', panel '{panel.label}': "):
            here = self.merged(panel.chosen, *levels)
            other = None if over is None else here | {"system": over}
            self.numbers.append(self.number(here, other, row=row, column=panel.label, **labels))

    def _points(self) -> None:
        """Expand lines, curves and bars; categories have places in the order of their occurrence.

        The points of a curve are the trainings of its chain.
        """
        bars = self.described.kind == "bars"
        self.rows = self.resolver.headings(self.described.series, "series", self.described.x.of)
        series_named: dict[str, Chosen] = {}
        for series in self.rows:
            with told_of(f"series '{series.label}': "):
                points = self._along(series, "category" if bars else "x")
            series_named[series.label] = points[-1][1] if series.given.chain else series.chosen
            for name, chosen in points:
                self.named.setdefault(name if bars else f"{name:g}", chosen)
                axis = {"category": name} if bars else {"x": name}
                curve = {"measure": CURVE} if series.given.chain else {}
                for panel in self.columns:
                    self._mark(series.label, panel, chosen, curve, over=series.given.over, **axis)
        self.points = [*self.named]
        self.named |= series_named
        if bars:
            # those of levels, which lie across all others, come last
            levels = [series.label for series in self.rows if series.given.style]
            last = sorted(self.numbers, key=lambda number: number.label in levels)
            order = list(dict.fromkeys(number.first.category for number in last))
            self.numbers = [e.changed(x=order.index(e.first.category)) for e in self.numbers]

    def _along(self, series: Heading, key: str) -> list[tuple[Any, Chosen]]:
        """The points of a series: number (key `x`) or category on the axis, and coordinates."""
        axis, given = self.described.x, series.given
        points: list[tuple[Any, Chosen]] = []
        for turn, system in enumerate(given.chain or (), 1):
            points.append((turn, series.chosen | {"system": system}))
        for point in given.points or ():
            if getattr(point, key) is None:
                raise missing(key)
            points.append((getattr(point, key), series.chosen | point.given()))
        if points:
            return points
        values = given.given().get(axis.of, axis.values)
        if values is None:
            raise missing(axis.of)
        for value in values if isinstance(values, list) else [values]:
            word = value if axis.of == "steps" else self.resolver.word(axis.of, value)
            template = axis.category or f"{{{axis.of}}}"
            name = filled(template, {axis.of: word}) if key == "category" else value
            points.append((name, series.chosen | {axis.of: value}))
        return points

    def _scatter(self) -> None:
        """Expand a scatter plot: by turns what points show upwards and across; quoted are last."""
        axes, last = (self.described.y, self.described.x), list[Shown]()
        for series in self.described.series:
            own: list[Any] = [series.label or series.system]
            labels = series.quoted if series.quoted and not series.label else own
            if not all(isinstance(label, str) for label in labels):
                raise missing("label")
            self.rows += [Heading(str(label), {}, series) for label in labels]
        for panel, series in itertools.product(self.columns, self.described.series):
            row = str(series.label or series.system)
            given = series.given()
            for chosen, varied in product(given) if not series.quoted else ():
                words = chosen | ({"system": None} if series.system == row else {})
                named = series.point is not None or varied
                name = self.resolver.label(series.point, words, varied) if named else ""
                for axis in axes:
                    self._mark(row, panel, chosen, axis.given(), over=axis.over, category=name)
            quoted = series.quoted or []
            if any(panel.chosen.get(key, value) != value for key, value in given.items()):
                quoted = []
            for label, axis in itertools.product(quoted, axes):
                printed = [cell for cell in self.quoted if cell.column == axis.column]
                values = {cell.row: cell for cell in reversed(printed)}
                require(label, values, "quoted row")
                here = self.levels | panel.chosen | axis.given() | {"system": None}
                where: Chosen = {"row": series.label or label, "column": panel.label}
                shown = self.number(here, **where, category=label)
                last.append(shown.with_published(values[label]))
        self.numbers += last

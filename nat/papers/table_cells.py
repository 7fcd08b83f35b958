"""The cells of tables, row by row, with their published values."""

import itertools
from collections.abc import Sequence
from typing import Any

from nat.artifacts import step_of
from nat.data.splits import sides
from nat.measures.known import DERIVED, MEASURES
from nat.papers import published
from nat.papers.cells import COMPUTED, STUDENT, TEACHER, Cell, Derivation
from nat.papers.coordinates import Chosen, Heading, Resolver, over, product
from nat.papers.description import Column, Table
from nat.papers.published import Published

TEXT = "text"
"""The only column of a table of texts."""
OPERATIONS = ("difference", "ratio", "mean", "correlation", "reaching", "short_of")


def table_cells(resolver: Resolver, number: str) -> list[Cell]:
    """Resolve the cells of a table; a table of settings has none."""
    table = resolver.paper.tables[number]
    if table.kind == "samples":
        return _samples(resolver, number, table)
    return [] if table.kind == "settings" else _Grid(resolver, number, table).cells()


def lines(resolver: Resolver, number: str) -> list[Published]:
    """The published values of a table."""
    printed = [key for key, table in resolver.paper.tables.items() if table.kind != "samples"]
    return published.of_table(resolver.configuration.root, resolver.name, printed, number)


def rows_of(resolver: Resolver, number: str) -> list[Heading]:
    """The rows of a table; those that are only quoted are `given` by nothing."""
    at, found = f"tables.{number}.rows", []
    for row in resolver.paper.tables[number].rows:
        if row.quoted is not None:
            found += [Heading(label, {"group": row.group}) for label in row.quoted]
        else:
            found += resolver.headings([row], at)
    resolver.no_repetition(at, [row.label for row in found])
    return found


def keys_of_rows(resolver: Resolver, number: str) -> dict[str, dict[str, str]]:
    """What each row of a table of texts or samples is read from, see `ResolvedTable.keys`."""
    table, at = resolver.paper.tables[number], f"tables.{number}"
    levels = table.cells.given()
    if table.kind == "texts":
        return {
            row.label: {"text": resolver.filled(row.given.key or "", {**levels, **row.chosen}, at)}
            for row in rows_of(resolver, number)
            if row.given is not None
        }
    found = {}
    for cell in table_cells(resolver, number) if table.kind == "samples" else ():
        if cell.source is not None:
            folder = step_of(cell.corpus, cell.split, "tokens").path
            languages = sides(resolver.configuration.corpus(cell.corpus))
            paths = (f"{folder}/{cell.split}.{language}" for language in languages)
            found[cell.row] = dict(zip(("source", "reference"), paths, strict=True))
    return found


def is_run(row: Heading) -> bool:
    """Tell whether a row is run, and not only quoted or computed from others."""
    return row.given is not None and row.given.derived is None


def with_quoted(rows: Sequence[Heading], printed: Sequence[Published]) -> list[Heading]:
    """Add the rows that are only quoted, each after its predecessor in the published file."""
    found, place = list(rows), 0
    for label in dict.fromkeys(line.row for line in printed):
        known = [row.label for row in found]
        if label in known:
            place = known.index(label)
        else:
            found.insert(place, Heading(label, {}))
        place += 1
    return found


class _Grid:
    """A table of rows against columns; texts are in the column `TEXT`.

    Attributes:
        at: key of the table, for messages.
        found: cells by row and column.
    """

    def __init__(self, resolver: Resolver, number: str, table: Table) -> None:
        self.resolver, self.number, self.table = resolver, number, table
        self.at = f"tables.{number}"
        self.lines = lines(resolver, number)
        columns = [Column(label=TEXT)] if table.kind == "texts" else table.columns
        self.columns = resolver.headings(columns, f"{self.at}.columns")
        own = rows_of(resolver, number)
        self.published = published.join(
            self.lines,
            {row.label: not row.given.ours_only for row in own if row.given is not None},
            {
                each.label: None if each.given.hidden else not each.given.ours_only
                for each in self.columns
            },
            f"{resolver.file}: {self.at}",
        )
        self.rows = with_quoted(own, self.lines)
        self.found: dict[tuple[str, str], list[Cell]] = {}

    def cells(self) -> list[Cell]:
        """Resolve all cells."""
        self._check_labels()
        groups = {row.label: self._group(row) for row in self.rows}
        baselines = {row.label: self._baseline(row) for row in self.rows}
        everything = list(itertools.product(self.rows, self.columns))
        for row, column in everything:
            if _derived(row) is None and _derived(column) is None:
                cells = self._cell(row, column, groups[row.label], baselines[row.label])
                self.found[row.label, column.label] = cells
        # Derived columns first: a derived row may be made of them too.
        for of_row in (False, True):
            for row, column in everything:
                if (_derived(row) is not None) == of_row and (of_row or _derived(column)):
                    cell = self._computed(row, column)._replace(group=groups[row.label])
                    self.found[row.label, column.label] = [cell]
        return [
            cell.with_published(self.published.get((row.label, column.label)))._replace(
                interval=column.given.interval, hidden=column.given.hidden
            )
            for row, column in everything
            for cell in self.found[row.label, column.label]
        ]

    def _group(self, row: Heading) -> str:
        """The group of a row: its own, its system if the steps vary, or the printed one."""
        given = row.given.group if row.given is not None else row.chosen.get("group")
        system = row.chosen.get("system")
        if given is None and "steps" in row.varied and system in self.resolver.paper.systems:
            given = str(system)
        if given is not None or self.table.kind == "texts":
            return given or ""
        printed = next((line.group for line in self.lines[::-1] if line.row == row.label), "")
        return self.table.groups.get(printed, printed)

    def _baseline(self, row: Heading) -> str:
        """The label of the row that a row is tested against; empty if there is none."""
        if not is_run(row):
            return ""
        name = row.chosen.get("system", "")
        given = row.given.baseline or self.table.baseline.get(name)
        printed = self.resolver.system(name, None)
        wanted = given or (printed.baseline if printed is not None else None)
        if wanted is None:
            return ""
        for each in self.rows:
            same = {**each.chosen, "system": name} == row.chosen
            if each.label != row.label and each.chosen.get("system") == wanted and same:
                return each.label
        labels = [each.label for each in self.rows]
        if given is not None and wanted not in labels:
            raise self.resolver.unknown(f"{self.at}.rows", "baseline", wanted, labels)
        return wanted if wanted in labels else ""

    def _check_labels(self) -> None:
        """Refuse labels that the table names and does not have."""
        rows = [row.label for row in self.rows]
        columns = [column.label for column in self.columns]
        systems = [row.chosen["system"] for row in self.rows if row.chosen.get("system")]
        groups = [line.group for line in self.lines]
        named = [("baseline", name, systems) for name in self.table.baseline]
        named += [("groups", name, groups) for name in self.table.groups]
        for footnote in self.table.footnotes:
            named += [("footnotes.row", footnote.row, rows)] if footnote.row else []
            named += [("footnotes.column", footnote.column, columns)] if footnote.column else []
        for row in self.rows:
            only = row.given.columns if row.given is not None else None
            named += [("rows.columns", label, columns) for label in only or ()]
        for key, label, known in named:
            if label not in known:
                raise self.resolver.unknown(f"{self.at}.{key}", "name", label, known)

    def _cell(self, row: Heading, column: Heading, group: str, baseline: str) -> list[Cell]:
        """What the table shows in a row and a column: measured, or only quoted."""
        resolver = self.resolver
        at = f"{self.at}: row '{row.label}', column '{column.label}'"
        blank = row.given is None or column.label not in (row.given.columns or [column.label])
        own = {} if row.given is None else row.chosen
        resolver.no_conflict(at, own, column.chosen)
        levels = {**self.table.cells.given(), **column.chosen}
        here = {**levels, **own, **({"system": None} if blank else {})}
        names = {"report": f"table {self.number}", "row": row.label, "column": column.label}
        found = resolver.numbers(here, at, **names, group=group, baseline=baseline)
        relative = MEASURES[found[0].measure].relative
        of_row = relative and row.given is not None and row.given.over is not None
        other = row.given.over if of_row else column.given.over
        if other is None and relative:
            raise resolver.missing(at, "over")
        if other is None or blank:
            return found
        other = resolver.filled(other, {**resolver.defaults, **here}, at)
        known = {each.label: each for each in self.rows if is_run(each)}
        if other not in known:
            raise resolver.unknown(at, "row that is run, in 'over':", other, known)
        same = {"measure": found[0].measure} if of_row else {}
        others = resolver.numbers({**levels, **known[other].chosen, **same}, at, **names)
        return over([each._replace(baseline="") for each in found], others)

    def _computed(self, row: Heading, column: Heading) -> Cell:
        """A cell that is computed from others."""
        of_row = _derived(row) is not None
        derived = _derived(row) or _derived(column)
        at = f"{self.at}.{'rows' if of_row else 'columns'}.derived"
        operation = next(name for name in OPERATIONS if getattr(derived, name) is not None)
        named = getattr(derived, operation)
        if derived.among is not None:
            among = [label for pair in derived.among.items() for label in pair]
            of = [(label, column.label) for label in (named, *among)]
        elif operation == "correlation":
            rows = derived.over or [each.label for each in self.rows if is_run(each)]
            of = [(label, each) for label in rows for each in (column.label, named)]
        else:
            of = [(label, column.label) if of_row else (row.label, label) for label in named]
        for operand in of:
            if operand not in self.found:
                is_row = of_row and operand[1] == column.label
                label, known = (operand[0], self.rows) if is_row else (operand[1], self.columns)
                others = [each.label for each in known if each.label != label]
                raise self.resolver.unknown(at, "earlier label", label, others)
        if derived.absolute:
            operation = f"absolute_{operation}"
        first = self.found[of[0]][0]
        like = first if derived.among is None else self.found[of[2]][0]
        return Cell(
            *(self.resolver.name, f"table {self.number}", row.label, column.label),
            measure=operation if operation in DERIVED else like.measure,
            task=first.task,
            reason=COMPUTED,
            derived=Derivation(operation, tuple(of)),
        )


def _derived(heading: Heading) -> Any:
    return getattr(heading.given, "derived", None)


def _samples(resolver: Resolver, number: str, table: Table) -> list[Cell]:
    """The cells of a table of samples: of each system, its baseline's and its own."""
    at = f"tables.{number}.rows"
    found: list[Cell] = []
    labels = []
    for row in table.rows:
        for chosen, _ in product(row.given()):
            name = chosen.get("system", "")
            printed = resolver.system(name, None)
            if printed is None or printed.baseline is None:
                raise resolver.error(at, f"'{name}' has no baseline to be compared with")
            words = chosen | {"baseline": printed.baseline}
            label = resolver.label(row.label or "{baseline}, {task}", words, (), at)
            labels.append(label)
            for side, each in ((TEACHER, printed.baseline), (STUDENT, name)):
                here: Chosen = {**table.cells.given(), **chosen, "system": each}
                names = {"report": f"table {number}", "row": label, "column": side}
                found += resolver.numbers(here, f"{at}: '{label}'", **names)
                if MEASURES[found[-1].measure].unit != "BLEU":
                    raise resolver.error(at, f"measure: '{found[-1].measure}' is not BLEU")
    resolver.no_repetition(at, labels)
    return found

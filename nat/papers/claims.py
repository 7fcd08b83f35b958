"""Claims of a paper as checks: selections of cells, and a region for what they differ by.

A claim of `config/papers/*.yaml` is one of five checks:

- `compare`: a cell against another, or against a number;
- `trend`: cells in order, each compared with the one before it: `rising`, `falling` or `flat`;
- `largest`: of several cells, the named one is the largest;
- `gains`: of what a system gains over another in several cases, the named gain is the largest;
- `correlation`: Pearson's r of two measures over systems, compared with a number.

A claim is `in` a table or figure, from which its cells take their coordinates and published values;
its own coordinates take precedence. It is judged once per case, unless it need only hold in a
majority of them; `nat.papers.judgements` judges.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import Any

from nat.artifacts import Latency
from nat.configuration import Configuration
from nat.data.references import are_complete
from nat.measures.known import AGAINST_ALL, MEASURES
from nat.papers.cells import OWN, Cell, place, with_published
from nat.papers.checks import MAJORITY, Check, Compared
from nat.papers.coordinates import Chosen, Resolver, product
from nat.papers.description import Case, Claim, Side
from nat.papers.published import is_own
from nat.papers.relation import relation
from nat.papers.verdicts import states_an_effect

CLAIMS = "claims"
"""The report that the cells of claims belong to."""
_NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?")
_STEPS = re.compile(r"(.+), ([0-9]+) steps?")
_PARTS = re.compile(r"\b(table|figure)s? (\w+)")


@cache
def checks(configuration: Configuration, paper: str) -> tuple[Check, ...]:
    """Resolve every judgement of a paper's claims.

    Raises:
        UserError: for a cell that does not exist; names the file and the claim.
    """
    resolver = Resolver(configuration, paper)
    sources: dict[str, _Source] = {}
    resolved: list[Check] = []
    for name, claim in resolver.paper.claims.items():
        judged = list(_Claim(resolver, name, claim, sources).checks())
        if claim.majority:
            sides = tuple(side for each in judged for side in each.sides)
            judged = [replace(judged[0], case="", kind=MAJORITY, sides=sides)]
        resolved += judged
    return tuple(
        replace(each, against_all=_decided_against_all(configuration, each)) for each in resolved
    )


def _decided_against_all(configuration: Configuration, check: Check) -> bool:
    """Tell whether BLEU against all references decides a check, see `Check.against_all`."""
    cells = [cell for side in check.sides for cell in side.own]
    return (
        check.kind != "correlation"
        and check.number is None
        and not states_an_effect(check.relations, check.margin)
        and all(cell.source is not None and cell.measure in AGAINST_ALL for cell in cells)
        and all(are_complete(configuration.corpus(cell.corpus), cell.split) for cell in cells)
    )


class _Source:
    """A table or figure that claims refer to.

    Attributes:
        cells: its own coordinates.
        named: coordinates of its rows, series and points, by label.
        points: labels of its points or rows, in order.
        tasks: of its columns or panels, in order.
    """

    def __init__(self, resolver: Resolver, name: str, at: str) -> None:
        parts = relation(resolver.configuration, resolver.name)
        if name not in parts:
            raise resolver.unknown(at, "table or figure in 'in':", name, parts)
        self.name, part = name, parts[name]
        self.shown = part.cells
        own = [cell for cell in self.shown if cell.role == OWN]
        self.cells = dict(part.levels)
        measures = {cell.measure for cell in own if cell.derived is None}
        if "measure" not in resolver.defaults and len(measures) == 1:  # no other could be meant
            self.cells.setdefault("measure", *measures)
        self.tasks = list(dict.fromkeys(cell.task for cell in own))
        self.named, self.points = part.named, part.points
        # what is shown over others is a difference, not the number of its address
        overs = {place(cell) for cell in self.shown if cell.role != OWN}
        printed = [e for e in own if place(e) not in overs or MEASURES[e.measure].relative]
        for each in part.described.quotes:
            quoted = (cell for cell in parts[f"table {each}"].cells if cell.role == OWN)
            printed += [cell for cell in quoted if is_own(cell.origin) and cell.system]
        self._printed = {self._key(e, e.row): e for e in reversed(printed) if e.printed}

    @staticmethod
    def _key(cell: Cell, called: str) -> tuple[str, ...]:
        return cell.address if cell.system else (called, cell.task, cell.measure)

    def published(self, cell: Cell, called: str) -> Cell:
        """A cell with the value that the paper prints for it here."""
        return with_published(cell, self._printed.get(self._key(cell, called)))


class _Claim:
    """Resolves the cases and sides of one claim."""

    def __init__(
        self, resolver: Resolver, name: str, claim: Claim, sources: dict[str, _Source]
    ) -> None:
        self.resolver, self.name, self.claim, self.sources = resolver, name, claim, sources
        self.at = f"claims.{name}"
        self.place = claim.source
        if "source" not in claim.model_fields_set:
            parts = (f"{kind} {number}" for kind, number in _PARTS.findall(claim.origin))
            self.place = next((each for each in parts if each in resolver.paper.parts), None)

    def checks(self) -> Iterator[Check]:
        """Resolve the judgement of each case."""
        for case in self.claim.each or [Case()]:
            both = self.claim.given() | case.given()
            source = self._source(case)
            if "task" not in both and source is not None:
                both["task"] = source.tasks[0] if len(source.tasks) == 1 else source.tasks
            for chosen, varied in product(both):
                parts = [case.label] if case.label else []
                if self.claim.label or varied:
                    parts.append(self.resolver.label(self.claim.label, chosen, varied, self.at))
                yield self._check(case, ", ".join(parts), chosen)

    def _source(self, *given: Case | Side) -> _Source | None:
        name = next((each.source for each in given if each.source), self.place)
        if name is None:
            return None
        if name not in self.sources:
            self.sources[name] = _Source(self.resolver, name, self.at)
        return self.sources[name]

    def _check(self, case: Case, label: str, chosen: Chosen) -> Check:
        claim, kind = self.claim, self.claim.choice
        number, margin = None, str(claim.margin)
        if kind == "compare":
            left, relation, right, margin = claim.comparison
            sides = [self._side(left, case, chosen)]
            other = self._bound(right, case)
            if isinstance(other, int | float) or _NUMBER.fullmatch(right):
                number = float(right if isinstance(other, str | Side) else other)
            else:
                sides.append(self._side(right, case, chosen))
        else:
            several = {"gains": self._gains, "correlation": self._correlation}
            options = getattr(claim, kind)
            relation = options.relation
            sides = list(several.get(kind, self._several)(options, case, chosen))
        size = float(margin.rstrip("%"))
        labels = [side.label for side in sides[:: 2 if kind == "gains" else 1]]
        unknown = kind in ("largest", "gains") and relation not in labels
        if unknown or (kind in ("trend", "largest", "gains") and len(labels) < 2):
            raise self.resolver.unknown(f"{self.at}.{kind}", "label", relation, labels)
        counted = all(MEASURES[side.first.measure].counted for side in sides)
        if relation in ("about", "flat") and not counted and size <= 0:
            text = "no interval lies within no margin; give one, as ± 1"
            raise self.resolver.error(self.at, text)
        return Check(
            claim=self.name,
            case=label,
            text=claim.claim,
            source=claim.origin,
            kind=kind,
            relation=relation,
            margin=size / 100 if margin.endswith("%") else size,
            share=margin.endswith("%"),
            sides=tuple(sides),
            number=number,
        )

    def _several(self, options: Any, case: Case, chosen: Chosen) -> Iterator[Compared]:
        """The sides of a trend, or of which one is the largest."""
        source = self._source(case)
        for item in options.of or (source.points if source is not None else []):
            if isinstance(item, str):
                yield self._side(item, case, chosen)
                continue
            for own, varied in product(item.given()):
                label = self.resolver.label(item.label, own, varied, self.at)
                called = None if own.get("system") else label
                yield self._cells(own, label, called, source, chosen)

    def _gains(self, options: Any, case: Case, chosen: Chosen) -> Iterator[Compared]:
        """By turns those of a system and of the other system."""
        for item in options.of:
            where = {**case.where, **item.where}
            inner = Case(source=item.source or case.source, where=where)
            for own, varied in product(item.given()):
                label = ""
                if item.label or varied:
                    label = self.resolver.label(item.label, own, varied, self.at)
                for name in (options.system, options.over):
                    yield self._side(name, inner, chosen | own, label)

    def _correlation(self, options: Any, case: Case, chosen: Chosen) -> Iterator[Compared]:
        """By turns those of one measure and of the other."""
        for name in options.over:
            for measured in (options.of, options.other):
                yield self._side(name, case, chosen | measured.given(), name)

    def _bound(self, name: str, case: Case) -> str | float | Side:
        """Look a name up in the case, the claim and the paper, in this order."""
        everywhere = self.resolver.paper.where
        return case.where.get(name, self.claim.where.get(name, everywhere.get(name, name)))

    def _side(self, name: str, case: Case, chosen: Chosen, label: str | None = None) -> Compared:
        """The cells that a name refers to in a case."""
        resolver, bound = self.resolver, self._bound(name, case)
        if isinstance(bound, int | float):
            raise resolver.error(self.at, f"'{name}' is a number, expected a row or a system")
        side = Side(of=bound) if isinstance(bound, str) else bound
        words, own = resolver.defaults | chosen, side.given()
        if isinstance(side.system, str) and "system" in chosen:
            own["system"] = side.system.replace("{system}", chosen["system"])
        called = None if side.system else name
        if side.of is not None:
            called = resolver.filled(side.of, words, self.at)
        if label is None:
            label = resolver.filled(name, words, self.at)
        return self._cells(own, label, called, self._source(side, case), chosen)

    def _cells(
        self, own: Chosen, label: str, called: str | None, source: _Source | None, chosen: Chosen
    ) -> Compared:
        """The cells of a side, by the coordinates that it gives and the row that it is called."""
        resolver, at = self.resolver, f"{self.at}: '{label}'"
        # The system of a case is only for templates; the name of a side determines its system.
        chosen = {key: value for key, value in chosen.items() if key != "system"}
        row = self._row(called, source, chosen | own) if called is not None else {}
        base = {"system": resolver.defaults.get("system")} | (source.cells if source else {})
        labels = {"report": CLAIMS, "row": label, "column": self.name}
        cells = resolver.numbers({**base, **row, **chosen, **own}, at, **labels)
        over: list[Cell] = []
        if MEASURES[cells[0].measure].relative:  # in the same setting
            name = self.claim.over
            if name is None:
                raise resolver.missing(self.at, "over")
            known = {} if source is None else source.named
            same: Chosen = {key: own[key] for key in ("measure", "task", "setting") if key in own}
            row = known.get(name, {"system": name})
            there = {**base, **chosen, **row, **same}
            over = resolver.numbers(there, f"{self.at}: '{name}'", **(labels | {"row": name}))
        cells, over = ([self._timed(source, cell) for cell in each] for each in (cells, over))
        if source is not None:
            cells = [source.published(cell, str(called)) for cell in cells]
        return Compared(tuple(cells), tuple(over))

    def _row(self, called: str, source: _Source | None, asked: Chosen) -> Chosen:
        """Coordinates of a row, series or point of the source, or of a system."""
        resolver, known = self.resolver, {} if source is None else source.named
        if called in known:
            row = known[called]
            for key, value in asked.items():
                if row.get(key, value) != value:
                    others = [label for label, own in known.items() if own.get(key) == value]
                    at = f"{self.at}: '{called}' has the {key} {row[key]}, not {value}"
                    raise resolver.unknown(at, "row", called, others or known)
            return row
        if called in resolver.paper.systems or called in resolver.configuration.systems:
            return {"system": called}
        if steps := _STEPS.fullmatch(called):
            return {**self._row(steps[1], source, asked), "steps": int(steps[2])}
        raise resolver.unknown(self.at, "name", called, [*known, *resolver.paper.systems])

    def _timed(self, source: _Source | None, cell: Cell) -> Cell:
        """A latency as it was measured among those of the table or figure of the claim."""
        if not isinstance(cell.source, Latency):
            return cell
        place = cell.corpus, cell.seed, cell.setting
        for each in source.shown if source is not None else []:
            same = (each.corpus, each.seed, each.setting) == place
            if same and isinstance(each.source, Latency) and cell.part in each.source.names:
                return cell._replace(source=each.source)
        where = "no table or figure (key 'in')" if source is None else source.name
        text = f"{where} shows no latency of {cell.part} in the setting '{cell.setting}'"
        raise self.resolver.error(f"{self.at}: '{cell.row}'", text)

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
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

from nat.artifacts import Latency
from nat.configuration import Configuration
from nat.data.references import are_complete
from nat.measures.known import AGAINST_ALL, LATENCY, MEASURES, SPEED_UP
from nat.papers.cells import OWN, QUOTED, Cell, place, with_published
from nat.papers.checks import MAJORITY, Check, Compared
from nat.papers.coordinates import Chosen, Resolver, product
from nat.papers.description import Case, Claim, Coordinates, Side
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
    found: list[Check] = []
    for name, claim in resolver.paper.claims.items():
        at = f"claims.{name}"
        judged = list(_Claim(resolver, name, claim, sources).checks())
        if not judged:
            raise resolver.missing(at, "task")
        resolver.no_repetition(at, [each.case for each in judged if each.case])
        compared = [(each.sides, each.number) for each in judged]
        if any(each in compared[:number] for number, each in enumerate(compared)):
            raise resolver.error(at, "two cases compare the same; remove one")
        if claim.majority:
            sides = tuple(side for each in judged for side in each.sides)
            judged = [replace(judged[0], case="", kind=MAJORITY, sides=sides)]
        found += judged
    return tuple(
        replace(each, against_all=_decided_against_all(configuration, each)) for each in found
    )


def _decided_against_all(configuration: Configuration, check: Check) -> bool:
    """Whether BLEU against all references decides a check, see `Check.against_all`."""
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
        derived: labels of derived rows, which claims cannot name.
    """

    def __init__(self, resolver: Resolver, name: str, at: str) -> None:
        configuration = resolver.configuration
        parts = relation(configuration, resolver.name)
        if name not in parts or parts[name].described.kind == "settings":
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
        self.derived = {cell.row for cell in own if cell.derived is not None}
        self.derived -= {cell.row for cell in own if cell.derived is None}
        # what is shown over others is a difference, not the number of its address
        overs = {place(cell) for cell in self.shown if cell.role != OWN}
        printed = [e for e in own if place(e) not in overs or MEASURES[e.measure].relative]
        for each in part.described.quotes:
            quoted = parts[f"table {each}"].cells
            printed += [cell for cell in quoted if is_own(cell.origin) and cell.role == OWN]
        self._values = {c.address: c for c in reversed(printed) if c.system and c.printed}
        self._quoted = {
            (cell.row, cell.task, cell.measure): cell
            for cell in own
            if not cell.system and cell.printed
        }

    def published(self, cells: Sequence[Cell], called: str | None) -> list[Cell]:
        """Cells with the values that the paper prints for them here."""
        first = cells[0]
        value = self._values.get(first.address) if first.system else None
        if not first.system:
            value = self._quoted.get((str(called), first.task, first.measure))
        return [with_published(each, value) for each in cells]

    def shows(self, cell: Cell) -> bool:
        """Whether it shows a system on a task, decoded like this where both say how."""
        return any(
            (cell.system, cell.task) == (each.system, each.task)
            and (not cell.decoding or not each.decoding or cell.decoding == each.decoding)
            for each in self.shown
        )

    def timed(self, cell: Cell) -> Cell | None:
        """A latency as it was measured among those that are shown here; None without one."""
        for each in self.shown:
            source = each.source
            same = (each.corpus, each.seed, each.setting) == (cell.corpus, cell.seed, cell.setting)
            if same and isinstance(source, Latency) and cell.part in source.names:
                return cell._replace(source=source)
        return None


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
        """The judgement of each case."""
        for case in self.claim.each or [Case()]:
            for label, chosen in self._cases(case):
                yield self._check(case, label, chosen)

    def _cases(self, case: Case) -> Iterator[tuple[str, Chosen]]:
        """The cases of an item of `each`: label and coordinates."""
        both = self.claim.given() | case.given()
        source = self._source(case)
        if "task" not in both and source is not None:
            both["task"] = source.tasks[0] if len(source.tasks) == 1 else source.tasks
        for chosen, varied in product(both):
            parts = [case.label] if case.label else []
            if self.claim.label or varied:
                parts.append(self.resolver.label(self.claim.label, chosen, varied, self.at))
            yield ", ".join(parts), chosen

    def _source(self, *given: Case | Side) -> _Source | None:
        name = next((each.source for each in given if each.source), self.place)
        if name is None:
            return None
        if name not in self.sources:
            self.sources[name] = _Source(self.resolver, name, self.at)
        return self.sources[name]

    def _check(self, case: Case, label: str, chosen: Chosen) -> Check:
        claim, kind = self.claim, self.claim.check
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
            options = getattr(claim, kind)
            relation = options.relation
            sides = list(self._several(kind, options, case, chosen))
        size = float(margin.rstrip("%"))
        self._check_sides(kind, relation, sides, size)
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

    def _check_sides(
        self, kind: str, relation: str, sides: Sequence[Compared], margin: float
    ) -> None:
        """Refuse a side that has no run of ours but would need one, and senseless comparisons."""
        left = {
            "compare": sides[:1],
            "gains": sides[::2],
            "trend": sides[1:],
            "largest": [side for side in sides if side.label == relation],
        }
        for side in left.get(kind, sides):
            if side.first.reason == QUOTED:
                raise self.resolver.error(self.at, f"'{side.label}' is not run here, only quoted")
        pairs = zip(sides[::2], sides[1::2], strict=False)
        for one, other in pairs if kind in ("compare", "correlation") else ():
            over = [[cell.address for cell in side.over] for side in (one, other)]
            same = one.first.address == other.first.address and over[0] == over[1]
            if one.first.system and same:
                text = f"'{one.label}' and '{other.label}' are the same number"
                raise self.resolver.error(self.at, text)
        labels = [side.label for side in sides[:: 2 if kind == "gains" else 1]]
        if kind in ("trend", "largest", "gains"):
            self.resolver.no_repetition(f"{self.at}.{kind}.of", labels)
            if len(labels) < 2 or (kind != "trend" and relation not in labels):
                raise self.resolver.unknown(f"{self.at}.{kind}", "label", relation, labels)
        counted = all(MEASURES[side.first.measure].counted for side in sides)
        if relation in ("about", "flat") and not counted and margin <= 0:
            raise self.resolver.error(
                self.at, "no interval lies within no margin; give one, as ± 1"
            )

    def _bound(self, name: str, case: Case) -> str | float | Side:
        """What a name stands for: in the case, the claim or the paper, in this order."""
        everywhere = self.resolver.paper.where
        return case.where.get(name, self.claim.where.get(name, everywhere.get(name, name)))

    def _side(self, name: str, case: Case, chosen: Chosen, label: str | None = None) -> Compared:
        """The cells that a name refers to in a case."""
        resolver, bound = self.resolver, self._bound(name, case)
        if isinstance(bound, int | float):
            raise resolver.error(self.at, f"'{name}' is a number, expected a row or a system")
        side = Side(of=bound) if isinstance(bound, str) else bound
        words = resolver.defaults | chosen
        called = resolver.filled(name, words, self.at)
        if side.of is not None:
            side = side.model_copy(update={"of": resolver.filled(side.of, words, self.at)})
        if isinstance(side.system, str) and "{system}" in side.system and "system" in chosen:
            own = side.system.replace("{system}", chosen["system"])
            side = side.model_copy(update={"system": own})
        return self._cells(side, called if label is None else label, name, case, chosen)

    def _cells(self, side: Side, label: str, name: str, case: Case, chosen: Chosen) -> Compared:
        resolver, source, own = self.resolver, self._source(side, case), side.given()
        # The system of a case is only for templates; the name of a side determines its system.
        chosen = {key: value for key, value in chosen.items() if key != "system"}
        called = side.of or (None if side.system else name)
        row = self._row(called, source, chosen | own) if called is not None else {}
        cells = source.cells if source is not None else {}
        base = {"system": resolver.defaults.get("system")}
        labels = {"report": CLAIMS, "row": label, "column": self.name}
        at = f"{self.at}: '{label}'"
        found = resolver.numbers({**base, **cells, **row, **chosen, **own}, at, **labels)
        measure = MEASURES[found[0].measure]
        over: list[Cell] = []
        if found[0].measure == SPEED_UP:
            over = self._over(source, {**base, **cells, **chosen}, own, labels)
        elif measure.relative:
            raise resolver.error(at, "is relative to another system; compare 'parameters'")
        if found[0].source is not None and measure.source == LATENCY:
            found, over = self._timed(source, found), self._timed(source, over)
        if source is not None:
            if found[0].system and not source.shows(found[0]):
                raise resolver.error(at, f"{source.name} does not show it")
            found = source.published(found, called)
        return Compared(tuple(found), tuple(over))

    def _row(self, called: str, source: _Source | None, asked: Chosen) -> Chosen:
        """Coordinates of a row, series or point of the source, or of a system."""
        known = {} if source is None else source.named
        if source is not None and called in source.derived:
            raise self.resolver.error(self.at, f"'{called}' is derived; name what it is made of")
        if called in known:
            row = known[called]
            for key, value in asked.items():
                if row.get(key, value) != value:
                    others = [label for label, own in known.items() if own.get(key) == value]
                    at = f"{self.at}: '{called}' has the {key} {row[key]}, not {value}"
                    raise self.resolver.unknown(at, "row", called, others or known)
            return row
        if called in self.resolver.paper.systems or called in self.resolver.configuration.systems:
            return {"system": called}
        if steps := _STEPS.fullmatch(called):
            return {**self._row(steps[1], source, asked), "steps": int(steps[2])}
        raise self.resolver.unknown(self.at, "name", called, [*known, *self.resolver.paper.systems])

    def _over(
        self, source: _Source | None, chosen: Chosen, own: Chosen, labels: dict[str, str]
    ) -> list[Cell]:
        """The cells that a speed-up is over, in the same setting."""
        name = self.claim.over
        if name is None:
            raise self.resolver.missing(self.at, "over")
        row = source.named.get(name) if source is not None else None
        same: Chosen = {key: own[key] for key in ("measure", "task", "setting") if key in own}
        here = {**chosen, **({"system": name} if row is None else row), **same}
        found = self.resolver.numbers(here, f"{self.at}: '{name}'", **{**labels, "row": name})
        if found[0].reason == QUOTED:
            raise self.resolver.error(f"{self.at}.over", f"'{name}' is not run here, only quoted")
        return [cell for cell in found if cell.source is not None]

    def _timed(self, source: _Source | None, cells: Sequence[Cell]) -> list[Cell]:
        """Latencies as they were measured among those of the table or figure of the claim."""
        found = []
        for cell in cells:
            timed = source.timed(cell) if source is not None else None
            if timed is None:
                where = "no table or figure (key 'in')" if source is None else source.name
                text = f"{where} shows no latency of {cell.part} in the setting '{cell.setting}'"
                raise self.resolver.error(f"{self.at}: '{cell.row}'", text)
            found.append(timed)
        return found

    def _several(self, kind: str, options: Any, case: Case, chosen: Chosen) -> Iterator[Compared]:
        """The sides of a check of several, in order."""
        if kind == "gains":
            yield from self._gains(options, case, chosen)
        elif kind == "correlation":
            self.resolver.no_repetition(f"{self.at}.correlation.over", options.over)
            for name in options.over:
                for measured in (options.of, options.other):
                    side = self._measured(name, case, measured)
                    yield self._cells(side, name, name, case, chosen)
        else:
            source = self._source(case)
            for item in options.of or (source.points if source is not None else []):
                if isinstance(item, str):
                    yield self._side(item, case, chosen)
                    continue
                for own, varied in product(item.given()):
                    label = self.resolver.label(item.label, own, varied, self.at)
                    yield self._cells(_side_of(own), label, label, case, chosen)

    def _measured(self, name: str, case: Case, measured: Coordinates) -> Side:
        bound = self._bound(name, case)
        side = bound if isinstance(bound, Side) else Side(of=str(bound))
        return _side_of(side.given() | measured.given(), of=side.of, source=side.source)

    def _gains(self, options: Any, case: Case, chosen: Chosen) -> Iterator[Compared]:
        for item in options.of:
            where = {**case.where, **item.where}
            inner = Case(source=item.source or case.source, where=where)
            for own, varied in product(item.given()):
                label = ""
                if item.label or varied:
                    label = self.resolver.label(item.label, own, varied, self.at)
                for name in (options.system, options.over):
                    yield self._side(name, inner, chosen | own, label)


def _side_of(chosen: Chosen, **others: Any) -> Side:
    known = {key: value for key, value in chosen.items() if key in Side.model_fields}
    rest = {key: value for key, value in chosen.items() if key not in known}
    return Side(**known, variables=rest, **others)

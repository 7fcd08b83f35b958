"""Claims of a paper as checks: selections of cells, and a region for what they differ by.

A claim of `config/papers/*.yaml` is one of five checks:

- `compare`: a cell against another, or against a number: `above` (left - right > margin),
  `below` (< -margin), `not_above` (<= margin), `not_below` (>= -margin), `about` (at most the
  margin apart);
- `trend`: cells in order, each compared with the one before it: `rising`, `falling` or `flat`;
- `largest`: of several cells, the named one is the largest;
- `gains`: of what a system gains over another in several cases, the named gain is the largest;
- `correlation`: Pearson's r of two measures over systems, compared with a number.

A claim is `in` a table or figure, from which its cells take their coordinates and published values;
its own coordinates take precedence. It is judged once per case, unless it need only hold in a
majority of them; `nat.papers.judgements` judges.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise
from typing import Any, NamedTuple

from nat.artifacts import Latency, Score
from nat.configuration import Configuration, fingerprint
from nat.data.references import are_complete
from nat.errors import UserError
from nat.measures.correlation import pearson
from nat.measures.known import AGAINST_ALL, LATENCY, MEASURES, SPEED_UP
from nat.papers.description import Bound, Case, Claim, Coordinates, Side
from nat.papers.differences import can_be_resampled
from nat.papers.relation import (
    QUOTED,
    Cell,
    Chosen,
    Relation,
    no_repetition,
    product,
    report,
    with_like_published,
)
from nat.papers.verdicts import states_an_effect
from nat.spelling import hint

CLAIMS = "claims"
"""The report that the cells of claims belong to."""
MAJORITY = "majority"
TREND = {"rising": "above", "falling": "below", "flat": "about"}


class Compared(NamedTuple):
    """Cells of one mean that a claim compares, and those that they are shown over."""

    own: tuple[Cell, ...]
    over: tuple[Cell, ...] = ()

    @property
    def first(self) -> Cell:
        """The first of them, which all share their address with."""
        return self.own[0]

    @property
    def label(self) -> str:
        """What the claim calls them."""
        return self.first.row


@dataclass(frozen=True)
class Check:
    """One judgement: a claim, the case it is judged on, and what it compares, in order.

    The sides of `gains` are by turns those of a system and of the other system, the sides of
    `correlation` by turns those of one measure and of the other, and the sides of a `majority` by
    turns the left and the right one of each case.

    Attributes:
        share: whether the margin is a share of the right side.
        number: that the only side is compared with; None where sides are compared.
    """

    claim: str
    case: str
    text: str
    source: str
    kind: str
    relation: str
    margin: float
    sides: tuple[Compared, ...]
    share: bool = False
    number: float | None = None

    @property
    def relations(self) -> str:
        """How each difference of the check compares with its margin."""
        if self.kind in ("largest", "gains"):
            return "above"
        return TREND.get(self.relation, self.relation)

    @property
    def cells(self) -> list[Cell]:
        """All cells that it compares."""
        return [cell for side in self.sides for cell in (*side.own, *side.over)]


@cache
def checks(configuration: Configuration, paper: str) -> tuple[Check, ...]:
    """Resolve every judgement of a paper's claims.

    Raises:
        UserError: for a cell that does not exist; names the file and the claim.
    """
    relation = Relation(configuration, paper)
    sources: dict[str, _Source] = {}
    found: list[Check] = []
    for name, claim in relation.paper.claims.items():
        resolver = _Claim(relation, name, claim, sources)
        judged = list(resolver.checks())
        if not judged:
            raise UserError(f"{resolver.file}: there is no case to judge; give it a task")
        no_repetition([each.case for each in judged if each.case], f"{resolver.file}: its cases")
        compared = [(each.sides, each.number) for each in judged]
        for at, each in enumerate(compared):
            if each in compared[:at]:
                raise UserError(
                    f"{resolver.file}: '{judged[at].case}' is compared twice; remove it"
                )
        if claim.majority:
            sides = tuple(side for each in judged for side in each.sides)
            judged = [replace(judged[0], case="", kind=MAJORITY, sides=sides)]
        found += judged
    return tuple(found)


class _Source:
    """A table or figure that claims refer to.

    Attributes:
        cells: its own coordinates.
        named: coordinates of its rows, series and points, by label.
        points: labels of its points or rows, in order.
        tasks: of its columns or panels, in order.
    """

    def __init__(self, relation: Relation, name: str, where: str) -> None:
        part = relation.paper.part(name)
        if part is None or getattr(part, "kind", "") == "settings":
            known = [f"table {each}" for each in relation.paper.tables]
            known += [f"figure {each}" for each in relation.paper.figures]
            raise UserError(f"{where}: key 'in': '{name}' shows no numbers; {hint(name, known)}")
        self.name = name
        self.shown = report(relation.configuration, relation.name, name)
        self.cells = part.cells.given()
        own = [cell for cell in self.shown if cell.role == "own"]
        measures = {cell.measure for cell in own if cell.derived is None}
        if "measure" not in relation.defaults and len(measures) == 1:  # no other could be meant
            self.cells.setdefault("measure", *measures)
        self.tasks = list(dict.fromkeys(cell.task for cell in own))
        self.named, self.points = relation.named(name)
        derived = {cell.row for cell in own if cell.derived is not None}
        self.derived = derived - {cell.row for cell in own if cell.derived is None}
        quotes = [str(each) for each in getattr(part, "quotes", [])]
        overs = {cell.where for cell in self.shown if cell.role != "own"}
        self._values = {
            cell.address: cell
            for cell in reversed(own)
            if cell.system and cell.printed
            if cell.where not in overs or MEASURES[cell.measure].relative
        }
        self._values = relation.values(quotes) | self._values
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
        return [each if value is None else with_like_published(each, value) for each in cells]

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
                return cell._replace(source=source, path=source.path)
        return None


class _Claim:
    """Resolves the cases and sides of one claim.

    Attributes:
        at: key of the claim, for messages.
        file: file and key.
    """

    def __init__(
        self, relation: Relation, name: str, claim: Claim, sources: dict[str, _Source]
    ) -> None:
        self.relation, self.name, self.claim, self.sources = relation, name, claim, sources
        self.at = f"claims.{name}"
        self.file = f"{relation.file}: {self.at}"

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
                parts.append(self.relation.label(self.claim.label, chosen, varied, self.at))
            yield ", ".join(parts), chosen

    def _source(self, *given: Case | Side) -> _Source | None:
        name = next((each.source for each in given if each.source), self.claim.source)
        if name is None:
            return None
        if name not in self.sources:
            self.sources[name] = _Source(self.relation, name, self.file)
        return self.sources[name]

    def _check(self, case: Case, label: str, chosen: Chosen) -> Check:
        claim, kind = self.claim, self.claim.check
        number: float | None = None
        if kind == "compare":
            assert claim.compare is not None
            left, relation, right = claim.compare
            sides = [self._side(left, case, chosen)]
            other = self._bound(right, case)
            if isinstance(other, int | float):
                number = float(other)
            else:
                sides.append(self._side(right, case, chosen))
        else:
            options = getattr(claim, kind)
            relation = options.relation
            sides = list(self._several(kind, options, case, chosen))
        self._check_sides(kind, relation, sides)
        margin = claim.margin
        return Check(
            claim=self.name,
            case=label,
            text=claim.claim,
            source=claim.origin,
            kind=kind,
            relation=relation,
            margin=float(margin.rstrip("%")) / 100 if isinstance(margin, str) else float(margin),
            share=isinstance(margin, str),
            sides=tuple(sides),
            number=number,
        )

    def _check_sides(self, kind: str, relation: str, sides: Sequence[Compared]) -> None:
        """Refuse a side that has no run of ours but would need one, and senseless comparisons."""
        left = {
            "compare": sides[:1],
            "gains": sides[::2],
            "trend": sides[1:],
            "largest": [side for side in sides if side.label == relation],
        }
        for side in left.get(kind, sides):
            if side.first.reason == QUOTED:
                raise UserError(f"{self.file}: '{side.label}' is not run here, so not judged")
        pairs = zip(sides[::2], sides[1::2], strict=False)
        for one, other in pairs if kind in ("compare", "correlation") else ():
            over = [[cell.address for cell in side.over] for side in (one, other)]
            same = one.first.address == other.first.address and over[0] == over[1]
            if one.first.system and same:
                raise UserError(
                    f"{self.file}: '{one.label}' and '{other.label}' are the same number"
                )
        labels = [side.label for side in sides[:: 2 if kind == "gains" else 1]]
        if kind in ("trend", "largest", "gains"):
            no_repetition(labels, f"{self.file}: key '{kind}.of'")
            if len(labels) < 2 or (kind != "trend" and relation not in labels):
                raise UserError(f"{self.file}: '{relation}': {hint(relation, labels)}")
        margin, counted = (
            str(self.claim.margin),
            all(MEASURES[side.first.measure].counted for side in sides),
        )
        if relation in ("about", "flat") and not counted and float(margin.rstrip("%")) <= 0:
            raise UserError(
                f"{self.file}: key 'margin': no interval lies within a margin of {margin}; say how "
                "far apart the cells may be"
            )
        if margin.endswith("%") and kind in ("gains", "correlation"):
            raise UserError(
                f"{self.file}: key 'margin': '{kind}' has no percentage of a right side"
            )

    def _bound(self, name: str | float, case: Case) -> Bound:
        """What a name stands for: in the case, the claim or the paper, in this order."""
        if not isinstance(name, str):
            return name
        everywhere = self.relation.paper.where
        return case.where.get(name, self.claim.where.get(name, everywhere.get(name, name)))

    def _side(
        self, name: str | float, case: Case, chosen: Chosen, label: str | None = None
    ) -> Compared:
        """The cells that a name refers to in a case."""
        bound = self._bound(name, case)
        if isinstance(bound, int | float):
            raise UserError(f"{self.file}: '{name}' is a number, expected a row or a system")
        side = Side(of=bound) if isinstance(bound, str) else bound
        words = self.relation.defaults | chosen
        called = self.relation.filled(str(name), words, self.at)
        if side.of is not None:
            side = side.model_copy(update={"of": self.relation.filled(side.of, words, self.at)})
        if isinstance(side.system, str) and "{system}" in side.system and "system" in chosen:
            own = self.relation.filled("{system}", chosen, self.at)
            side = side.model_copy(update={"system": side.system.replace("{system}", own)})
        return self._cells(side, called if label is None else label, str(name), case, chosen)

    def _cells(self, side: Side, label: str, name: str, case: Case, chosen: Chosen) -> Compared:
        relation, source, own = self.relation, self._source(side, case), side.given()
        # The system of a case is only for templates; the name of a side determines its system.
        chosen = {key: value for key, value in chosen.items() if key != "system"}
        called = side.of or (None if side.system else name)
        named = self._named(called, source, chosen | own) if called is not None else {}
        cells = source.cells if source is not None else {}
        base = {"system": relation.defaults.get("system")}
        labels = {"report": CLAIMS, "row": label, "column": self.name}
        where = f"{self.at}: '{label}'"
        found = relation.numbers({**base, **cells, **named, **chosen, **own}, where, **labels)
        measure = MEASURES[found[0].measure]
        if measure.relative and found[0].measure != SPEED_UP:
            raise UserError(f"{self.file}: '{found[0].measure}' is relative; compare 'parameters'")
        over: list[Cell] = []
        if found[0].measure == SPEED_UP:
            over = self._over(source, {**base, **cells, **chosen}, own, labels)
        if found[0].source is not None and measure.source == LATENCY:
            found, over = self._timed(source, found), self._timed(source, over)
        if source is not None:
            if found[0].system and not source.shows(found[0]):
                raise UserError(f"{self.file}: {source.name} does not show '{label}'")
            found = source.published(found, called)
        return Compared(tuple(found), tuple(over))

    def _named(self, called: str, source: _Source | None, asked: Chosen) -> Chosen:
        """Coordinates of a row, series or point of the source, or of a system of the paper."""
        if source is not None and called in source.derived:
            raise UserError(f"{self.file}: '{called}' is derived; name what it is computed from")
        if source is None or called not in source.named:
            if called in self.relation.paper.systems:
                return {"system": called}
            known = [*(source.named if source else []), *self.relation.paper.systems]
            raise UserError(f"{self.file}: unknown '{called}'; {hint(called, known)}")
        row = source.named[called]
        for key, value in asked.items():
            if row.get(key, value) != value:
                others = [label for label, own in source.named.items() if own.get(key) == value]
                raise UserError(
                    f"{self.file}: '{called}' of {source.name} has the {key} {row[key]}, not "
                    f"{value} as the claim says; {hint(called, others or source.named)}"
                )
        return row

    def _over(
        self, source: _Source | None, chosen: Chosen, own: Chosen, labels: dict[str, str]
    ) -> list[Cell]:
        """The cells that a speed-up is over, in the same setting."""
        name = self.claim.over
        if name is None:
            raise UserError(f"{self.file}: missing key 'over', which '{SPEED_UP}' needs")
        named = source.named.get(name) if source is not None else None
        same: Chosen = {key: own[key] for key in ("measure", "task", "setting") if key in own}
        here = {**chosen, **({"system": name} if named is None else named), **same}
        found = self.relation.numbers(here, f"{self.at}: '{name}'", **{**labels, "row": name})
        if found[0].reason == QUOTED:
            raise UserError(f"{self.file}: key 'over': '{name}' is not run here")
        return [cell for cell in found if cell.source is not None]

    def _timed(self, source: _Source | None, cells: Sequence[Cell]) -> list[Cell]:
        """Latencies as they were measured among those of the table or figure of the claim."""
        if source is None:
            raise UserError(f"{self.file}: missing key 'in', of which a latency is one")
        found = []
        for cell in cells:
            timed = source.timed(cell)
            if timed is None:
                raise UserError(
                    f"{self.file}: '{cell.row}': {source.name} shows no latency of {cell.part} in "
                    f"the setting '{cell.setting}'"
                )
            found.append(timed)
        return found

    def _several(self, kind: str, options: Any, case: Case, chosen: Chosen) -> Iterator[Compared]:
        """The sides of a check of several, in order."""
        if kind == "gains":
            yield from self._gains(options, case, chosen)
        elif kind == "correlation":
            no_repetition(options.over, f"{self.file}: key 'correlation.over'")
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
                    label = self.relation.label(item.label, own, varied, self.at)
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
                    label = self.relation.label(item.label, own, varied, self.at)
                for name in (options.system, options.over):
                    yield self._side(name, inner, chosen | own, label)


def _side_of(chosen: Chosen, **others: Any) -> Side:
    known = {key: value for key, value in chosen.items() if key in Side.model_fields}
    rest = {key: value for key, value in chosen.items() if key not in known}
    return Side(**known, variables=rest, **others)


# What follows from a check without results


def decisive(configuration: Configuration, check: Check) -> Check:
    """The same judgement by the measure that decides it, which is fixed before there are results.

    BLEU against one reference also depends on which of several correct translations that reference
    happens to be. Where the references of a split are all correct translations, as in generated
    corpora, a claim about BLEU is therefore judged by BLEU against all of them, and the difference
    in the claim's own measure is shown beside it. Exceptions are claims that state a number of
    points, which are points of their own measure, comparisons with a number, and correlations.
    """
    cells = [cell for side in check.sides for cell in side.own]
    if (
        check.kind == "correlation"
        or check.number is not None
        or states_an_effect(check.relations, check.margin)
        or not all(cell.source is not None and cell.measure in AGAINST_ALL for cell in cells)
        or not all(are_complete(configuration.corpus(cell.corpus), cell.split) for cell in cells)
    ):
        return check
    sides = (
        Compared(tuple(cell._replace(measure=AGAINST_ALL[cell.measure]) for cell in side.own))
        for side in check.sides
    )
    return replace(check, sides=tuple(sides))


def made_from(configuration: Configuration, check: Check) -> str:
    """A fingerprint of what the record of a judgement rests on besides results."""
    return fingerprint(repr((check, decisive(configuration, check))))


def printed_sides(check: Check) -> list[tuple[float, float]] | None:
    """Both sides of the differences that a check is about, by the numbers that the paper prints.

    Those of a correlation are Pearson's r and 0. `None` if the paper does not print all of them.
    """
    values = [side.first.published for side in check.sides]
    if check.kind == "compare" and len(values) == 1:
        values.append(check.number)
    known = [value for value in values if isinstance(value, int | float)]
    if len(known) < len(values):
        return None
    if check.kind == "correlation":
        return [(pearson(known[::2], known[1::2]), 0.0)]
    if check.kind == "trend":
        return [(later, before) for before, later in pairwise(known)]
    labels = [side.label for side in check.sides]
    if check.kind in ("compare", MAJORITY):
        return list(zip(known[::2], known[1::2], strict=True))
    if check.kind == "gains":
        known = [first - second for first, second in zip(known[::2], known[1::2], strict=True)]
        labels = labels[::2]
    named = labels.index(check.relation)
    return [(known[named], value) for at, value in enumerate(known) if at != named]


def published_difference(check: Check) -> float | None:
    """The paper's own difference, if it prints the numbers behind its claim."""
    sides = printed_sides(check)
    if sides is None:
        return None
    found = [left - right for left, right in sides]
    if check.kind == "trend":
        return sum(found)
    return sum(found) / len(found) if check.kind == MAJORITY else min(found)


def resampled(check: Check, cell: Cell) -> bool:
    """Whether the judgement reads the counts beside a score, for its intervals."""
    score = isinstance(cell.source, Score)
    return check.kind != "correlation" and score and can_be_resampled(cell.measure)

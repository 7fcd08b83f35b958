"""Claims of a paper as checks: selections of cells, and a region for what they differ by.

docs/papers.md says where their coordinates come from; `nat.papers.judgements` judges.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache
from typing import Any

from nat.configuration import Configuration
from nat.configuration.families import require
from nat.data.corpus_parts import has_all_references
from nat.errors import UserError, told_of
from nat.measures.known import AGAINST_ALL, MEASURES
from nat.options import hint
from nat.papers.cells import MAJORITY, Check, Shown, identity
from nat.papers.coordinates import Chosen, Resolver, filled, product
from nat.papers.description import COORDINATES, Case, Claim, Correlation, Gains, Side
from nat.papers.expansion import Expanded
from nat.papers.relation import relation
from nat.papers.verdicts import states_an_effect

_NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?")
_STEPS = re.compile(r"(.+), ([0-9]+) steps?")
_PARTS = re.compile(r"\b(table|figure)s? (\w+)")


@cache
def checks(configuration: Configuration, paper: str) -> tuple[Check, ...]:
    """Resolve every judgement of a paper's claims; UserErrors name the file and the claim."""
    resolver = Resolver(configuration, paper)
    parts, resolved = relation(configuration, paper), list[Check]()
    for name, claim in resolver.paper.claims.items():
        with told_of(f"{resolver.file}: claims.{name}: "):
            judged = list(_Claim(resolver, name, claim, parts).checks())
        if claim.majority:
            sides = tuple(side for each in judged for side in each.sides)
            judged = [replace(judged[0], case="", kind=MAJORITY, sides=sides)]
        resolved += judged
    return tuple(
        replace(each, against_all=_decided_against_all(configuration, each)) for each in resolved
    )


def _decided_against_all(configuration: Configuration, check: Check) -> bool:
    """Tell whether BLEU against all references decides a check.

    It does where all references are known, but not a claim that states points of its own measure, a
    comparison with a number, or a correlation.
    """
    cells = [cell for side in check.sides for cell in side.own]
    return (
        check.kind != "correlation"
        and check.number is None
        and not states_an_effect(check.relations, check.margin)
        and all(cell.source is not None and cell.measure in AGAINST_ALL for cell in cells)
        and all(has_all_references(configuration.corpus(cell.corpus), cell.split) for cell in cells)
    )


class _Claim:
    """Resolves the cases and sides of one claim."""

    def __init__(
        self, resolver: Resolver, name: str, claim: Claim, parts: Mapping[str, Expanded]
    ) -> None:
        self.resolver, self.name, self.claim, self.parts = resolver, name, claim, parts
        self.place = claim.source
        if "source" not in claim.model_fields_set:
            named = (f"{kind} {number}" for kind, number in _PARTS.findall(claim.origin))
            self.place = next((each for each in named if each in self.parts), None)

    def checks(self) -> Iterator[Check]:
        """Resolve the judgement of each case."""
        for case in self.claim.each or [Case()]:
            both, numbers = self.claim.given() | case.given(), self._source(case).numbers
            tasks = list(dict.fromkeys(number.first.task for number in numbers))
            if "task" not in both and tasks:
                both["task"] = tasks[0] if len(tasks) == 1 else tasks
            for chosen, varied in product(both):
                parts = [case.label] if case.label else []
                if self.claim.label or varied:
                    parts.append(self.resolver.label(self.claim.label, chosen, varied))
                yield self._check(case, ", ".join(parts), chosen)

    def _source(self, *given: Case | Side) -> Expanded:
        """The table or figure that the first of these names, else the claim."""
        name = next((each.source for each in given if each.source), self.place)
        if name is None:
            return Expanded(self.resolver, "no table or figure (key 'in')")
        return self.parts[require(name, self.parts, "table or figure in 'in':")]

    def _check(self, case: Case, label: str, chosen: Chosen) -> Check:
        claim, kind = self.claim, self.claim.choice
        number, margin = None, str(claim.margin)
        if kind == "compare":
            left, relation_, right, margin = claim.comparison
            sides = [self._side(left, case, chosen)]
            other = float(right) if _NUMBER.fullmatch(right) else self._bound(right, case)
            if isinstance(other, int | float):
                number = float(other)
            else:
                sides.append(self._side(right, case, chosen))
        else:
            options = getattr(claim, kind)
            relation_ = options.relation
            sides = list(self._sides(options, case, chosen))
        size = float(margin.rstrip("%"))
        labels = [side.label for side in sides[:: 2 if kind == "gains" else 1]]
        if kind in ("largest", "gains"):
            require(relation_, labels, f"label in '{kind}':")
        if kind in ("trend", "largest", "gains") and len(labels) < 2:
            raise UserError(f"'{kind}' compares two or more, found {', '.join(labels)}")
        counted = all(MEASURES[side.first.measure].counted for side in sides)
        if relation_ in ("about", "flat") and not counted and size <= 0:
            raise UserError("no interval lies within no margin; give one, as ± 1")
        return Check(
            claim=self.name,
            case=label,
            text=claim.claim,
            source=claim.origin,
            kind=kind,
            relation=relation_,
            margin=size / 100 if margin.endswith("%") else size,
            share=margin.endswith("%"),
            sides=tuple(sides),
            number=number,
        )

    def _sides(self, options: Any, case: Case, chosen: Chosen) -> Iterator[Shown]:
        """The sides of a check of several, in the order that `Check` describes."""
        resolver = self.resolver
        if isinstance(options, Correlation):
            for name in options.over:
                for measured in (options.of, options.other):
                    yield self._side(name, case, chosen | measured.given(), name)
            return
        source = self._source(case)
        for item in options.of or source.points:
            if isinstance(item, str):
                yield self._side(item, case, chosen)
                continue
            for own, varied in product(item.given()):
                label = ""
                if item.label or varied or not isinstance(options, Gains):
                    label = resolver.label(item.label, own, varied)
                if isinstance(options, Gains):
                    where, place = {**case.where, **item.where}, item.source or case.source
                    inner = item.model_copy(update={"source": place, "where": where})
                    for name in (options.system, options.over):
                        yield self._side(name, inner, chosen | own, label)
                else:
                    called = None if own.get("system") else label
                    yield self._cells(own, label, called, source, chosen)

    def _bound(self, name: str, case: Case) -> str | float | Side:
        """Look a name up in the case, the claim and the paper, in this order."""
        everywhere = self.resolver.paper.where
        return case.where.get(name, self.claim.where.get(name, everywhere.get(name, name)))

    def _side(self, name: str, case: Case, chosen: Chosen, label: str | None = None) -> Shown:
        """The cells that a name refers to in a case."""
        resolver, bound = self.resolver, self._bound(name, case)
        side = bound if isinstance(bound, Side) else Side(of=str(bound))
        words, own = resolver.defaults | chosen, side.given()
        if isinstance(side.system, str) and "system" in chosen:
            own["system"] = side.system.replace("{system}", chosen["system"])
        called = None if side.system else name
        if side.of is not None:
            called = filled(side.of, words)
        if label is None:
            label = filled(name, words)
        return self._cells(own, label, called, self._source(side, case), chosen)

    def _cells(
        self, own: Chosen, label: str, called: str | None, source: Expanded, chosen: Chosen
    ) -> Shown:
        """The cells of a side, by the coordinates that it gives and the row that it is called."""
        resolver = self.resolver
        # The system of a case is only for templates; the name of a side determines its system.
        chosen = {key: value for key, value in chosen.items() if key != "system"}
        row = self._row(called, source, chosen | own) if called is not None else {}
        base = {"system": resolver.defaults.get("system")} | source.shared
        here, there = {**base, **row, **chosen, **own}, None
        if self.claim.over is not None:  # in the same setting
            row = source.named.get(self.claim.over, {"system": self.claim.over})
            same = {key: own[key] for key in own if key in ("measure", "task", "setting")}
            variables = {key: own[key] for key in own if key not in COORDINATES}
            there = {**base, **chosen, **variables, **row, **same}
        with told_of(f"'{label}': "):
            shown = source.number(here, there, row=label, column=self.name).each(source.timed)
        return shown.with_published(source.printed.get(identity(shown.first, str(called))))

    def _row(self, called: str, source: Expanded, asked: Chosen) -> Chosen:
        """Coordinates of a row, series or point of the source, or of a system."""
        paper, rows = self.resolver.paper, source.named
        if called in rows:
            for key, value in asked.items():
                its = rows[called].get(key, value)
                if its != value:
                    others = [label for label, own in rows.items() if own.get(key) == value]
                    near = hint(called, others or rows)
                    raise UserError(f"'{called}' has the {key} {its}, not {value}; {near}")
            return rows[called]
        if called in paper.systems or called in self.resolver.configuration.systems:
            return {"system": called}
        if steps := _STEPS.fullmatch(called):
            return {**self._row(steps[1], source, asked), "steps": int(steps[2])}
        return {"system": require(called, [*rows, *paper.systems], "name")}

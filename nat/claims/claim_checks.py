"""Claims of a paper as checks over cells.

A claim of `config/papers/*.yaml` is one of five checks:

- `compare`: a place against another, or against a number: `above` (left - right > margin),
  `below` (< -margin), `not_above` (<= margin), `not_below` (>= -margin), `about` (at most the
  margin apart);
- `trend`: places in order, each compared with the one before it: `rising`, `falling` or `flat`;
- `largest`: of several places, the named one is the largest;
- `gains`: of what a system gains over another in several places, the named gain is the largest;
- `correlation`: Pearson's r of two measures over systems, compared with a number.

A claim is judged once per case, unless it need only hold in a majority of them; `claims` judges.

The measure that decides is fixed before there are results. BLEU against one reference also
depends on which of several correct translations that reference happens to be. Where the references
of a split are all correct translations, as in generated corpora, a claim about BLEU is therefore
judged by BLEU against all of them, and the difference in the claim's own measure is shown beside
it. Exceptions are claims that state a number of points, which are points of their own measure,
comparisons with a number, and correlations.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise

from nat.artifacts import Artifact
from nat.cells.coordinates import Chosen, no_repetition
from nat.cells.differences import can_be_resampled
from nat.cells.entry import QUOTED, Entry
from nat.cells.known_measures import AGAINST_ALL, MEASURES
from nat.claims.claim_places import Finder, Source
from nat.papers.verdicts import states_an_effect
from nat.configuration import Configuration, fingerprint
from nat.configuration import papers as models
from nat.data.references import are_complete
from nat.errors import UserError
from nat.measures.correlation import pearson
from nat.spelling import hint
from nat.tables import tables

MAJORITY = "majority"
BOUNDS = {
    "above": "above ",
    "below": "below ",
    "not_above": "at most ",
    "not_below": "at least ",
    "about": "within ±",
}
"""Relations in words, before a number."""
TREND = {"rising": "above", "falling": "below", "flat": "about"}


@dataclass(frozen=True)
class Check:
    """One judgement: a claim, the case it is judged on, and its places in order.

    The places of `gains` are by turns those of a system and of the other system, the places of
    `correlation` by turns those of one measure and of the other, and the places of a `majority` by
    turns the left and the right one of each case. `share` says that the margin is a share of the
    right side.
    """

    claim: str
    case: str
    text: str
    source: str
    kind: str
    relation: str
    margin: float
    places: tuple[Entry, ...]
    share: bool = False
    number: float | None = None
    """The number that the only place is compared with; None where places are compared."""

    @property
    def relations(self) -> str:
        """How each difference of the check compares with its margin."""
        if self.kind in ("largest", "gains"):
            return "above"
        return TREND.get(self.relation, self.relation)


@cache
def checks(configuration: Configuration, paper: str) -> tuple[Check, ...]:
    """Every judgement of a paper's claims.

    Raises:
        UserError: for a place that does not exist; names the file and the claim.
    """
    sources: dict[str, Source] = {}
    found = []
    named: set[str] = set()
    for name, claim in configuration.paper(paper).claims.items():
        finder = Finder(configuration, paper, name, claim, sources)
        judged = [
            _check(finder, case, *each)
            for case in claim.each or [models.Case()]
            for each in finder.cases(case)
        ]
        _check_cases(finder, judged)
        finder.check_used()
        named |= finder.named
        found += [_majority(finder, judged)] if claim.majority else judged
    for name in configuration.paper(paper).where:
        if name not in named:
            raise UserError(
                f"config/papers/{paper}.yaml: where: no claim names '{name}'; {hint(name, named)}"
            )
    return tuple(found)


def _check_cases(finder: Finder, judged: Sequence[Check]) -> None:
    """Refuse a claim without a case, and cases that are counted twice."""
    if not judged:
        raise UserError(f"{finder.where}: there is no case to judge; give it a task")
    no_repetition([case.case for case in judged if case.case], f"{finder.where}: its cases")
    compared = [(case.places, case.number) for case in judged]
    for number, each in enumerate(compared):
        if each in compared[:number]:
            raise UserError(
                f"{finder.where}: '{judged[number].case}' is the same comparison as another case; "
                "remove it"
            )


def _majority(finder: Finder, cases: Sequence[Check]) -> Check:
    """All cases of a comparison as one judgement."""
    if any(case.kind != "compare" or case.number is not None for case in cases):
        raise UserError(f"{finder.where}: key 'majority': found it without two places to 'compare'")
    if any(case.label is not None for case in (finder.claim, *finder.claim.each)):
        raise UserError(
            f"{finder.where}: key 'label': a claim with 'majority' is one judgement, whose cases "
            "are not named; remove it"
        )
    return replace(
        cases[0],
        case="",
        kind=MAJORITY,
        places=tuple(place for case in cases for place in case.places),
    )


def _check(finder: Finder, case: models.Case, label: str, chosen: Chosen) -> Check:
    claim, margin = finder.claim, finder.claim.margin
    kind, options = finder.kind()
    places: list[Entry] = []
    number = None
    if kind == "compare":
        left, relation, right = options
        first = finder.place(left, case, chosen)
        second = finder.place(right, case, chosen)
        if not isinstance(first, Entry):
            raise UserError(f"{finder.where}: the left side of 'compare' is a number")
        places = [first] + ([second] if isinstance(second, Entry) else [])
        number = None if isinstance(second, Entry) else second
    else:
        relation = options.relation
        places = finder.several(kind, options, case, chosen)
    _check_left(finder, kind, relation, places)
    _check_margin(finder, kind, relation, places)
    if kind == "compare" and len(places) > 1:
        _check_differ(finder, *places)
    if kind == "correlation":
        no_repetition(options.over, f"{finder.where}: key 'correlation.over'")
        for of, other in zip(places[::2], places[1::2], strict=True):
            _check_differ(finder, of, other)
    if kind in ("trend", "largest", "gains"):
        labels = [place.row for place in places[:: 2 if kind == "gains" else 1]]
        if len(labels) < 2:
            raise UserError(f"{finder.where}: key '{kind}.of': found fewer than two to compare")
        no_repetition(labels, f"{finder.where}: key '{kind}.of'")
        if kind != "trend" and relation not in labels:
            raise UserError(
                f"{finder.where}: '{relation}' is not one of the labels {', '.join(labels)}"
            )
    return Check(
        claim=finder.name,
        case=label,
        text=claim.claim,
        source=claim.origin,
        kind=kind,
        relation=relation,
        margin=float(margin.rstrip("%")) / 100 if isinstance(margin, str) else float(margin),
        share=isinstance(margin, str),
        places=tuple(places),
        number=number,
    )


def _check_left(finder: Finder, kind: str, relation: str, places: Sequence[Entry]) -> None:
    """Refuse a place of the paper that has no run of ours but would need one."""
    left = {
        "compare": places[:1],
        "gains": places[::2],
        "trend": places[1:],
        "largest": [place for place in places if place.row == relation],
    }
    for place in left.get(kind, places):
        if place.reason == QUOTED:
            raise UserError(
                f"{finder.where}: '{place.row}' is not run here, so it can only be what another "
                f"place is compared with, not the left side of '{kind}'"
            )


def _check_differ(finder: Finder, first: Entry, second: Entry) -> None:
    """Refuse a place that is compared with itself."""
    if first.address is not None and (first.address, first.over_address) == (
        second.address,
        second.over_address,
    ):
        raise UserError(
            f"{finder.where}: '{first.row}' and '{second.row}' are the same number "
            f"({first.measure} of {first.address.system}); compare two different ones"
        )


def _check_margin(finder: Finder, kind: str, relation: str, places: Sequence[Entry]) -> None:
    margin = finder.claim.margin
    where = f"{finder.where}: key 'margin': found {margin}, but"
    if isinstance(margin, str) and kind in ("gains", "correlation"):
        raise UserError(f"{where} '{kind}' has no right side to take a percentage of")
    if relation in ("about", "flat") and str(margin).startswith("-"):
        raise UserError(f"{where} no difference lies within a negative one; remove the minus")
    # what is counted may be the same to the unit; no interval has no width
    counted = all(MEASURES[place.measure].counted for place in places)
    if relation in ("about", "flat") and not float(str(margin).rstrip("%")) and not counted:
        raise UserError(
            f"{where} no interval lies within a margin of 0, so '{relation}' could never hold; "
            "say how far apart the places may be"
        )
    if kind == "correlation" and abs(float(margin)) > 1:
        raise UserError(f"{where} Pearson's r lies between -1 and 1; give a margin within them")


def files(configuration: Configuration, paper: str) -> list[Artifact]:
    """What the judgements of a paper read: scores and, for intervals, their statistics."""
    found: list[Artifact] = []
    for check in checks(configuration, paper):
        for place in check.places:
            for cell in (*place.cells, *place.over):
                found += cell.results
                if check.kind != "correlation" and can_be_resampled(cell.measure):
                    found.append(cell.statistics)
    return list(dict.fromkeys(found))


def decisive(configuration: Configuration, check: Check) -> Check:
    """The same judgement by the measure that decides it, see the module's description."""
    cells = [cell for place in check.places for cell in place.cells]
    if (
        check.kind == "correlation"
        or check.number is not None
        or states_an_effect(check.relations, check.margin)
        or not all(place.cells and place.measure in AGAINST_ALL for place in check.places)
        or not all(are_complete(configuration.corpus(cell.corpus), cell.split) for cell in cells)
    ):
        return check
    return replace(check, places=tuple(_against_all(place) for place in check.places))


def _against_all(place: Entry) -> Entry:
    measure = AGAINST_ALL[place.measure]
    return replace(
        place,
        measure=measure,
        cells=tuple(replace(cell, measure=measure) for cell in place.cells),
    )


def made_from(configuration: Configuration, check: Check) -> str:
    """A fingerprint of what the record of a judgement rests on besides results."""
    return fingerprint(repr((check, decisive(configuration, check))))


def bound(check: Check) -> str:
    """Where a claim with a margin says that its difference lies; its sentence may not say so."""
    if not check.margin:
        return ""
    end = -check.margin if check.relations in ("below", "not_below") else check.margin
    number = f"{100 * end:g}%" if check.share else f"{end:g}"
    return BOUNDS[check.relations] + number.replace("-", tables.MINUS)


def number_of(check: Check) -> float:
    """What the only place of a check is compared with."""
    return 0.0 if check.number is None else float(check.number)


def printed_sides(check: Check) -> list[tuple[float, float]] | None:
    """Both sides of the differences that a check is about, by the numbers that the paper prints.

    Those of a correlation are Pearson's r and 0. `None` if the paper does not print all of them.
    """
    printed = [place.published.value if place.published else None for place in check.places]
    if check.kind == "compare" and len(printed) == 1:
        printed.append(number_of(check))
    known = [value for value in printed if value is not None]
    if len(known) < len(printed):
        return None
    if check.kind == "correlation":
        return [(pearson(known[::2], known[1::2]), 0.0)]
    if check.kind == "trend":
        return [(later, before) for before, later in pairwise(known)]
    labels = [place.row for place in check.places]
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

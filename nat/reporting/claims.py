"""Claims of a paper as checks over cells, judged in every run.

A claim of `config/papers/*.yaml` is one of five checks:

- `compare`: a place against another, or against a number: `above` (left - right > margin),
  `below` (< -margin), `not_above` (<= margin), `not_below` (>= -margin), `about` (at most the
  margin apart);
- `trend`: places in order, each compared with the one before it: `rising`, `falling` or `flat`;
- `largest`: of several places, the named one is the largest;
- `gains`: of what a system gains over another in several places, the named gain is the largest;
- `correlation`: Pearson's r of two measures over systems, compared with a number.

A claim is judged once per case, unless it need only hold in a majority of them. The verdict comes
from intervals, see `nat.reporting.verdicts`. A measure that is counted in a training, such as its
updates, needs none; without an interval any other measure leaves a claim undecided.

The measure that decides is fixed before there are results. BLEU against one reference also
depends on which of several correct translations that reference happens to be. Where the references
of a split are all correct translations, as in generated corpora, a claim about BLEU is therefore
judged by BLEU against all of them, and the difference in the claim's own measure is shown beside
it. Exceptions are claims that state a number of points, which are points of their own measure,
comparisons with a number, and correlations.

How many updates a training takes is only judged where early stopping ended it.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import pairwise
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text

from nat.artifacts import Artifact
from nat.configuration import Configuration, fingerprint
from nat.configuration import papers as models
from nat.data.references import are_complete
from nat.errors import UserError
from nat.files import atomic_write_text
from nat.measures.correlation import pearson
from nat.measures.significance import LEVEL, POWER, Estimate, Interval, interval_of_correlation
from nat.reporting import tables, values
from nat.reporting.cells import Cell, measured
from nat.reporting.claim_places import Finder, Source
from nat.reporting.coordinates import no_repetition
from nat.reporting.differences import (
    Difference,
    can_be_resampled,
    combined,
    difference,
    difference_of_speed_ups,
)
from nat.reporting.known_measures import AGAINST_ALL, MEASURES, SPEED_UP, Measure
from nat.reporting.paper import QUOTED, Chosen, Entry
from nat.reporting.stated import deviations
from nat.reporting.training_runs import read_run
from nat.reporting.verdicts import (
    FAILS,
    HOLDS,
    UNDECIDED,
    Compared,
    detectable,
    how_many,
    region,
    states_an_effect,
    verdict,
)

DEVIATIONS = "Settings at the scale of the papers that differ from those stated"
UNJUDGED = "cannot be judged here"
"""The verdict on a claim that has no number although no result is missing."""
VERDICTS = (HOLDS, UNDECIDED, FAILS, UNJUDGED, values.NOT_RUN)
WITHOUT_NUMBER = (UNJUDGED, values.NOT_RUN)
COUNTED, NO_INTERVAL = "counted", "none"
COLUMNS = (
    *("claim", "case", "verdict", "ours", "95% interval", "detectable"),
    *("in the claim's measure", "paper"),
)
NUMBERS = (
    *("ours", "low", "high", "detectable", "published", "margin"),
    *("in_own_measure", "low_in_own_measure", "high_in_own_measure"),
)
STYLES = {
    **{HOLDS: "green", FAILS: "red", UNDECIDED: "magenta"},
    **dict.fromkeys(WITHOUT_NUMBER, "yellow"),
}
CORRELATION = Measure("r", "", 3)
UNTIL_THE_END = "updates"
"""Measure of a training that depends on when it ended."""
MAJORITY = "majority"
LEAST = "least difference"
"""The name of the difference that is shown of several of which each must hold."""
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
    for name, claim in configuration.paper(paper).claims.items():
        finder = Finder(configuration, paper, name, claim, sources)
        judged = [
            _check(finder, case, *each)
            for case in claim.each or [models.Case()]
            for each in finder.cases(case)
        ]
        _check_cases(finder, judged)
        found += [_majority(finder, judged)] if claim.majority else judged
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


def judge(configuration: Configuration, paper: str) -> tables.Records:
    """Judge every claim of a paper from the results below the root of the configuration.

    Returns:
        One record per judgement: the verdict, the difference it rests on with its interval and the
        smallest difference that the test could have seen, the difference in the claim's own
        measure, the numbers behind it, the paper's own difference, the seeds, and the files.

    Raises:
        UserError: as `checks`, and for damaged results.
    """
    return [
        {"paper": paper, "scale": configuration.scale} | _record(configuration, check)
        for check in checks(configuration, paper)
    ]


def bound(check: Check) -> str:
    """Where a claim with a margin says that its difference lies; its sentence may not say so."""
    if not check.margin:
        return ""
    end = -check.margin if check.relations in ("below", "not_below") else check.margin
    number = f"{100 * end:g}%" if check.share else f"{end:g}"
    return BOUNDS[check.relations] + number.replace("-", tables.MINUS)


def made_from(configuration: Configuration, check: Check) -> str:
    """A fingerprint of what the record of a judgement rests on besides results."""
    return fingerprint(repr((check, decisive(configuration, check))))


def _record(configuration: Configuration, check: Check) -> dict[str, Any]:
    root = Path(configuration.root)
    deciding = decisive(configuration, check)
    judged = _judged(deciding, root)
    own = None if deciding is check else _judged(check, root)
    record = {
        "claim": check.claim,
        "case": check.case,
        "text": check.text,
        "source": check.source,
        "measure": deciding.places[0].measure,
        "own_measure": check.places[0].measure,
        "corpus": " ".join(
            dict.fromkeys(cell.corpus for place in check.places for cell in place.cells)
        ),
        "stand_in": next((place.stand_in for place in check.places if place.stand_in), ""),
        "margin": check.margin,
        "bound": bound(check),
        "check": check.kind,
        "published": values.rounded(published_difference(check)),
        "made_from": made_from(configuration, check),
    }
    if isinstance(judged, str):
        nothing = dict.fromkeys(("ours", "low", "high", "detectable"))
        texts = dict.fromkeys(("numbers", "interval", "seeds", "sources"), "")
        cells = (cell for place in check.places for cell in (*place.cells, *place.over))
        was_run = all((root / cell.score_path).exists() for cell in cells)
        without = UNJUDGED if was_run else values.NOT_RUN
        record |= {"verdict": without, **nothing, **texts, "reason": judged}
    else:
        record |= {
            "verdict": verdict(judged.compared, judged.needed),
            "ours": values.rounded(judged.value),
            **_ends(judged.interval, "low", "high"),
            "detectable": values.rounded(judged.detectable),
            "numbers": judged.numbers,
            "interval": judged.method,
            "seeds": " ".join(str(seed) for seed in judged.seeds),
            "sources": " ".join(dict.fromkeys(judged.sources)),
            "reason": "",
        }
    shown = own if isinstance(own, Judged) else None
    return record | {
        "in_own_measure": values.rounded(shown.value) if shown else None,
        **_ends(shown.interval if shown else None, "low_in_own_measure", "high_in_own_measure"),
    }


def _ends(interval: Interval | None, low: str, high: str) -> dict[str, float | None]:
    return {
        low: values.rounded(interval.low) if interval else None,
        high: values.rounded(interval.high) if interval else None,
    }


@dataclass(frozen=True)
class Judged:
    """The differences of a check.

    Attributes:
        compared: each of them.
        needed: how many must lie in their regions.
        numbers: what is behind them, as text.
        value: the difference to show.
        interval: its interval.
        method: how intervals were made, `COUNTED` or `NO_INTERVAL`.
        seeds: those of the trainings.
        sources: files with the numbers.
    """

    compared: list[Compared]
    needed: int
    numbers: str
    value: float
    interval: Interval | None
    method: str
    seeds: tuple[int, ...]
    sources: tuple[str, ...]

    @property
    def detectable(self) -> float | None:
        """The smallest difference that the test could have seen."""
        return None if self.method == COUNTED else detectable(self.compared, self.needed)


def _differences(check: Check, root: Path) -> tuple[list[Difference], str]:
    """The differences that a check needs, or why they are missing."""
    places = check.places
    for place in places:
        if place.measure == UNTIL_THE_END and (cut := _cut(place, root)):
            return [], cut
    right: Sequence[Entry | float]
    if check.kind == "compare":
        left = [places[0]]
        right = [places[1] if len(places) > 1 else _number(check)]
    elif check.kind in ("gains", MAJORITY):
        left, right = list(places[::2]), places[1::2]
    elif check.kind == "trend":
        # The last difference, from the first place to the last, is only shown.
        left, right = [*places[1:], places[-1]], [*places[:-1], places[0]]
    else:
        named = next(place for place in places if place.row == check.relation)
        right = [place for place in places if place is not named]
        left = [named] * len(right)
    found = []
    for first, second in zip(left, right, strict=True):
        to = _compared(second)
        if to is None:
            assert isinstance(second, Entry)
            return [], f"{second.row}: the paper prints no number"
        if isinstance(second, Entry) and isinstance(to, float) and first.stand_in:
            return [], f"the published value is not comparable: {first.stand_in}"
        each: Difference | None
        if first.measure == SPEED_UP:
            other = (second.cells, second.over) if isinstance(second, Entry) else float(second)
            each = difference_of_speed_ups((first.cells, first.over), other, root)
        else:
            each = difference(first.cells, to, root)
        if each is None:
            return [], _why_not(first, second, root)
        found.append(each)
    return found, ""


def _cut(place: Entry, root: Path) -> str:
    """Why the length of a training says nothing: it is that of the recipe, which a scale sets."""
    ran = [cell for cell in place.cells if (root / cell.score_path).exists()]
    if all(read_run(root / cell.score_path).stopped_early for cell in ran):
        return ""
    return f"{place.row}: training ended at the last update of the recipe, not by early stopping"


def _correlation(check: Check, root: Path) -> Judged | str:
    """Pearson's r of two measures over systems, both means over the seeds that all have."""
    places = check.places
    numbers: list[dict[int, float]] = []
    for place in places:
        ran = [cell for cell in place.cells if (root / cell.score_path).exists()]
        found: dict[int, list[float]] = {}
        for cell in ran:  # of a random decoding several of one seed
            if (each := measured(cell, root)) is not None:
                found.setdefault(cell.seed, []).append(each.value)
        numbers.append({seed: sum(each) / len(each) for seed, each in found.items()})
    seeds = sorted(set(numbers[0]).intersection(*numbers[1:]))
    if not seeds:
        without = next((place for place in places if values.read(place, root).value is None), None)
        return _why_not(places[0] if without is None else without, 0.0, root)
    means = [sum(each[seed] for seed in seeds) / len(seeds) for each in numbers]
    first, second = means[::2], means[1::2]
    try:
        value = pearson(first, second)
    except ValueError as error:
        return str(error)
    at = partial(interval_of_correlation, first, second)
    of, with_ = (MEASURES[place.measure].label for place in places[:2])
    interval = at(LEVEL)
    return Judged(
        compared=[Compared(value, region(check.relation, check.margin), at)],
        needed=1,
        numbers=f"r of {of} and {with_} over {len(first)} systems",
        value=value,
        interval=interval,
        method=interval.method if interval else NO_INTERVAL,
        seeds=tuple(seeds),
        sources=tuple(cell.score_path for place in places for cell in place.cells),
    )


def _compared(place: Entry | float) -> Sequence[Cell] | float | None:
    """What is subtracted: cells, a number, or the published value of a system that is quoted.

    `None` if no number is published.
    """
    if not isinstance(place, Entry):
        return place
    if place.reason == QUOTED:
        return None if place.published is None else place.published.value
    return place.cells


def _why_not(first: Entry, second: Entry | float, root: Path) -> str:
    for place in (first, second):
        if isinstance(place, Entry) and place.reason != QUOTED:
            reason = values.why_missing(place, root)
            if reason:
                plain = reason in (values.NOT_RUN, values.NOT_AVAILABLE)
                return f"{place.row}: {reason}" if plain else reason
    return "no seed that both have"


def _number(check: Check) -> float:
    """What the only place of a check is compared with."""
    return 0.0 if check.number is None else float(check.number)


def _judged(check: Check, root: Path) -> Judged | str:
    """The differences of a check, or why they are missing."""
    if check.kind == "correlation":
        return _correlation(check, root)
    found, missing = _differences(check, root)
    if missing:
        return missing
    counted = MEASURES[check.places[0].measure].counted
    *steps, whole = found
    if check.kind == "gains":
        names = [place.row for place in check.places[::2]]
        named = found[names.index(check.relation)]
        estimates = [
            combined([named, each], lambda pair: pair[0] - pair[1])
            for each in found
            if each is not named
        ]
        margins = [check.margin] * len(estimates)
    else:
        judged = steps if check.kind == "trend" else found
        estimates = [each.estimate for each in judged]
        margins = [check.margin * (abs(each.right) if check.share else 1) for each in judged]
    if check.kind == "trend":
        shown = whole.estimate
    elif check.kind == MAJORITY:
        shown = combined(found, lambda row: sum(row) / len(row))
    else:
        shown = min(estimates, key=lambda each: each.value)
    interval = shown.interval()
    return Judged(
        compared=[
            Compared(each.value, region(check.relations, margin), _intervals(each, counted))
            for each, margin in zip(estimates, margins, strict=True)
        ],
        needed=len(estimates) // 2 + 1 if check.kind == MAJORITY else len(estimates),
        numbers=_numbers(check, found),
        value=shown.value,
        interval=interval,
        method=interval.method if interval else COUNTED if counted else NO_INTERVAL,
        seeds=found[0].seeds,
        sources=tuple(path for each in found for path in each.sources),
    )


def _intervals(estimate: Estimate, counted: bool) -> Callable[[float], Interval | None]:
    """Intervals of a difference by their level; a number that was counted once has no width."""
    if counted and len(estimate.by_seed) == 1:
        exact = Interval(estimate.value, estimate.value, estimate.value, COUNTED, 0.0)
        return lambda level: exact
    return estimate.interval


def _numbers(check: Check, found: Sequence[Difference]) -> str:
    """The numbers behind the differences of a check."""
    digits, _ = _digits(check.places[0].measure)
    labels = [place.row for place in check.places]
    if check.kind == "compare":
        right = f"{labels[1] if len(labels) > 1 else ''} {found[0].right:.{digits}f}".strip()
        return f"{labels[0]} {found[0].left:.{digits}f} against {right}"
    if check.kind == MAJORITY:
        wanted = region(check.relation, check.margin)
        held = sum(wanted.contains(each.value) for each in found)
        return f"{held} of {len(found)} cases, mean"
    if check.kind == "trend":
        *steps, whole = found
        numbers = _list(labels, [whole.right, *(each.left for each in steps)], digits)
        return f"{numbers}; from first to last"
    if check.kind == "largest":
        others = [label for label in labels if label != check.relation]
        compared = [found[0].left, *(each.right for each in found)]
        return f"{_list([check.relation, *others], compared, digits)}; {LEAST}"
    gains = (
        f"{name} {tables.signed(each.value, digits)}"
        for name, each in zip(labels[::2], found, strict=True)
    )
    return f"{', '.join(gains)}; {LEAST}"


def _list(labels: Sequence[str], numbers: Sequence[float], digits: int) -> str:
    return ", ".join(
        f"{label} {value:.{digits}f}" for label, value in zip(labels, numbers, strict=True)
    )


def printed_sides(check: Check) -> list[tuple[float, float]] | None:
    """Both sides of the differences that a check is about, by the numbers that the paper prints.

    Those of a correlation are Pearson's r and 0. `None` if the paper does not print all of them.
    """
    printed = [place.published.value if place.published else None for place in check.places]
    if check.kind == "compare" and len(printed) == 1:
        printed.append(_number(check))
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


def write(configuration: Configuration, paper: str, records: tables.Records, csv: Path) -> None:
    """Write `csv`, and Markdown beside it, each atomically."""
    atomic_write_text(csv.with_suffix(".md"), markdown(configuration, paper, records))
    tables.write_records(records, csv)


def read(csv: Path) -> tables.Records:
    """Read back judgements.

    Raises:
        UserError: if the file is missing or holds something else.
    """
    return tables.read_records(csv, NUMBERS)


def summary(records: tables.Records) -> str:
    """The number of judgements by verdict."""
    found = [record["verdict"] for record in records]
    return ", ".join(
        how_many(found.count(verdict), verdict) for verdict in VERDICTS if verdict in found
    )


def _run(configuration: Configuration, paper: str) -> str:
    """The scale, and how many trainings of each system the judgements are about."""
    seeds = len(configuration.seeds_of(paper))
    trainings = "one training" if seeds == 1 else f"{seeds} trainings"
    return f"scale {configuration.scale}, {trainings} of each system"


def lines(record: Mapping[str, Any]) -> dict[str, str]:
    """A judgement as the texts of `COLUMNS`."""
    is_correlation = record["check"] == "correlation"
    measure = CORRELATION if is_correlation else MEASURES[record["measure"]]
    digits, of_ends = measure.digits, measure.digits - 1
    if not is_correlation:
        digits, of_ends = _digits(record["measure"])
    ours, interval = str(record["reason"]), tables.NOTHING
    if record["verdict"] not in WITHOUT_NUMBER:
        ours = f"{record['numbers']}: {tables.signed(record['ours'], digits)}"
        several = not is_correlation and record["measure"] != record["own_measure"]
        ours = f"{ours} {'multi-ref. ' if several else ''}{measure.unit}".strip()
        interval = str(record["interval"])
    if tables.given(record["low"]):
        interval = _interval(record["low"], record["high"], of_ends)
    can_see = own = paper = tables.NOTHING
    if tables.given(record["detectable"]):
        can_see = f"{record['detectable']:.{digits}f}"
    if tables.given(record["in_own_measure"]):
        its, its_ends = _digits(record["own_measure"])
        ends = record["low_in_own_measure"], record["high_in_own_measure"]
        own = tables.signed(record["in_own_measure"], its)
        own += f" {_interval(*ends, its_ends)}" if tables.given(ends[0]) else ""
    if tables.given(record["published"]):
        paper = tables.signed(record["published"], digits)
    of = "r" if is_correlation else "difference"
    said = f"; {of} {record['bound']}" if record.get("bound") else ""
    text = f"{record['text']} ({record['source']}{said})"
    found = (text, record["case"], record["verdict"], ours, interval, can_see, own, paper)
    return dict(zip(COLUMNS, found, strict=True))


def _digits(measure: str) -> tuple[int, int]:
    """Digits of a difference and of the ends of its interval.

    Two speed-ups may differ by less than the last digit that a table has of one.
    """
    more = measure == SPEED_UP
    return MEASURES[measure].digits + more, tables.digits_of_ends(measure) + more


def _interval(low: float, high: float, digits: int) -> str:
    ends = (tables.signed(end, digits) for end in (low, high))
    return f"[{', '.join(ends)}]"


def notes(records: tables.Records) -> list[str]:
    """Notes for the reader: how verdicts are made, and what is not comparable."""
    ran = [record for record in records if record["verdict"] not in WITHOUT_NUMBER]
    methods = dict.fromkeys(record["interval"] for record in ran)
    found = [
        "A claim holds if the 95% interval of its difference lies within what it says, does not "
        "hold if the interval lies outside, and is undecided otherwise. Detectable: the smallest "
        "difference beyond the bound of the claim that the test would have seen with a probability "
        f"of {POWER:.0%}."
    ]
    named = [method for method in methods if method not in (COUNTED, NO_INTERVAL)]
    if named:
        found.append(f"Intervals: {'; '.join(named)}.")
    if any("bootstrap" in method and "seeds" not in method for method in named):
        found.append(
            "With one seed an interval is over sentences, not over trainings: another training "
            "may give another difference and another verdict, so compare small differences over "
            "several seeds (key 'seeds' of the scale or of the paper)."
        )
    if COUNTED in methods:
        found.append(
            f"{COUNTED}: a number of one training, which has no interval over sentences; another "
            "training may give another number."
        )
    without = {record["check"] for record in ran if record["interval"] == NO_INTERVAL}
    if without - {"correlation"}:
        found.append(f"{NO_INTERVAL}: with one seed this difference has no interval.")
    if "correlation" in without:
        found.append(f"{NO_INTERVAL}: a correlation over three systems has no interval.")
    if any(record["measure"] != record["own_measure"] for record in ran):
        found.append(
            "The references of these test sets are all the correct translations of each sentence, "
            "so claims about BLEU are judged by BLEU against all of them, unless they state a "
            "number of points. The difference in the claim's measure, against one reference, "
            "stands beside."
        )
    return found + values.not_comparable([{**record, "status": "run"} for record in ran])


def markdown(configuration: Configuration, paper: str, records: tables.Records) -> str:
    """The judgements in GitHub's Markdown, below their number by verdict and above the notes."""
    title = configuration.paper(paper).title
    escaped = [
        [tables.escape_markdown(text) for text in lines(record).values()] for record in records
    ]
    # The claim is printed once, before the first of its cases.
    previous = ""
    for row in escaped:
        row[0], previous = ("" if row[0] == previous else row[0]), row[0]
    grid_text = tables.markdown_grid(escaped, list(COLUMNS), ["left"] * len(COLUMNS))
    below = _listed(notes(records))
    settings = deviations(configuration, paper)
    if settings:
        below += f"\n\n**{DEVIATIONS}**\n{_listed(settings)}"
    return (
        f"**{title}, claims** ({_run(configuration, paper)}): {summary(records)}\n\n{grid_text}\n"
        f"{below}\n"
    )


def _listed(lines: Sequence[str]) -> str:
    return "".join(f"\n- {tables.escape_markdown(line)}" for line in lines)


def show(
    configuration: Configuration, paper: str, records: tables.Records, console: Console
) -> None:
    """Print each judgement with its numbers."""
    title = f"{configuration.paper(paper).title}, claims: {summary(records)}"
    console.print(Text(title, style="bold"))
    console.print(Text(_run(configuration, paper)))
    previous = ""
    for record in records:
        texts = lines(record)
        if texts["claim"] != previous:
            console.print(Text(texts["claim"]))
            previous = texts["claim"]
        line = Text("  ").append(texts["verdict"], style=STYLES[record["verdict"]])
        case = f" {texts['case']}:" if texts["case"] else ""
        line.append(f"{case} {texts['ours']}")
        if texts["95% interval"] != tables.NOTHING:
            line.append(f", {texts['95% interval']}")
        for name in ("detectable", "in the claim's measure", "paper"):
            if texts[name] != tables.NOTHING:
                line.append(f"; {name} {texts[name]}")
        console.print(line)
    for note in notes(records):
        console.print(Text(note, style="dim"))
    settings = deviations(configuration, paper)
    if settings:
        console.print(Text(f"{DEVIATIONS}:", style="dim"))
    for each in settings:
        console.print(Text(f"  {each}", style="dim"))

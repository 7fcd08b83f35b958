"""The judgements of a paper's claims, made from the results of a run.

A claim is judged once per case, unless it need only hold in a majority of them. The verdict comes
from intervals, see `nat.papers.verdicts`. A measure that is counted in a training, such as its
updates, needs none; without an interval any other measure leaves a claim undecided.

How many updates a training takes is only judged where early stopping ended it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from nat.cells import values
from nat.cells.cell import Cell, measured
from nat.cells.differences import (
    Difference,
    combined,
    difference,
    difference_of_speed_ups,
)
from nat.cells.entry import QUOTED, Entry
from nat.cells.known_measures import MEASURES, SPEED_UP
from nat.claims.claim_checks import (
    MAJORITY,
    Check,
    bound,
    checks,
    decisive,
    made_from,
    number_of,
    published_difference,
)
from nat.papers.verdicts import Compared, detectable, region, verdict
from nat.configuration import Configuration
from nat.errors import UserError
from nat.measures.correlation import pearson
from nat.measures.results import TRAINING, read
from nat.measures.significance import LEVEL, Estimate, Interval, interval_of_correlation
from nat.spelling import hint
from nat.tables import tables

UNJUDGED = "cannot be judged here"
"""The verdict on a claim that has no number although no result is missing."""
WITHOUT_NUMBER = (UNJUDGED, values.NOT_RUN)
COUNTED, NO_INTERVAL = "counted", "none"
UNTIL_THE_END = "updates"
"""Measure of a training that depends on when it ended."""
LEAST = "least difference"
"""The name of the difference that is shown of several of which each must hold."""


def judge(configuration: Configuration, paper: str) -> tables.Records:
    """Judge every claim of a paper from the results below the root of the configuration.

    Returns:
        One record per judgement: the verdict, the difference it rests on with its interval and the
        smallest difference that the test could have seen, the difference in the claim's own
        measure, the numbers behind it, the paper's own difference, the seeds, and the files.

    Raises:
        UserError: as `checks`, for a paper without claims, and for damaged results.
    """
    if not configuration.paper(paper).claims:
        some = [name for name in configuration.papers if configuration.paper(name).claims]
        raise UserError(
            f"{configuration.file_of('papers', paper)} has no 'claims'; name a paper that makes "
            f"some; {hint(paper, some)}"
        )
    return [
        {"paper": paper, "scale": configuration.scale} | _record(configuration, check)
        for check in checks(configuration, paper)
    ]


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


def _differences(check: Check, root: Path) -> tuple[list[Difference], str]:
    """The differences that a check needs, or why they are missing."""
    places = check.places
    for place in places:
        if place.measure == UNTIL_THE_END and (cut := _cut(place, root)):
            return [], cut
    right: Sequence[Entry | float]
    if check.kind == "compare":
        left = [places[0]]
        right = [places[1] if len(places) > 1 else number_of(check)]
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
    if all(read(root / cell.score_path, TRAINING)["stopped_early"].value for cell in ran):
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
    digits, _ = digits_of(check.places[0].measure)
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


def digits_of(measure: str) -> tuple[int, int]:
    """Digits of a difference and of the ends of its interval.

    Two speed-ups may differ by less than the last digit that a table has of one.
    """
    more = measure == SPEED_UP
    return MEASURES[measure].digits + more, tables.digits_of_ends(measure) + more

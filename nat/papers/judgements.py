"""The judgements of a paper's claims, made from the results of a run.

The verdict comes from intervals, see `nat.papers.verdicts`. A measure that is counted in a
training, such as its updates, needs none; without an interval any other measure leaves a claim
undecided. How many updates a training takes is only judged where early stopping ended it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from nat.measures.correlation import pearson
from nat.measures.known import MEASURES, SPEED_UP
from nat.measures.significance import LEVEL, Estimate, Interval, interval_of_correlation
from nat.papers import values
from nat.papers.cells import QUOTED
from nat.papers.checks import MAJORITY, Check, Compared, decisive, published_difference
from nat.papers.differences import Difference, combined, difference
from nat.papers.reader import NOT_RUN, Reader
from nat.papers.resolved import ResolvedClaims
from nat.papers.table_formats import MINUS, signed
from nat.papers.tables import digits_of_ends
from nat.papers.values import Record
from nat.papers.verdicts import Judged, detectable, region, verdict

UNJUDGED = "cannot be judged here"
"""The verdict on a claim that has no number although no result is missing."""
WITHOUT_NUMBER = (UNJUDGED, NOT_RUN)
COUNTED, NO_INTERVAL = "counted", "none"
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


def judge(claims: ResolvedClaims, root: Path) -> list[Record]:
    """Judge every claim of a paper from the results below a folder.

    Returns:
        One record per judgement: the verdict, the difference it rests on with its interval and the
        smallest difference that the test could have seen, the difference in the claim's own
        measure, the numbers behind it, the paper's own difference, the seeds, and the files.

    Raises:
        UserError: for damaged results.
    """
    reader = Reader(root)
    names = {"paper": claims.paper, "scale": claims.scale}
    return [names | _record(check, reader) for check in claims.checks]


@dataclass(frozen=True)
class _Found:
    """The differences of a check.

    Attributes:
        judged: each of them.
        needed: how many must lie in their regions.
        numbers: what is behind them, as text.
        value: the difference to show.
        interval: its interval.
        method: how intervals were made, `COUNTED` or `NO_INTERVAL`.
        seeds: those of the trainings.
        sources: files with the numbers.
    """

    judged: list[Judged]
    needed: int
    numbers: str
    value: float
    interval: Interval | None
    method: str
    seeds: tuple[int, ...]
    sources: tuple[str, ...]


def _record(check: Check, reader: Reader) -> Record:
    deciding = decisive(check)
    found = _judged(deciding, reader)
    own = None if deciding is check else _judged(check, reader)
    its = own if isinstance(own, _Found) else None
    cells = check.cells
    record: Record = {
        "claim": check.claim,
        "case": check.case,
        "text": check.text,
        "source": check.source,
        "measure": deciding.sides[0].first.measure,
        "own_measure": check.sides[0].first.measure,
        "corpus": " ".join(
            dict.fromkeys(cell.corpus for side in check.sides for cell in side.own if cell.corpus)
        ),
        "stand_in": next((cell.stand_in for cell in cells if cell.stand_in), ""),
        "margin": check.margin,
        "bound": bound(check),
        "check": check.kind,
        "published": values.rounded(published_difference(check)),
    }
    if isinstance(found, str):
        nothing = dict.fromkeys(("ours", "low", "high", "detectable"))
        texts = dict.fromkeys(("numbers", "interval", "seeds", "sources"), "")
        was_run = all(reader.ran(cell) for cell in cells if cell.source is not None)
        record |= {"verdict": UNJUDGED if was_run else NOT_RUN, **nothing, **texts, "reason": found}
    else:
        least = None if found.method == COUNTED else detectable(found.judged, found.needed)
        record |= {
            "verdict": verdict(found.judged, found.needed),
            "ours": values.rounded(found.value),
            **values.ends(found.interval),
            "detectable": values.rounded(least),
            "numbers": found.numbers,
            "interval": found.method,
            "seeds": " ".join(map(str, found.seeds)),
            "sources": " ".join(dict.fromkeys(found.sources)),
            "reason": "",
        }
    ends = values.ends(its.interval if its else None)
    return record | {
        "in_own_measure": values.rounded(its.value) if its else None,
        **{f"{end}_in_own_measure": value for end, value in ends.items()},
    }


def bound(check: Check) -> str:
    """Say where a claim with a margin puts its difference; its sentence may not say so."""
    if not check.margin:
        return ""
    end = -check.margin if check.relations in ("below", "not_below") else check.margin
    number = f"{100 * end:g}%" if check.share else f"{end:g}"
    return BOUNDS[check.relations] + number.replace("-", MINUS)


def _judged(check: Check, reader: Reader) -> _Found | str:
    """The differences of a check, or why they are missing."""
    if check.kind == "correlation":
        return _correlation(check, reader)
    found = _differences(check, reader)
    if isinstance(found, str):
        return found
    counted = MEASURES[check.sides[0].first.measure].counted
    of = found[:-1] if check.kind == "trend" else list(found)
    margins = [check.margin * (abs(each.right) if check.share else 1) for each in of]
    estimates = [each.estimate for each in of]
    if check.kind == "gains":
        named = of.pop(check.named_gain)
        estimates = [combined([named, each], lambda pair: pair[0] - pair[1]) for each in of]
        margins = margins[1:]
    if check.kind == "trend":
        shown = found[-1].estimate
    elif check.kind == MAJORITY:
        shown = combined(found, lambda row: sum(row) / len(row))
    else:
        shown = min(estimates, key=lambda each: each.value)
    interval = shown.interval()
    return _Found(
        judged=[
            Judged(each.value, region(check.relations, margin), _intervals(each, counted))
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


def _differences(check: Check, reader: Reader) -> list[Difference] | str:
    """The differences that a check needs, or why they are missing."""
    for side in check.sides:
        if side.first.measure == "updates" and (cut := _cut(side, reader)):
            return cut
    found = []
    for one, other in check.pairs:
        each = _difference(one, other, reader)
        if isinstance(each, str):
            return each
        found.append(each)
    return found


def _difference(one: Compared, other: Compared | float, reader: Reader) -> Difference | str:
    """What a side differs by from another or a number, or why it is missing.

    What is only quoted has the published number.
    """
    printed = isinstance(other, Compared) and other.first.reason == QUOTED
    if isinstance(other, Compared) and printed:
        if not isinstance(other.first.published, int | float):
            return f"{other.label}: the paper prints no number"
        if one.first.stand_in:
            return f"the published value is not comparable: {one.first.stand_in}"
    compared = other.first.published if isinstance(other, Compared) and printed else other
    assert not isinstance(compared, str | None)
    found = difference(one, compared, reader)
    both = [one] if printed or not isinstance(other, Compared) else [one, other]
    return _why_missing(both, reader) if found is None else found


def _why_missing(sides: Sequence[Compared], reader: Reader) -> str:
    """Why sides have no numbers of a seed that all have."""
    for side in sides:
        if reason := values.why_missing(side.own, side.over, reader):
            plain = reason in (NOT_RUN, values.NOT_AVAILABLE)
            return f"{side.label}: {reason}" if plain else reason
    return "no seed that both have"


def _cut(side: Compared, reader: Reader) -> str:
    """Why the length of a training says nothing: it is that of the recipe, which a scale sets."""
    ran = [cell for cell in side.own if reader.ran(cell)]
    if all(reader.of_training(cell, "stopped_early") for cell in ran):
        return ""
    return f"{side.label}: training ended at the last update of the recipe, not by early stopping"


def _correlation(check: Check, reader: Reader) -> _Found | str:
    """Pearson's r of two measures over systems, both means over the seeds that all have."""
    numbers: list[dict[int, float]] = []
    for side in check.sides:
        found: dict[int, list[float]] = {}
        for cell in side.own:  # of a random decoding several of one seed
            value = reader.number(cell).value if reader.ran(cell) else None
            if value is not None:
                found.setdefault(cell.seed, []).append(value)
        numbers.append({seed: sum(each) / len(each) for seed, each in found.items()})
    seeds = sorted(set(numbers[0]).intersection(*numbers))
    if not seeds:
        without = [side for side, each in zip(check.sides, numbers, strict=True) if not each]
        return _why_missing(without, reader)
    means = [sum(each[seed] for seed in seeds) / len(seeds) for each in numbers]
    first, second = means[::2], means[1::2]
    try:
        value = pearson(first, second)
    except ValueError as error:
        return str(error)
    at = partial(interval_of_correlation, first, second)
    of, with_ = (MEASURES[side.first.measure].label for side in check.sides[:2])
    interval = at(LEVEL)
    return _Found(
        judged=[Judged(value, region(check.relation, check.margin), at)],
        needed=1,
        numbers=f"r of {of} and {with_} over {len(first)} systems",
        value=value,
        interval=interval,
        method=interval.method if interval else NO_INTERVAL,
        seeds=tuple(seeds),
        sources=tuple(cell.path for side in check.sides for cell in side.own),
    )


def _intervals(estimate: Estimate, counted: bool) -> Callable[[float], Interval | None]:
    """Intervals of a difference by their level; a number that was counted once has no width."""
    if counted and len(estimate.by_seed) == 1:
        exact = Interval(estimate.value, estimate.value, estimate.value, COUNTED, 0.0)
        return lambda level: exact
    return estimate.interval


def digits_of(measure: str) -> tuple[int, int]:
    """Digits of a difference and of the ends of its interval.

    Two speed-ups may differ by less than the last digit that a table has of one.
    """
    more = measure == SPEED_UP
    return MEASURES[measure].digits + more, digits_of_ends(measure) + more


def _numbers(check: Check, found: Sequence[Difference]) -> str:
    """Write the numbers behind the differences of a check."""
    digits, _ = digits_of(check.sides[0].first.measure)
    labels = [side.label for side in check.sides]

    def listed(names: Sequence[str], numbers: Sequence[float]) -> str:
        pairs = zip(names, numbers, strict=True)
        return ", ".join(f"{name} {number:.{digits}f}" for name, number in pairs)

    if check.kind == "compare":
        right = f"{labels[1] if len(labels) > 1 else ''} {found[0].right:.{digits}f}".strip()
        return f"{labels[0]} {found[0].left:.{digits}f} against {right}"
    if check.kind == MAJORITY:
        wanted = region(check.relation, check.margin)
        held = sum(wanted.contains(each.value) for each in found)
        return f"{held} of {len(found)} cases, mean"
    if check.kind == "trend":
        *steps, whole = found
        numbers = listed(labels, [whole.right, *(each.left for each in steps)])
        return f"{numbers}; from first to last"
    if check.kind == "largest":
        others = [label for label in labels if label != check.relation]
        sides = [found[0].left, *(each.right for each in found)]
        return f"{listed([check.relation, *others], sides)}; {LEAST}"
    gains: list[Any] = [
        f"{name} {signed(each.value, digits)}"
        for name, each in zip(labels[::2], found, strict=True)
    ]
    return f"{', '.join(gains)}; {LEAST}"

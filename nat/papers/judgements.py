"""The judgements of a paper's claims, made from the results of a run, and as they are read.

The verdict comes from intervals, see `nat.papers.verdicts`. A measure that is counted in a
training, such as its updates, needs none; without an interval any other measure leaves a claim
undecided. How many updates a training takes is only judged where early stopping ended it.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from nat.data.flags import counted
from nat.measures.known import AGAINST_ALL, DERIVED, MEASURES, SPEED_UP
from nat.measures.significance import LEVEL, POWER, CorrelationEstimate, Estimate, Interval, pearson
from nat.papers import values
from nat.papers.cells import MAJORITY, QUOTED, Check, ResolvedClaims, Shown
from nat.papers.differences import Difference, combined, difference
from nat.papers.reader import NOT_RUN, Reader
from nat.papers.table_formats import MINUS, NOTHING, TableText, given, signed
from nat.papers.tables import digits_of_ends
from nat.papers.values import Record
from nat.papers.verdicts import FAILS, HOLDS, UNDECIDED, Judged, detectable, region, verdict

UNJUDGED = "cannot be judged here"
"""The verdict on a claim that has no number although no result is missing."""
COUNTED, NO_INTERVAL = "counted", "none"
BOUNDS = {
    "above": "above ",
    "below": "below ",
    "not_above": "at most ",
    "not_below": "at least ",
    "about": "within ±",
}
"""Relations in words, before a number."""
DEVIATION = "A setting at the scale of the papers that differs from the one stated"
VERDICTS = {
    **{HOLDS: "hold", UNDECIDED: UNDECIDED, FAILS: "do not hold"},
    **{UNJUDGED: UNJUDGED, NOT_RUN: NOT_RUN},
}
"""Verdicts in order, and how they are worded of several claims."""
COLUMNS = (
    *("claim", "case", "verdict", "ours", "95% interval", "detectable"),
    *("in the claim's measure", "paper"),
)
HOW_JUDGED = (
    "A claim holds if the 95% interval of its difference lies within what it says, does not hold "
    "if the interval lies outside, and is undecided otherwise. Detectable: the smallest difference "
    "beyond the bound of the claim that the test would have seen with a probability of "
    f"{POWER:.0%}."
)
ONE_SEED = (
    "With one seed an interval is over sentences, not over trainings: another training may give "
    "another difference and another verdict, so compare small differences over several seeds (key "
    "'seeds' of the scale or of the paper)."
)
NO_INTERVALS = {
    COUNTED: "a number of one training, which has no interval over sentences; another training may "
    "give another number",
    NO_INTERVAL: "with one seed this difference has no interval, nor has a correlation over three "
    "systems",
}
BY_ALL_REFERENCES = (
    "The references of these test sets are all the correct translations of each sentence, so "
    "claims about BLEU are judged by BLEU against all of them, unless they state a number of "
    "points. The difference in the claim's measure, against one reference, stands beside."
)


class _Missing(Exception):
    """The reason for which a check has no differences."""


def judge(claims: ResolvedClaims, root: Path) -> list[Record]:
    """Judge every claim of a paper from the results below a folder; damaged ones are UserErrors.

    There is one record per judgement.
    """
    reader = Reader(root)
    names = {"paper": claims.paper, "scale": claims.scale}
    return [names | _record(check, reader) for check in claims.checks]


def _record(check: Check, reader: Reader) -> Record:
    deciding, own = check, Record()
    if check.against_all:
        sides = (side.changed(measure=AGAINST_ALL[side.first.measure]) for side in check.sides)
        deciding = replace(check, sides=tuple(sides))
        own = _outcome(check, reader)
    corpora = dict.fromkeys(cell.corpus for side in check.sides for cell in side.own)
    return {
        **{key: getattr(check, key) for key in ("claim", "case", "text", "source")},
        "measure": deciding.sides[0].first.measure,
        "own_measure": check.sides[0].first.measure,
        "corpus": " ".join(filter(None, corpora)),
        "stand_in": next((cell.stand_in for cell in check.cells if cell.stand_in), ""),
        "margin": check.margin,
        "bound": bound(check),
        "check": check.kind,
        "published": values.rounded(_published(check)),
        **_outcome(deciding, reader),
        "in_own_measure": own.get("ours"),
        "low_in_own_measure": own.get("low"),
        "high_in_own_measure": own.get("high"),
    }


def bound(check: Check) -> str:
    """Say where a claim with a margin puts its difference; its sentence may not say so."""
    if not check.margin:
        return ""
    end = -check.margin if check.relations in ("below", "not_below") else check.margin
    number = f"{100 * end:g}%" if check.share else f"{end:g}"
    return BOUNDS[check.relations] + number.replace("-", MINUS)


def _outcome(check: Check, reader: Reader) -> Record:
    """Judge the differences of a check, or say why it has none."""
    counted = MEASURES[check.sides[0].first.measure].counted
    try:
        if check.kind == "correlation":
            shown, seeds, numbers = _correlation(check, reader)
            estimates = [(shown, check.margin)]
            sources = [cell.path for side in check.sides for cell in side.own]
        else:
            differences = _differences(check, reader)
            estimates, shown = _judged(check, differences)
            seeds, numbers = differences[0].seeds, _numbers(check, differences)
            sources = [path for each in differences for path in each.sources]
    except _Missing as missing:
        was_run = all(reader.ran(cell) for cell in check.cells if cell.source is not None)
        return {
            "verdict": UNJUDGED if was_run else NOT_RUN,
            **dict.fromkeys(("ours", "low", "high", "detectable")),
            **dict.fromkeys(("numbers", "interval", "seeds", "sources"), ""),
            "reason": str(missing),
        }
    judged = [
        Judged(region(check.relations, margin), _intervals(each, counted))
        for each, margin in estimates
    ]
    needed = len(judged) // 2 + 1 if check.kind == MAJORITY else len(judged)
    interval, without = shown.interval(LEVEL), COUNTED if counted else NO_INTERVAL
    least = detectable(judged, needed) if interval or not counted else None
    return {
        "verdict": verdict(judged, needed),
        "ours": values.rounded(shown.value),
        **values.ends(interval),
        "detectable": values.rounded(least),
        "numbers": numbers,
        "interval": interval.method if interval else without,
        "seeds": " ".join(map(str, seeds)),
        "sources": " ".join(dict.fromkeys(sources)),
        "reason": "",
    }


def _judged(
    check: Check, differences: Sequence[Difference]
) -> tuple[list[tuple[Estimate, float]], Estimate]:
    """The differences that are judged, each with its margin, and the one that is shown."""
    of = list(differences[:-1] if check.kind == "trend" else differences)
    margins = [check.margin * (abs(each.right) if check.share else 1) for each in of]
    estimates: list[Estimate] = [*of]
    if check.kind == "gains":
        labels = [one.label for one, _ in check.pairs]
        named = of.pop(labels.index(check.relation))  # which is to be the largest
        estimates = [combined([named, each], lambda pair: pair[0] - pair[1]) for each in of]
    pairs = list(zip(estimates, margins, strict=False))
    if check.kind == "trend":
        return pairs, differences[-1]
    if check.kind == MAJORITY:
        return pairs, combined(differences, lambda row: sum(row) / len(row))
    return pairs, min(estimates, key=lambda each: each.value)


def _published(check: Check) -> float | None:
    """The paper's own difference, if it prints the numbers behind its claim."""
    values = [side.first.published for side in check.sides]
    known = [value for value in values if isinstance(value, int | float)]
    if len(known) < len(values):
        return None
    if check.kind == "correlation":
        return pearson(known[::2], known[1::2])
    printed = dict(zip(check.sides, known, strict=True))
    differences = []
    for one, other in check.pairs:
        left, right = printed[one], printed[other] if isinstance(other, Shown) else other
        differences.append(Difference((left - right,), left=left, right=right))
    return _judged(check, differences)[1].value


def _differences(check: Check, reader: Reader) -> list[Difference]:
    """The differences of the pairs of a check; what is only quoted has the printed number."""
    for side in check.sides if check.sides[0].first.measure == "updates" else ():
        ran = [cell for cell in side.own if reader.ran(cell)]
        if not all(reader.of_training(cell, "stopped_early") for cell in ran):
            # the length is that of the recipe, which a scale sets
            ended = "training ended at the last update of the recipe, not by early stopping"
            raise _Missing(f"{side.label}: {ended}")
    differences = []
    for one, other in check.pairs:
        right = other
        if isinstance(other, Shown) and other.first.reason == QUOTED:
            if not isinstance(other.first.published, int | float):
                raise _Missing(f"{other.label}: the paper prints no number")
            if one.first.stand_in:
                raise _Missing(f"the published value is not comparable: {one.first.stand_in}")
            right = float(other.first.published)
        minus = difference(one, right, reader)
        if minus is None:
            raise _missing([one, right], reader)
        differences.append(minus)
    return differences


def _missing(sides: Sequence[Shown | float], reader: Reader) -> _Missing:
    """Find the reason for which sides have no numbers of a common seed."""
    for side in sides:
        if isinstance(side, Shown) and (reason := values.why_missing(side, reader)):
            return _Missing(f"{side.label}: {reason}")
    return _Missing("no seed that both have")


def _correlation(check: Check, reader: Reader) -> tuple[Estimate, tuple[int, ...], str]:
    """Pearson's r of two measures over systems, both means over the seeds that all have.

    After it stand the seeds, and the numbers behind it as text.
    """
    by_seed: list[dict[int, float]] = []
    for side in check.sides:
        numbers: dict[int, list[float]] = {}
        for cell in side.own:  # of a random decoding several of one seed
            if (number := reader.number(cell).value) is not None:
                numbers.setdefault(cell.seed, []).append(number)
        by_seed.append({seed: sum(each) / len(each) for seed, each in numbers.items()})
    seeds = sorted(set(by_seed[0]).intersection(*by_seed))
    if not seeds:
        raise _missing(check.sides, reader)
    means = [sum(each[seed] for seed in seeds) / len(seeds) for each in by_seed]
    first, second = means[::2], means[1::2]
    try:
        value = pearson(first, second)
    except ValueError as error:
        raise _Missing(str(error)) from error
    of, with_ = (MEASURES[side.first.measure].label for side in check.sides[:2])
    text = f"r of {of} and {with_} over {len(first)} systems"
    return CorrelationEstimate((value,), systems=len(first)), tuple(seeds), text


def _intervals(estimate: Estimate, counted: bool) -> Callable[[float], Interval | None]:
    """Intervals of a difference by their level; a count that all seeds share has no width."""
    if counted and len(set(estimate.by_seed)) == 1:
        exact = Interval(estimate.value, estimate.value, COUNTED, 0.0)
        return lambda level: exact
    return estimate.interval


def digits_of(measure: str) -> tuple[int, int]:
    """Digits of a difference and of the ends of its interval.

    Two speed-ups may differ by less than the last digit that a table has of one.
    """
    more = measure == SPEED_UP
    return MEASURES[measure].digits + more, digits_of_ends(measure) + more


def _numbers(check: Check, differences: Sequence[Difference]) -> str:
    """Write the numbers behind the differences of a check, and which of them is shown."""
    if check.kind == MAJORITY:
        wanted = region(check.relation, check.margin)
        held = sum(each.value in wanted for each in differences)
        return f"{held} of {len(differences)} cases, mean"
    digits, _ = digits_of(check.sides[0].first.measure)
    numbers: dict[Shown | float, str] = {}
    for (one, other), each in zip(check.pairs, differences, strict=True):
        if check.kind == "gains":
            numbers[one] = signed(each.value, digits)
        else:
            numbers |= {one: f"{each.left:.{digits}f}", other: f"{each.right:.{digits}f}"}
    order = sorted(numbers, key=[*check.sides, *numbers].index)
    named = [f"{getattr(each, 'label', '')} {numbers[each]}".strip() for each in order]
    if check.kind == "compare":
        return " against ".join(named)
    shown = "from first to last" if check.kind == "trend" else "least difference"
    return f"{', '.join(named)}; {shown}"


# As they are read


def make(claims: ResolvedClaims, records: Sequence[Record]) -> TableText:
    """Arrange judgements for reading; a claim is printed once, before the first of its cases."""
    rows = [list(lines(record).values()) for record in records]
    before, trainings = ["", *(row[0] for row in rows)], counted(claims.trainings, "training")
    for row, previous in zip(rows, before, strict=False):
        row[0] *= row[0] != previous
    return TableText(
        title=f"{claims.title}, claims",
        origin=f"scale {claims.scale}, {trainings} of each system: {summary(records)}",
        records=records,
        columns=[(name, "") for name in COLUMNS],
        rows=rows,
        notes=notes(records) + [f"{DEVIATION}: {each}" for each in claims.deviations],
        prose=True,
    )


def summary(records: Sequence[Record]) -> str:
    """Count the judgements by verdict."""
    counts = Counter(record["verdict"] for record in records)
    several = ((counts[each], each, VERDICTS[each]) for each in VERDICTS if each in counts)
    return ", ".join(f"{number} {one if number == 1 else more}" for number, one, more in several)


def lines(record: Record) -> dict[str, str]:
    """Write a judgement as the texts of `COLUMNS`."""
    of, digits, of_ends, unit = "r", DERIVED["correlation"].digits, 2, ""
    if record["check"] != "correlation":
        of, unit = "difference", MEASURES[record["measure"]].unit
        digits, of_ends = digits_of(record["measure"])
        if record["measure"] != record["own_measure"]:
            unit = f"multi-ref. {unit}"
    ours, interval = str(record["reason"]), NOTHING
    if record["verdict"] not in (UNJUDGED, NOT_RUN):
        ours = f"{record['numbers']}: {signed(record['ours'], digits)} {unit}".strip()
        interval = _interval(record, "", of_ends) or str(record["interval"])
    own = NOTHING
    if given(record["in_own_measure"]):
        of_own, of_its_ends = digits_of(record["own_measure"])
        own = signed(record["in_own_measure"], of_own)
        own = f"{own} {_interval(record, '_in_own_measure', of_its_ends)}".strip()
    detectable, printed = record["detectable"], record["published"]
    bound = f"; {of} {record['bound']}" if record["bound"] else ""
    return {
        "claim": f"{record['text']} ({record['source']}{bound})",
        "case": record["case"],
        "verdict": record["verdict"],
        "ours": ours,
        "95% interval": interval,
        "detectable": f"{detectable:.{digits}f}" if given(detectable) else NOTHING,
        "in the claim's measure": own,
        "paper": signed(printed, digits) if given(printed) else NOTHING,
    }


def _interval(record: Record, measure: str, digits: int) -> str:
    ends = [record[f"{end}{measure}"] for end in ("low", "high")]
    return f"[{', '.join(signed(end, digits) for end in ends)}]" if all(map(given, ends)) else ""


def notes(records: Sequence[Record]) -> list[str]:
    """Make notes for the reader: how verdicts are made, and what is not comparable."""
    ran = [{**record, "status": "run"} for record in records if record["ours"] is not None]
    methods = dict.fromkeys(record["interval"] for record in ran)
    named = [method for method in methods if method not in NO_INTERVALS]
    texts = [HOW_JUDGED]
    texts += [f"Intervals: {'; '.join(named)}."] * bool(named)
    texts += [ONE_SEED] * any("bootstrap" in each and "seeds" not in each for each in named)
    texts += [f"{name}: {text}." for name, text in NO_INTERVALS.items() if name in methods]
    texts += [BY_ALL_REFERENCES] * any(record["measure"] != record["own_measure"] for record in ran)
    return texts + values.not_comparable(ran)

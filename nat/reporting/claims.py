"""Claims of a paper as checks over cells, judged in every run.

A claim of `config/papers/*.yaml` is one of five checks:

- `compare`: a place against another, or against a number: `above` (left - right > margin),
  `below` (< -margin), `not_above` (<= margin), `not_below` (>= -margin), `about` (at most the
  margin apart);
- `trend`: places in order, each compared with the one before it: `rising`, `falling` or `flat`;
- `largest`: of several places, the named one is the largest;
- `gains`: of what a system gains over another in several places, the named gain is the largest;
- `correlation`: Pearson's r of two measures over systems, compared with a number.

A claim is judged once per case, unless it need only hold in a majority of them. The numbers alone
decide between `holds` and `does not hold`; the interval shows how certain this is, so that a
difference within the noise of a small test set is recognised as such.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pandas as pd
from rich.console import Console
from rich.text import Text

from nat.artifacts import Artifact
from nat.configuration import Configuration
from nat.configuration import papers as models
from nat.errors import UserError
from nat.files import atomic_path, atomic_write_text
from nat.measures.correlation import pearson
from nat.measures.significance import Interval, interval_over_seeds
from nat.reporting import tables, values
from nat.reporting.cells import MEASURES, Cell, Measure, measured
from nat.reporting.claim_places import Finder, Source
from nat.reporting.differences import Difference, can_be_resampled, combined, difference
from nat.reporting.paper import QUOTED, Chosen, Entry
from nat.reporting.stated import deviations

DEVIATIONS = "Settings at the scale of the papers that differ from those stated"
HOLDS, FAILS = "holds", "does not hold"
SURE, UNSURE, UNKNOWN = "yes", "no", "unknown"
COLUMNS = ("claim", "case", "verdict", "ours", "95% interval", "paper")
NUMBERS = ("ours", "low", "high", "published", "margin")
STYLES = {HOLDS: "green", FAILS: "red", values.NOT_RUN: "yellow"}
CORRELATION = Measure("r", "", 3)
MAJORITY = "majority"
TREND = {"rising": "above", "falling": "below", "flat": "about"}


@dataclass(frozen=True)
class Region:
    """The differences at which a check holds."""

    low: float
    high: float
    closed: bool

    def holds(self, value: float) -> bool:
        """Whether a difference lies inside."""
        if self.closed:
            return self.low <= value <= self.high
        return self.low < value < self.high

    def sure(self, interval: Interval) -> bool:
        """Whether an interval lies completely on the side of its difference."""
        inside = self.holds(interval.low) and self.holds(interval.high)
        outside = interval.high < self.low or interval.low > self.high
        if not self.closed:
            outside = interval.high <= self.low or interval.low >= self.high
        return inside if self.holds(interval.difference) else outside


def region(relation: str, margin: float) -> Region:
    """The differences left - right at which a relation holds.

    Raises:
        ValueError: for an unknown relation.
    """
    infinity = math.inf
    found = {
        "above": Region(margin, infinity, closed=False),
        "below": Region(-infinity, -margin, closed=False),
        "not_above": Region(-infinity, margin, closed=True),
        "not_below": Region(-margin, infinity, closed=True),
        "about": Region(-margin, margin, closed=True),
    }
    if relation not in found:
        raise ValueError(f"'{relation}' is not one of {', '.join(found)}")
    return found[relation]


@dataclass(frozen=True)
class Check:
    """One judgement: a claim, the case it is judged on, and its places in order.

    Of `gains` the places are system and other system by turns, of `correlation` one measure and the
    other of each system, of a `majority` left and right of each case. `share` says that the margin
    is a share of the right side.
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
    """What the only place is compared with."""


def checks(configuration: Configuration, paper: str) -> list[Check]:
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
        found += [_majority(finder, judged)] if claim.majority else judged
    return found


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
    if kind in ("largest", "gains"):
        labels = [place.row for place in places[:: 2 if kind == "gains" else 1]]
        if relation not in labels:
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


def files(configuration: Configuration, paper: str) -> list[Artifact]:
    """What the judgements of a paper read: scores and, for intervals, their statistics."""
    found: list[Artifact] = []
    for check in checks(configuration, paper):
        for place in check.places:
            for cell in place.cells:
                found += cell.results
                resampled = check.kind != "correlation" and len(check.places) > 1
                if resampled and can_be_resampled(cell.measure):
                    found.append(cell.statistics)
    return list(dict.fromkeys(found))


def judge(configuration: Configuration, paper: str) -> tables.Records:
    """Judge every claim of a paper from the results below the root of the configuration.

    Returns:
        One record per judgement: the verdict, the difference it rests on with its interval, the
        numbers behind it, the paper's own difference, and the files.

    Raises:
        UserError: as `checks`, and for damaged results.
    """
    root = Path(configuration.root)
    return [
        {"paper": paper, "scale": configuration.scale} | _record(check, root)
        for check in checks(configuration, paper)
    ]


def _record(check: Check, root: Path) -> dict[str, Any]:
    found, missing = _differences(check, root)
    base = {
        "claim": check.claim,
        "case": check.case,
        "text": check.text,
        "source": check.source,
        "measure": check.places[0].measure,
        "corpus": " ".join(
            dict.fromkeys(cell.corpus for place in check.places for cell in place.cells)
        ),
        "stand_in": next((place.stand_in for place in check.places if place.stand_in), ""),
        "margin": check.margin,
        "check": check.kind,
        "published": values.rounded(_published(check)),
    }
    if missing:
        return base | {
            "verdict": values.NOT_RUN,
            "sure": UNKNOWN,
            "numbers": "",
            "ours": None,
            "low": None,
            "high": None,
            "interval": "",
            "reason": missing,
            "sources": "",
        }
    wanted, numbers, value, interval = _judged(check, found)
    needed = len(wanted) // 2 + 1 if check.kind == MAJORITY else len(wanted)
    held = sum(region_.holds(each.value) for region_, each in wanted) >= needed
    return base | {
        "verdict": HOLDS if held else FAILS,
        "sure": _sureness(wanted, held, needed),
        "numbers": numbers,
        "ours": values.rounded(value),
        "low": values.rounded(interval.low) if interval else None,
        "high": values.rounded(interval.high) if interval else None,
        "interval": interval.method if interval else "",
        "reason": "",
        "sources": " ".join(dict.fromkeys(path for each in found for path in each.sources)),
    }


@dataclass(frozen=True)
class _Judged:
    """A difference that a check looks at."""

    value: float
    interval: Interval | None


def _differences(check: Check, root: Path) -> tuple[list[Difference], str]:
    """The differences that a check needs, or why they are missing."""
    places = check.places
    if check.kind == "correlation":
        return _correlation(places, root)
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
        if isinstance(second, Entry) and isinstance(to, float) and first.stand_in:
            return [], f"a published value does not compare with {first.stand_in}"
        each = difference(first.cells, to, root)
        if each is None:
            return [], _why_not(first, second, root)
        found.append(each)
    return found, ""


def _correlation(places: Sequence[Entry], root: Path) -> tuple[list[Difference], str]:
    """Pearson's r of two measures over systems, from zero, on the seeds that all have."""
    numbers: list[dict[int, float]] = []
    for place in places:
        ran = [cell for cell in place.cells if (root / cell.score_path).exists()]
        found = {cell.seed: measured(cell, root) for cell in ran}
        numbers.append({seed: each.value for seed, each in found.items() if each is not None})
    seeds = sorted(set(numbers[0]).intersection(*numbers[1:]))
    if not seeds:
        without = next((place for place in places if values.read(place, root).value is None), None)
        return [], _why_not(places[0] if without is None else without, 0.0, root)
    try:
        by_seed = tuple(
            pearson([each[seed] for each in numbers[::2]], [each[seed] for each in numbers[1::2]])
            for seed in seeds
        )
    except ValueError as error:
        return [], str(error)
    mean = sum(by_seed) / len(by_seed)
    interval = interval_over_seeds(by_seed) if len(by_seed) > 1 else None
    sources = tuple(cell.score_path for place in places for cell in place.cells)
    return [Difference(mean, 0.0, by_seed, None, interval, None, sources)], ""


def _compared(place: Entry | float) -> Sequence[Cell] | float:
    """What is subtracted: cells, a number, or the published value of a system that is quoted."""
    if not isinstance(place, Entry):
        return place
    if place.reason == QUOTED and place.published is not None:
        return math.nan if place.published.value is None else place.published.value
    return place.cells


def _why_not(first: Entry, second: Entry | float, root: Path) -> str:
    for place in (first, second):
        if isinstance(place, Entry) and place.reason != QUOTED:
            value = values.read(place, root)
            if value.value is None:
                plain = value.reason in (values.NOT_RUN, values.NOT_AVAILABLE)
                return f"{place.row}: {value.reason}" if plain else value.reason
    return "no seed that both have"


def _number(check: Check) -> float:
    """What the only place of a check is compared with."""
    return 0.0 if check.number is None else float(check.number)


def _judged(
    check: Check, found: list[Difference]
) -> tuple[list[tuple[Region, _Judged]], str, float, Interval | None]:
    """The differences and their regions, the numbers as text, and the difference to show."""
    digits = MEASURES[check.places[0].measure].digits
    margin = check.margin
    labels = [place.row for place in check.places]
    if check.kind == "compare":
        only = found[0]
        name = labels[1] if len(labels) > 1 else ""
        right = f"{name} {only.right:.{digits}f}".strip()
        numbers = f"{labels[0]} {only.left:.{digits}f} against {right}"
        wanted = region(check.relation, margin * abs(only.right) if check.share else margin)
        return [(wanted, _Judged(only.value, only.interval))], numbers, only.value, only.interval
    if check.kind == MAJORITY:
        wanted = region(check.relation, margin)
        judged = [(wanted, _Judged(each.value, each.interval)) for each in found]
        held = sum(wanted.holds(each.value) for each in found)
        mean = sum(each.value for each in found) / len(found)
        interval = combined(found, lambda row: sum(row) / len(row))
        return judged, f"{held} of {len(found)} cases, mean", mean, interval
    if check.kind == "correlation":
        only = found[0]
        wanted = region(check.relation, margin)
        of, with_ = (MEASURES[place.measure].label for place in check.places[:2])
        numbers = f"r of {of} and {with_} over {len(labels) // 2} systems"
        return [(wanted, _Judged(only.value, only.interval))], numbers, only.value, only.interval
    if check.kind == "trend":
        wanted = region(TREND[check.relation], margin)
        *each_step, whole = found
        in_order = [whole.right, *(each.left for each in each_step)]
        judged = [(wanted, _Judged(each.value, each.interval)) for each in each_step]
        return judged, _list(labels, in_order, digits), whole.value, whole.interval
    above = region("above", margin)
    if check.kind == "largest":
        others = [label for label in labels if label != check.relation]
        numbers = _list(
            [check.relation, *others], [found[0].left, *(each.right for each in found)], digits
        )
        closest = min(found, key=lambda each: each.value)
        wanted_all = [(above, _Judged(each.value, each.interval)) for each in found]
        return wanted_all, numbers, closest.value, closest.interval
    names = labels[::2]
    named = names.index(check.relation)
    numbers = ", ".join(
        f"{name} {tables.signed(each.value, digits)}"
        for name, each in zip(names, found, strict=True)
    )
    margins = [
        _Judged(
            found[named].value - each.value,
            combined([found[named], each], lambda pair: pair[0] - pair[1]),
        )
        for number, each in enumerate(found)
        if number != named
    ]
    nearest = min(margins, key=lambda each: each.value)
    return [(above, each) for each in margins], numbers, nearest.value, nearest.interval


def _list(labels: Sequence[str], numbers: Sequence[float], digits: int) -> str:
    return ", ".join(
        f"{label} {value:.{digits}f}" for label, value in zip(labels, numbers, strict=True)
    )


def _sureness(wanted: list[tuple[Region, _Judged]], held: bool, needed: int) -> str:
    """Whether enough intervals lie on the side of the verdict to decide it."""
    relevant = [(each, found.interval) for each, found in wanted if each.holds(found.value) == held]
    if any(interval is None for _, interval in relevant):
        return UNKNOWN
    sure = sum(each.sure(interval) for each, interval in relevant if interval is not None)
    return SURE if sure >= (needed if held else len(wanted) - needed + 1) else UNSURE


def _published(check: Check) -> float | None:
    """The paper's own difference, if it prints the numbers behind its claim."""
    printed = [place.published.value if place.published else None for place in check.places]
    if check.kind == "compare":
        if len(printed) == 1:
            printed.append(_number(check))
        first, second = printed
        return None if first is None or second is None else first - second
    known = [value for value in printed if value is not None]
    if len(known) < len(printed):
        return None
    if check.kind == "trend":
        return known[-1] - known[0]
    if check.kind == "correlation":
        return pearson(known[::2], known[1::2])
    if check.kind == MAJORITY:
        return sum(known[::2]) / len(known[::2]) - sum(known[1::2]) / len(known[1::2])
    labels = [place.row for place in check.places]
    if check.kind == "gains":
        known = [first - second for first, second in zip(known[::2], known[1::2], strict=True)]
        labels = labels[::2]
    named = labels.index(check.relation)
    return known[named] - max(value for at, value in enumerate(known) if at != named)


def write(configuration: Configuration, paper: str, records: tables.Records, csv: Path) -> None:
    """Write `csv`, and Markdown beside it, each atomically."""
    atomic_write_text(csv.with_suffix(".md"), markdown(configuration, paper, records))
    with atomic_path(csv) as temporary:
        pd.DataFrame(records).to_csv(temporary, index=False, lineterminator="\n")


def read(csv: Path) -> tables.Records:
    """Read back judgements.

    Raises:
        UserError: if the file is missing or holds something else.
    """
    return tables.read_records(csv, NUMBERS)


def summary(records: tables.Records) -> str:
    """The number of judgements by verdict."""
    counts = {
        verdict: sum(record["verdict"] == verdict for record in records)
        for verdict in (HOLDS, FAILS, values.NOT_RUN)
    }
    return ", ".join(f"{count} {verdict}" for verdict, count in counts.items())


def lines(record: Mapping[str, Any]) -> dict[str, str]:
    """A judgement as the texts of `COLUMNS`."""
    measure = CORRELATION if record["check"] == "correlation" else MEASURES[record["measure"]]
    digits, unit = measure.digits, measure.unit
    verdict = str(record["verdict"])
    if verdict != values.NOT_RUN:
        verdict += {SURE: "", UNSURE: ", within noise", UNKNOWN: ", no interval"}[record["sure"]]
    ours = str(record["reason"])
    if record["verdict"] != values.NOT_RUN:
        ours = f"{record['numbers']}: {tables.signed(record['ours'], digits)} {unit}".strip()
    interval = paper = tables.NOTHING
    if tables.given(record["low"]):
        ends = (tables.signed(record[end], max(digits - 1, 0)) for end in ("low", "high"))
        interval = f"[{', '.join(ends)}]"
    if tables.given(record["published"]):
        paper = tables.signed(record["published"], digits)
    text = f"{record['text']} ({record['source']})"
    return dict(zip(COLUMNS, (text, record["case"], verdict, ours, interval, paper), strict=True))


def notes(records: tables.Records) -> list[str]:
    """Notes for the reader: the source of intervals, and what is not comparable."""
    ran = [record for record in records if record["verdict"] != values.NOT_RUN]
    methods = dict.fromkeys(record["interval"] for record in ran if record["interval"])
    found = [
        "The numbers decide the verdict. within noise: the 95% interval of the difference includes "
        "the opposite result."
    ]
    if methods:
        found.append(f"Intervals: {'; '.join(methods)}.")
    shown = values.stand_ins([{**record, "status": "run"} for record in ran])
    if shown:
        found.append(f"Not comparable with the paper: {shown}.")
    return found


def markdown(configuration: Configuration, paper: str, records: tables.Records) -> str:
    """The judgements in GitHub's Markdown, with their sum above and notes below."""
    title = configuration.paper(paper).title
    escaped = [
        [tables.escape_markdown(text) for text in lines(record).values()] for record in records
    ]
    # The claim is printed once, before the first of its cases.
    previous = ""
    for row in escaped:
        row[0], previous = ("" if row[0] == previous else row[0]), row[0]
    grid_text = pd.DataFrame(escaped).to_markdown(
        index=False, headers=list(COLUMNS), disable_numparse=True, colalign=["left"] * len(COLUMNS)
    )
    below = _listed(notes(records))
    settings = deviations(configuration, paper)
    if settings:
        below += f"\n\n**{DEVIATIONS}**\n{_listed(settings)}"
    return (
        f"**{title}, claims** (scale {configuration.scale}): {summary(records)}\n\n{grid_text}\n"
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
    console.print(Text(f"scale {configuration.scale}"))
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
            line.append(f" {texts['95% interval']}")
        if texts["paper"] != tables.NOTHING:
            line.append(f"; paper {texts['paper']}")
        console.print(line)
    for note in notes(records):
        console.print(Text(note, style="dim"))
    settings = deviations(configuration, paper)
    if settings:
        console.print(Text(f"{DEVIATIONS}:", style="dim"))
    for each in settings:
        console.print(Text(f"  {each}", style="dim"))

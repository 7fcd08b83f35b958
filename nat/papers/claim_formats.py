"""The judgements of a paper's claims as CSV and Markdown."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from nat.files import atomic_write_text
from nat.measures.known import DERIVED, MEASURES
from nat.measures.significance import POWER
from nat.papers import values
from nat.papers.judgements import COUNTED, NO_INTERVAL, UNJUDGED, WITHOUT_NUMBER, digits_of
from nat.papers.reader import NOT_RUN
from nat.papers.resolved import ResolvedClaims
from nat.papers.table_formats import (
    NOTHING,
    TableText,
    given,
    markdown,
    signed,
    write_records,
)
from nat.papers.values import Record
from nat.papers.verdicts import FAILS, HOLDS, UNDECIDED

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
AGAINST_ALL = (
    "The references of these test sets are all the correct translations of each sentence, so "
    "claims about BLEU are judged by BLEU against all of them, unless they state a number of "
    "points. The difference in the claim's measure, against one reference, stands beside."
)


def write(claims: ResolvedClaims, records: Sequence[Record], csv: Path) -> None:
    """Write `csv`, and Markdown beside it, each atomically."""
    rows = [list(lines(record).values()) for record in records]
    before = ["", *(row[0] for row in rows)]
    for row, previous in zip(rows, before, strict=False):
        row[0] *= row[0] != previous  # printed once, before the first of its cases
    table = TableText(
        title=f"{claims.title}, claims",
        origin=f"{claims.about}: {summary(records)}",
        records=records,
        columns=[(name, "") for name in COLUMNS],
        rows=rows,
        notes=notes(records) + [f"{DEVIATION}: {each}" for each in claims.deviations],
        prose=True,
    )
    atomic_write_text(csv.with_suffix(".md"), markdown(table))
    write_records(records, csv)


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
    if record["verdict"] not in WITHOUT_NUMBER:
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
    texts += [AGAINST_ALL] * any(record["measure"] != record["own_measure"] for record in ran)
    return texts + values.not_comparable(ran)

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
    escape_markdown,
    given,
    markdown_grid,
    signed,
    write_records,
)
from nat.papers.values import Record
from nat.papers.verdicts import FAILS, HOLDS, UNDECIDED, how_many

DEVIATIONS = "Settings at the scale of the papers that differ from those stated"
VERDICTS = (HOLDS, UNDECIDED, FAILS, UNJUDGED, NOT_RUN)
COLUMNS = (
    *("claim", "case", "verdict", "ours", "95% interval", "detectable"),
    *("in the claim's measure", "paper"),
)


def write(claims: ResolvedClaims, records: list[Record], csv: Path) -> None:
    """Write `csv`, and Markdown beside it, each atomically."""
    atomic_write_text(csv.with_suffix(".md"), markdown(claims, records))
    write_records(records, csv)


def summary(records: Sequence[Record]) -> str:
    """Count the judgements by verdict."""
    counts = Counter(record["verdict"] for record in records)
    return ", ".join(how_many(counts[each], each) for each in VERDICTS if each in counts)


def lines(record: Record) -> dict[str, str]:
    """Write a judgement as the texts of `COLUMNS`."""
    is_correlation = record["check"] == "correlation"
    measure = DERIVED["correlation"] if is_correlation else MEASURES[record["measure"]]
    digits, of_ends = measure.digits, measure.digits - 1
    if not is_correlation:
        digits, of_ends = digits_of(record["measure"])
    ours, interval = str(record["reason"]), NOTHING
    if record["verdict"] not in WITHOUT_NUMBER:
        several = not is_correlation and record["measure"] != record["own_measure"]
        unit = "" if is_correlation else f"{'multi-ref. ' * several}{measure.unit}"
        ours = f"{record['numbers']}: {signed(record['ours'], digits)} {unit}".strip()
        interval = str(record["interval"])
    if given(record["low"]):
        interval = _interval(record["low"], record["high"], of_ends)
    own = NOTHING
    if given(record["in_own_measure"]):
        its, its_ends = digits_of(record["own_measure"])
        ends = record["low_in_own_measure"], record["high_in_own_measure"]
        own = signed(record["in_own_measure"], its)
        own += f" {_interval(*ends, its_ends)}" if given(ends[0]) else ""
    of = "r" if is_correlation else "difference"
    bound = f"; {of} {record['bound']}" if record["bound"] else ""
    texts = (
        f"{record['text']} ({record['source']}{bound})",
        record["case"],
        record["verdict"],
        ours,
        interval,
        f"{record['detectable']:.{digits}f}" if given(record["detectable"]) else NOTHING,
        own,
        signed(record["published"], digits) if given(record["published"]) else NOTHING,
    )
    return dict(zip(COLUMNS, texts, strict=True))


def _interval(low: float, high: float, digits: int) -> str:
    return f"[{', '.join(signed(end, digits) for end in (low, high))}]"


def notes(records: Sequence[Record]) -> list[str]:
    """Make notes for the reader: how verdicts are made, and what is not comparable."""
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


def markdown(claims: ResolvedClaims, records: Sequence[Record]) -> str:
    """Write the judgements in GitHub's Markdown, below their number by verdict."""
    rows = [[escape_markdown(text) for text in lines(record).values()] for record in records]
    # The claim is printed once, before the first of its cases.
    previous = ""
    for row in rows:
        row[0], previous = ("" if row[0] == previous else row[0]), row[0]
    grid = markdown_grid(rows, list(COLUMNS), ["left"] * len(COLUMNS))
    below = "".join(f"\n- {escape_markdown(note)}" for note in notes(records))
    if claims.deviations:
        below += f"\n\n**{DEVIATIONS}**\n"
        below += "".join(f"\n- {escape_markdown(each)}" for each in claims.deviations)
    head = f"**{claims.title}, claims** ({claims.about}): {summary(records)}"
    return f"{head}\n\n{grid}\n{below}\n"

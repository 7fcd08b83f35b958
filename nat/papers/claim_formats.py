"""How the judgements of a paper's claims are written, read back and printed."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from rich.console import Console
from rich.text import Text

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
    read_back,
    read_records,
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
STYLES = {
    **{HOLDS: "green", FAILS: "red", UNDECIDED: "magenta"},
    **dict.fromkeys(WITHOUT_NUMBER, "yellow"),
}


def write(claims: ResolvedClaims, records: list[Record], csv: Path) -> None:
    """Write `csv`, and Markdown beside it, each atomically."""
    atomic_write_text(csv.with_suffix(".md"), markdown(claims, records))
    write_records(records, csv)


def read(csv: Path) -> list[Record]:
    """Read back judgements.

    Raises:
        UserError: if the file is missing or holds something else.
    """
    records = read_records(csv)
    with read_back(csv):
        for record in records:
            lines(record)
            VERDICTS.index(record["verdict"])
    return records


def summary(records: Sequence[Record]) -> str:
    """Count the judgements by verdict."""
    found = [record["verdict"] for record in records]
    return ", ".join(
        how_many(found.count(verdict), verdict) for verdict in VERDICTS if verdict in found
    )


def lines(record: Mapping[str, object] | Record) -> dict[str, str]:
    """Write a judgement as the texts of `COLUMNS`."""
    each: Record = dict(record)
    is_correlation = each["check"] == "correlation"
    measure = DERIVED["correlation"] if is_correlation else MEASURES[each["measure"]]
    digits, of_ends = measure.digits, measure.digits - 1
    if not is_correlation:
        digits, of_ends = digits_of(each["measure"])
    ours, interval = str(each["reason"]), NOTHING
    if each["verdict"] not in WITHOUT_NUMBER:
        several = not is_correlation and each["measure"] != each["own_measure"]
        unit = f"{'multi-ref. ' if several else ''}{measure.unit if not is_correlation else ''}"
        ours = f"{each['numbers']}: {signed(each['ours'], digits)} {unit}".strip()
        interval = str(each["interval"])
    if given(each["low"]):
        interval = _interval(each["low"], each["high"], of_ends)
    own = NOTHING
    if given(each["in_own_measure"]):
        its, its_ends = digits_of(each["own_measure"])
        ends = each["low_in_own_measure"], each["high_in_own_measure"]
        own = signed(each["in_own_measure"], its)
        own += f" {_interval(*ends, its_ends)}" if given(ends[0]) else ""
    of = "r" if is_correlation else "difference"
    said = f"; {of} {each['bound']}" if each.get("bound") else ""
    found = (
        f"{each['text']} ({each['source']}{said})",
        each["case"],
        each["verdict"],
        ours,
        interval,
        f"{each['detectable']:.{digits}f}" if given(each["detectable"]) else NOTHING,
        own,
        signed(each["published"], digits) if given(each["published"]) else NOTHING,
    )
    return dict(zip(COLUMNS, found, strict=True))


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
    below = _listed(notes(records))
    if claims.deviations:
        below += f"\n\n**{DEVIATIONS}**\n{_listed(claims.deviations)}"
    head = f"**{claims.title}, claims** ({claims.about}): {summary(records)}"
    return f"{head}\n\n{grid}\n{below}\n"


def _listed(texts: Sequence[str]) -> str:
    return "".join(f"\n- {escape_markdown(text)}" for text in texts)


def show(claims: ResolvedClaims, records: Sequence[Record], console: Console) -> None:
    """Print each judgement with its numbers."""
    console.print(Text(f"{claims.title}, claims: {summary(records)}", style="bold"))
    console.print(Text(claims.about))
    previous = ""
    for record in records:
        texts = lines(record)
        if texts["claim"] != previous:
            console.print(Text(texts["claim"]))
            previous = texts["claim"]
        line = Text("  ").append(texts["verdict"], style=STYLES[record["verdict"]])
        case = f" {texts['case']}:" if texts["case"] else ""
        line.append(f"{case} {texts['ours']}")
        if texts["95% interval"] != NOTHING:
            line.append(f", {texts['95% interval']}")
        for name in ("detectable", "in the claim's measure", "paper"):
            if texts[name] != NOTHING:
                line.append(f"; {name} {texts[name]}")
        console.print(line)
    below = [*notes(records), *([f"{DEVIATIONS}:"] if claims.deviations else [])]
    for text in [*below, *(f"  {each}" for each in claims.deviations)]:
        console.print(Text(text, style="dim"))

"""How the judgements of a paper's claims are written, read back and printed."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text

from nat.cells import values
from nat.cells.known_measures import MEASURES, Measure
from nat.claims.claims import COUNTED, NO_INTERVAL, UNJUDGED, WITHOUT_NUMBER, digits_of
from nat.configuration import Configuration
from nat.files import atomic_write_text
from nat.measures.significance import POWER
from nat.papers.settings import deviations
from nat.papers.verdicts import FAILS, HOLDS, UNDECIDED, how_many
from nat.tables import tables

DEVIATIONS = "Settings at the scale of the papers that differ from those stated"
VERDICTS = (HOLDS, UNDECIDED, FAILS, UNJUDGED, values.NOT_RUN)
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


def write(configuration: Configuration, paper: str, records: tables.Records, csv: Path) -> None:
    """Write `csv`, and Markdown beside it, each atomically."""
    atomic_write_text(csv.with_suffix(".md"), markdown(configuration, paper, records))
    tables.write_records(records, csv)


def read(csv: Path) -> tables.Records:
    """Read back judgements.

    Raises:
        UserError: if the file is missing or holds something else.
    """
    records = tables.read_records(csv, NUMBERS)
    with tables.read_back(csv):
        for record in records:
            lines(record)
            VERDICTS.index(record["verdict"])
    return records


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
        digits, of_ends = digits_of(record["measure"])
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
        its, its_ends = digits_of(record["own_measure"])
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

"""Tables of numbers, or of texts of analyses, with what the paper prints beside ours."""

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

from nat.data.flags import counted
from nat.errors import UserError, told_of
from nat.measures.known import LATENCY, measure_of
from nat.measures.latency_setting import OUT_OF_MEMORY
from nat.measures.results import COLLAPSED, NOT_AVAILABLE
from nat.measures.significance import LEVEL
from nat.papers import values
from nat.papers.cells import QUOTED, ResolvedPart, Shown
from nat.papers.differences import difference
from nat.papers.reader import NOT_RUN, Reader
from nat.papers.table_formats import (
    DAGGER,
    DIFFERENCE,
    DOUBLE_DAGGER,
    NOTHING,
    OURS,
    PUBLISHED,
    STAR,
    TableText,
    given,
    signed,
    superscript,
)
from nat.papers.values import Record

INTERVAL = "[low, high]"
TESTED = ("sacrebleu", "tokenised_bleu", "multi_reference_bleu", "multi_reference_tokenised_bleu")
TEXT = "text"
"""Key of the text of a record, where a table shows no numbers."""


def make(table: ResolvedPart, root: Path) -> TableText:
    """Make a table: a row for each row, with parts of a column where something is published.

    Damaged results are UserErrors, and so is a text that an analysis does not have.
    """
    records, described = _records(table, root), table.described
    at = {(each["row"], each["column"]): each for each in records}
    columns: list[tuple[str, str]] = []
    unavailable = []
    for label in (label for label, line in table.columns.items() if not line.hidden):
        of_column = [each for each in records if each["column"] == label]
        statuses = {each["status"] for each in of_column}
        parts = [key for key in (PUBLISHED, DIFFERENCE) if any(given(e[key]) for e in of_column)]
        if NOT_AVAILABLE in statuses and "run" not in statuses:
            unavailable.append(label)
        else:
            columns += [(label, part) for part in ([OURS, *parts] if parts else [""])]
    intervals = [label for label, line in table.columns.items() if line.interval]
    compares = any(given(each["published"]) for each in records)
    marks: dict[tuple[str, str], str] = defaultdict(str)
    for number, note in enumerate(described.footnotes, 1):
        marks[note.row or "", note.column or ""] += superscript(number)
    rows: list[list[str]] = []
    behind: list[list[Record | None]] = []
    groups = {each["row"]: each["group"] for each in records[::-1]}
    before = ""
    for label in dict.fromkeys(row for row, _ in at):
        texts = [groups[label] if groups[label] != before else "", label + marks[label, ""]]
        for column, part in columns:
            text = _text(at[label, column], part, column in intervals, compares)
            # a footnote on a cell is about its published value, or ours where a column has none
            marked = part == (PUBLISHED if (column, PUBLISHED) in columns else part)
            texts.append(text + marks[label, column] * marked)
        rows.append(texts)
        behind.append([at[label, name] if part in (OURS, "") else None for name, part in columns])
        before = groups[label]
    labels = [("", ""), ("system", "")]
    if not any(groups.values()):
        labels, rows = labels[1:], [row[1:] for row in rows]
    signed_by = (each for each in records if each["signature"])
    signatures = (f"{measure_of(e['measure']).label}: {e['signature']}" for e in signed_by)
    notes = [*_notes(records, unavailable, intervals, compares), *described.notes]
    notes += [f"{superscript(number)} {e.text}" for number, e in enumerate(described.footnotes, 1)]
    return TableText(
        title=table.title,
        origin=table.origin,
        records=records,
        columns=[*labels, *((name + marks["", name], part) for name, part in columns)],
        rows=rows,
        notes=[*notes, *dict.fromkeys(signatures)],
        prose=described.kind == "texts",
        behind=behind,
    )


def _records(table: ResolvedPart, root: Path) -> list[Record]:
    """The records of a table: with texts, or with the tests of rows against their baselines."""
    reader, numbers = Reader(root), table.numbers
    own = {(each.first.row, each.first.column): Shown(each.own) for each in numbers}
    records = []
    for each, made in zip(numbers, values.records(table.scale, numbers, reader), strict=True):
        if table.described.kind == "texts":
            with told_of(f"config/papers/{table.paper}.yaml: tables.{table.number}: "):
                more = _analysed(each, table.keys, reader)
        else:
            cell = each.first
            baseline = own.get((cell.baseline, cell.column)) if made["status"] == "run" else None
            more = {"baseline": cell.baseline, **_tested(Shown(each.own), baseline, reader)}
        records.append({"paper": table.paper, "table": table.number, **made, **more})
    return records


def _tested(own: Shown, baseline: Shown | None, reader: Reader) -> Record:
    """The test of a number against that of a baseline, as far as both are of one text."""
    test = None
    if baseline is not None and own.first.measure in TESTED:
        texts = {(cell.corpus, cell.split) for cell in own.own + baseline.own}
        test = difference(own, baseline, reader) if len(texts) == 1 else None
    interval = test.interval() if test else None
    return {
        "baseline_difference": values.rounded(test.value) if test and interval else None,
        "p_value": values.rounded(test.p_value) if test else None,
        "test": interval.method if interval else "",
    }


def _analysed(of: Shown, keys: dict[str, dict[str, str]], reader: Reader) -> Record:
    """The text that an analysis found, in place of a number."""
    said, found = reader.analysed(of, keys.get(of.label, {}))
    value = found.get(TEXT, [])
    parts = value if isinstance(value, list) else [value]
    if any(isinstance(part, list | dict) for part in parts):
        several = "is no text but has parts; name one of them in the key of the row"
        raise UserError(f"'{keys[of.label][TEXT]}' {several}")
    text = f"{value:.1f}" if isinstance(value, float) else " ".join(map(str, parts))
    return {"difference": None, "ours": None, TEXT: text, **said}


def _text(record: Record, part: str, interval: bool, compares: bool) -> str:
    """Write a cell in a part of its column."""
    measure = measure_of(record["measure"])
    digits, is_over = measure.digits, bool(record.get("over")) and not measure.relative
    is_difference = is_over or record.get("derived") == "difference"
    if part == PUBLISHED:
        value = record["published"]
        if isinstance(value, float) and is_difference:
            after_point = len(record["printed"].partition(".")[2])
            return signed(value, after_point)
        return str(record["printed"] or NOTHING)
    mark = DAGGER if compares and record["stand_in"] else ""
    mark += DOUBLE_DAGGER if record.get(values.UNSTEADY) else ""
    if part == DIFFERENCE:
        difference_ = record["difference"]
        return signed(difference_, digits) + mark if given(difference_) else NOTHING
    if record["status"] == OUT_OF_MEMORY:
        return f"N/A ({OUT_OF_MEMORY})"
    if record["status"] != "run":  # why something was not run is said in a note
        known = record["status"] in (QUOTED, NOT_AVAILABLE)
        return NOTHING if known else str(record["status"]).partition(":")[0]
    if TEXT in record:
        return str(record[TEXT]) + mark
    ours = record["ours"]
    text = signed(ours, digits) if is_difference else f"{ours:.{digits}f}"
    if given(record["spread"]):
        text += f" ± {record['spread']:.{digits}f}"
    collapsed = COLLAPSED in str(record["remark"])  # a significant difference means little
    if given(record["p_value"]) and record["p_value"] < LEVEL and not collapsed:
        text += STAR
    text += mark
    return f"{text} {ends(record)}" if interval and given(record["low"]) else text


def ends(record: Record) -> str:
    """Write the interval of a record."""
    digits = digits_of_ends(record["measure"])
    return f"[{', '.join(f'{record[end]:z.{digits}f}' for end in ('low', 'high'))}]"


def digits_of_ends(measure: str) -> int:
    """Digits of the ends of an interval.

    That of a score is not known more finely than by one digit less than the score; that of a time
    or a speed-up may be narrower than the last digit.
    """
    known = measure_of(measure)
    return known.digits if known.source == LATENCY else max(known.digits - 1, 0)


def _notes(
    records: Sequence[Record], unavailable: Sequence[str], intervals: Sequence[str], compares: bool
) -> list[str]:
    ran = [each for each in records if each["status"] == "run"]
    notes = []
    if compares and values.stand_ins(records):
        notes.append(f"{DAGGER} {values.stand_ins(records)}.")
    with_interval = [each for each in ran if each["column"] in intervals and given(each["low"])]
    notes += values.what_intervals_are(INTERVAL, with_interval)
    spread = [each for each in ran if given(each["spread"])]
    if spread:
        notes.append(f"±: standard deviation over {values.what_spreads_are_over(spread)}.")
    if tested := [each for each in ran if given(each.get("p_value"))]:
        how = "; ".join(dict.fromkeys(each["test"] for each in tested))
        pairs = dict.fromkeys(f"{each['row']} against {each['baseline']}" for each in tested)
        notes.append(f"{STAR} p < {LEVEL:g} ({how}). Tested: {'; '.join(pairs)}.")
        if any(COLLAPSED in str(each["remark"]) for each in tested):
            notes[-1] += f" Systems with {COLLAPSED} have no {STAR}."
    notes += _definitions(ran) + values.notes_on_times(ran)
    if any(each.get(values.UNSTEADY) for each in ran):
        notes.append(f"{DOUBLE_DAGGER} {values.NOT_STEADY}.")
    missing = f"{NOT_RUN}: "
    reasons = [
        (each, each["status"].removeprefix(missing))
        for each in records
        if each["status"].startswith(missing) and each["column"] not in unavailable
    ]
    notes += [f"{NOT_RUN.capitalize()}: {each}" for each in values.with_places(reasons, records)]
    notes += [f"{label}: not available on this corpus." for label in unavailable]
    remarks = [
        (each, f"not decoded, scored as empty: {counted(each['not_decoded'], 'sentence')}")
        for each in ran
        if each["not_decoded"]
    ]
    remarks += [(each, each["remark"]) for each in records if each["remark"]]
    scored = [each for each in ran if values.PERFECT in each]
    remarks += [(each, each[values.PERFECT]) for each in scored]
    return notes + values.with_places(remarks, records)


def _definitions(ran: Sequence[Record]) -> list[str]:
    """Define the measures of a table; of a relative one with the row that all are relative to."""
    notes = []
    for name in dict.fromkeys(each["measure"] for each in ran):
        measure = measure_of(name)
        text = measure.definition
        others = {each.get("over") for each in ran if each["measure"] == name}
        rows = {each["row"] for each in ran if each["system"] in others}
        if measure.relative and len(others) == len(rows) == 1:
            text = text.replace("the other system", *rows)
        unit = f"in {measure.unit}, " if measure.unit in ("bits", "nats") else ""
        notes += [f"{measure.label}: {unit}{text}."] * bool(text)
    return notes

"""Tables of numbers: a pivot of the cells of a table, with what the paper prints beside ours."""

from collections.abc import Sequence
from pathlib import Path

from nat.measures.known import LATENCY, measure_of
from nat.measures.latency_setting import OUT_OF_MEMORY
from nat.measures.significance import LEVEL
from nat.papers import published, values
from nat.papers.cells import QUOTED, shown
from nat.papers.checks import Compared
from nat.papers.differences import difference
from nat.papers.reader import NOT_RUN, Reader
from nat.papers.resolved import ResolvedPart
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
    p_value,
    signed,
    superscript,
    with_groups,
)
from nat.papers.values import NOT_AVAILABLE, Record

INTERVAL = "[low, high]"
TESTED = (
    *("sacrebleu", "tokenised_bleu"),
    *("multi_reference_bleu", "multi_reference_tokenised_bleu"),
)


def make(table: ResolvedPart, root: Path) -> TableText:
    """Make a table: a row for each row, with parts of a column where something is published.

    Raises:
        UserError: for damaged results.
    """
    records, footnotes = _records(table, root), table.described.footnotes
    intervals = [label for label, line in table.columns.items() if line.interval]
    at = {(each["row"], each["column"]): each for each in records}
    unavailable = []
    columns: list[tuple[str, str]] = []
    for label in dict.fromkeys(label for _, label in at):
        of_column = [each for each in records if each["column"] == label]
        statuses = {each["status"] for each in of_column}
        if table.columns[label].hidden:
            continue
        if NOT_AVAILABLE in statuses and "run" not in statuses:
            unavailable.append(label)
            continue
        parts = [""]
        if any(given(each["published"]) for each in of_column):
            parts = [OURS, PUBLISHED]
            parts += [DIFFERENCE] * any(given(each["difference"]) for each in of_column)
        columns += [(label, part) for part in parts]
    compares = any(given(each["published"]) for each in records)
    marks: dict[tuple[str, str], str] = {}
    for number, each in enumerate(footnotes, 1):
        place = each.row or "", each.column or ""
        marks[place] = marks.get(place, "") + superscript(number)
    lines: dict[str, list[str]] = {}
    for row in dict.fromkeys(row for row, _ in at):
        lines[row] = [row + marks.get((row, ""), "")]
        for label, part in columns:
            text = _text(at[row, label], part, label in intervals, compares)
            # a footnote on a cell is about its published value, or ours where a column has none
            marked = part == (PUBLISHED if (label, PUBLISHED) in columns else part)
            lines[row].append(text + marks.get((row, label), "") * marked)
    groups = {row: at[row, columns[0][0]]["group"] if columns else "" for row in lines}
    grouped, rows_ = with_groups(list(groups.values()), list(lines.values()))
    notes = [*_notes(records, unavailable, intervals, compares), *table.described.notes]
    notes += [f"{superscript(number)} {each.text}" for number, each in enumerate(footnotes, 1)]
    signed_by = (each for each in records if each["signature"])
    signatures = (f"{measure_of(e['measure']).label}: {e['signature']}" for e in signed_by)
    headings = [(label + marks.get(("", label), ""), part) for label, part in columns]
    return TableText(
        title=table.title,
        origin=table.origin,
        records=records,
        columns=[*grouped, ("system", ""), *headings],
        rows=rows_,
        notes=notes,
        signatures=list(dict.fromkeys(signatures)),
        names=("",) * len(grouped) + ("system", *(label for label, _ in columns)),
    )


def _records(table: ResolvedPart, root: Path) -> list[Record]:
    """The records of a table, with the tests of rows against their baselines."""
    reader, groups = Reader(root), shown(table.cells)
    by_cell = {(own[0].row, own[0].column): own for own, _ in groups.values()}
    plain, records = values.records(table.scale, groups, reader), []
    for (own, _), each in zip(groups.values(), plain, strict=True):
        baseline = by_cell.get((own[0].baseline, own[0].column), [])
        texts = {(cell.corpus, cell.split) for cell in (*own, *baseline)}
        test = None
        if baseline and each["status"] == "run" and own[0].measure in TESTED and len(texts) == 1:
            test = difference(Compared(tuple(own)), Compared(tuple(baseline)), reader)
        interval = test.interval if test else None
        of_test = test.estimate if test and interval else None
        records.append(
            {
                "paper": table.paper,
                "table": table.number,
                **each,
                "baseline": own[0].baseline,
                "baseline_difference": values.rounded(of_test.value) if of_test else None,
                "p_value": values.rounded(of_test.p_value) if of_test else None,
                "test": interval.method if interval else "",
            }
        )
    return records


def _text(record: Record, part: str, interval: bool, compares: bool) -> str:
    """Write a cell in a part of its column."""
    measure = measure_of(record["measure"])
    digits, is_over = measure.digits, bool(record.get("over")) and not measure.relative
    is_difference = is_over or record.get("derived") == "difference"
    if part == PUBLISHED:
        value = record["published"]
        if value is None or value == "":
            return NOTHING
        if isinstance(value, str) or not is_difference:
            return str(record["printed"])
        return signed(value, max(published.decimals(record["printed"]), 0))
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
    ours = record["ours"]
    text = signed(ours, digits) if is_difference else f"{ours:.{digits}f}"
    if given(record["spread"]):
        text += f" ± {record['spread']:.{digits}f}"
    if given(record["p_value"]) and record["p_value"] < LEVEL:
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
    notes += _tests(ran) + _definitions(ran) + values.notes_on_times(ran)
    if any(each.get(values.UNSTEADY) for each in ran):
        notes.append(f"{DOUBLE_DAGGER} {values.NOT_STEADY}.")
    missing = [
        (each, each["status"].removeprefix(f"{NOT_RUN}: "))
        for each in records
        if each["status"].startswith(f"{NOT_RUN}: ") and each["column"] not in unavailable
    ]
    notes += [f"{NOT_RUN.capitalize()}: {each}" for each in values.with_places(missing, records)]
    notes += [f"{label}: not available on this corpus." for label in unavailable]
    lost = [
        (each, f"{each['not_decoded']} sentences were not decoded, scored as empty")
        for each in ran
        if each["not_decoded"]
    ]
    remarks = [(each, each["remark"]) for each in records if each["remark"]]
    return notes + values.with_places(lost, records) + values.with_places(remarks, records)


def _tests(ran: Sequence[Record]) -> list[str]:
    """A note on all comparisons with baselines, by one BLEU; the CSV has the test of each."""
    with_test = [each for each in ran if given(each["p_value"])]
    measures = {each["measure"] for each in with_test}
    tested = next((measure for measure in TESTED if measure in measures), "")
    with_test = [each for each in with_test if each["measure"] == tested]
    if not with_test:
        return []
    pairs: dict[str, list[str]] = {}
    for each in with_test:
        gain = signed(each["baseline_difference"], measure_of(tested).digits)
        text = f"{each['column']} {gain} ({p_value(each['p_value'])})"
        pairs.setdefault(f"{each['row']} against {each['baseline']}", []).append(text)
    all_ = "; ".join(f"{pair}: {', '.join(texts)}" for pair, texts in pairs.items())
    how = "; ".join(dict.fromkeys(each["test"] for each in with_test))
    return [f"{STAR} p < {LEVEL:g} against the baseline ({how}). All comparisons: {all_}."]


def _definitions(ran: Sequence[Record]) -> list[str]:
    """Define the measures of a table, under the names that its reader sees.

    These are the headings of the columns, unless they name something else, such as a task.
    """
    columns: dict[str, set[str]] = {}
    for each in ran:
        columns.setdefault(each["column"], set()).add(each["measure"])
    measures = dict.fromkeys(each["measure"] for each in ran)
    headed = len(measures) > 1 and all(len(of_column) == 1 for of_column in columns.values())
    named: dict[str, list[str]] = {}
    for measure in measures:
        known = measure_of(measure)
        names = [known.label]
        if headed:
            names = [column for column, of_column in columns.items() if of_column == {measure}]
        text = known.definition
        if known.unit in ("bits", "nats") and not any(known.unit in name for name in names):
            text = f"in {known.unit}, {text}"
        others = {each.get("over") for each in ran if each["measure"] == measure}
        rows = {each["row"] for each in ran if each["system"] in others}
        if known.relative and len(others) == len(rows) == 1:
            text = text.replace("the other system", *rows)
        if known.definition:
            named.setdefault(text, []).extend(names)
    return [f"{'; '.join(dict.fromkeys(names))}: {text}." for text, names in named.items()]

"""Tables of numbers: a pivot of the cells of a table, with what the paper prints beside ours."""

from collections.abc import Sequence
from pathlib import Path

from nat.measures.known import LATENCY, measure_of
from nat.measures.latency_setting import OUT_OF_MEMORY
from nat.measures.significance import LEVEL
from nat.papers import published, values
from nat.papers.cells import QUOTED, Cell, shown
from nat.papers.checks import Compared
from nat.papers.differences import Difference, difference
from nat.papers.reader import NOT_RUN, Reader
from nat.papers.resolved import ResolvedTable
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
)
from nat.papers.values import NOT_AVAILABLE, Record

INTERVAL = "[low, high]"
TESTED = (
    *("sacrebleu", "tokenised_bleu"),
    *("multi_reference_bleu", "multi_reference_tokenised_bleu"),
)


def records(table: ResolvedTable, root: Path) -> list[Record]:
    """Fill a table from the results below a folder.

    Raises:
        UserError: for damaged results.
    """
    reader = Reader(root)
    groups = shown(table.cells)
    by_cell = {(own[0].row, own[0].column): own for own, _ in groups.values()}
    found = values.records(table.scale, groups, reader)
    for each, (own, _) in zip(found, groups.values(), strict=True):
        baseline = by_cell.get((own[0].baseline, own[0].column))
        test = None
        if baseline and each["status"] == "run":
            test = _test(own, baseline, reader)
        each |= {
            "baseline": own[0].baseline,
            "baseline_difference": values.rounded(test.value) if test else None,
            "p_value": values.rounded(test.estimate.p_value) if test else None,
            "test": test.interval.method if test and test.interval else "",
        }
    return [{"paper": table.paper, "table": table.number} | each for each in found]


def _test(own: Sequence[Cell], baseline: Sequence[Cell], reader: Reader) -> Difference | None:
    """Compare cells with their baseline on the seeds that both have; `None` if none has."""
    tested = own[0].measure in TESTED and own[0].source is not None
    if not tested or len({(cell.corpus, cell.split) for cell in (*own, *baseline)}) > 1:
        return None
    found = difference(Compared(tuple(own)), Compared(tuple(baseline)), reader)
    return None if found is None or found.interval is None else found


def lay_out(table: ResolvedTable, found: list[Record]) -> TableText:
    """Arrange records for reading: one row per row, sub-columns where something is published."""
    intervals = {*table.intervals}
    compares = any(given(each["published"]) for each in found)
    at = {(each["row"], each["column"]): each for each in found}
    rows = list(dict.fromkeys(each["row"] for each in found))
    labels: list[str] = []
    unavailable: list[str] = []
    for label in dict.fromkeys(each["column"] for each in found):
        statuses = {each["status"] for each in found if each["column"] == label}
        nowhere = NOT_AVAILABLE in statuses and "run" not in statuses
        if label not in table.hidden:
            (unavailable if nowhere else labels).append(label)
    columns: list[tuple[str, str]] = []
    for label in labels:
        quoted = any(given(at[row, label]["published"]) for row in rows)
        compared = any(given(at[row, label]["difference"]) for row in rows)
        parts = [OURS, PUBLISHED] + [DIFFERENCE] * compared if quoted else [""]
        columns += [(label, part) for part in parts]
    grouped = any(each["group"] for each in found)
    texts, last = [], None
    for row in rows:
        group = at[row, labels[0]]["group"] if labels else ""
        start = ["" if group == last else group, row] if grouped else [row]
        last = group
        texts.append(
            start
            + [_text(at[row, label], part, label in intervals, compares) for label, part in columns]
        )
    columns = [("", "")] * grouped + [("system", ""), *columns]
    marked, texts = _marked(columns, texts, table.footnotes)
    notes = _notes(found, unavailable, intervals, compares)
    notes += [*table.notes]
    notes += [
        f"{superscript(count)} {text}" for count, (_, _, text) in enumerate(table.footnotes, 1)
    ]
    signatures = dict.fromkeys(
        f"{measure_of(each['measure']).label}: {each['signature']}"
        for each in found
        if each["signature"]
    )
    return TableText(
        title=table.title,
        origin=table.origin,
        records=found,
        columns=marked,
        rows=texts,
        notes=notes,
        signatures=list(signatures),
        names=tuple(name for name, _ in columns),
    )


def _marked(
    columns: list[tuple[str, str]], rows: list[list[str]], footnotes: list[tuple[str, str, str]]
) -> tuple[list[tuple[str, str]], list[list[str]]]:
    """Put the number of each footnote behind what it is about.

    That is a heading, a row's label, or a cell: its published value, or ours where it has none.
    """
    columns, rows = list(columns), [list(row) for row in rows]
    label_at = columns.index(("system", ""))
    labels = [row[label_at] for row in rows]
    headings = ["" if at <= label_at else name for at, (name, _) in enumerate(columns)]
    for number, (label, column, _) in enumerate(footnotes, 1):
        mark = superscript(number)
        places = [at for at, heading in enumerate(headings) if column and heading == column]
        if not label:
            for at in places:
                columns[at] = columns[at][0] + mark, columns[at][1]
            continue
        row = rows[labels.index(label)]
        if not column:
            row[label_at] += mark
            continue
        printed = [at for at in places if columns[at][1] == PUBLISHED]
        for at in (printed or places)[:1]:
            row[at] += mark
    return columns, rows


def _text(found: Record, part: str, interval: bool, compares: bool) -> str:
    digits = measure_of(found["measure"]).digits
    if part == PUBLISHED:
        value = found["published"]
        if not given(value) or value == "":
            return NOTHING
        if isinstance(value, str) or not _is_difference(found):
            return str(found["printed"])
        return signed(value, max(published.decimals(found["printed"]), 0))
    mark = DAGGER if compares and found["stand_in"] else ""
    mark += DOUBLE_DAGGER if found.get(values.UNSTEADY) else ""
    if part == DIFFERENCE:
        return signed(found["difference"], digits) + mark if given(found["difference"]) else NOTHING
    if found["status"] != "run":
        if found["status"] == OUT_OF_MEMORY:
            return f"N/A ({OUT_OF_MEMORY})"
        # why something was not run is said in a note
        known = found["status"] in (QUOTED, NOT_AVAILABLE)
        return NOTHING if known else str(found["status"]).partition(":")[0]
    text = f"{found['ours']:.{digits}f}"
    if _is_difference(found):
        text = signed(found["ours"], digits)
    if given(found["spread"]):
        text += f" ± {found['spread']:.{digits}f}"
    if given(found["p_value"]) and found["p_value"] < LEVEL:
        text += STAR
    text += mark
    if interval and given(found["low"]):
        text += f" {ends(found)}"
    return text


def ends(found: Record) -> str:
    """Write the interval of a record."""
    digits = digits_of_ends(found["measure"])
    return f"[{', '.join(f'{found[end]:z.{digits}f}' for end in ('low', 'high'))}]"


def digits_of_ends(measure: str) -> int:
    """Digits of the ends of an interval.

    That of a score is not known more finely than by one digit less than the score; that of a time
    or a speed-up may be narrower than the last digit.
    """
    known = measure_of(measure)
    return known.digits if known.source == LATENCY else max(known.digits - 1, 0)


def _is_difference(found: Record) -> bool:
    """Whether a cell shows what one system or measure has more than another."""
    over = found.get("over")
    relative = measure_of(found["measure"]).relative
    return found.get("derived") == "difference" or (
        isinstance(over, str) and over > "" and not relative
    )


def _notes(
    found: Sequence[Record], unavailable: Sequence[str], intervals: set[str], compares: bool
) -> list[str]:
    ran = [each for each in found if each["status"] == "run"]
    notes = []
    if compares and values.stand_ins(found):
        notes.append(f"{DAGGER} {values.stand_ins(found)}.")
    with_interval = [each for each in ran if each["column"] in intervals and given(each["low"])]
    notes += values.what_intervals_are(INTERVAL, with_interval)
    spread = [each for each in ran if given(each["spread"])]
    if spread:
        notes.append(f"±: standard deviation over {values.what_spreads_are_over(spread)}.")
    notes += _tests(ran) + _definitions(ran) + values.notes_on_times(ran)
    if any(each.get(values.UNSTEADY) for each in ran):
        notes.append(f"{DOUBLE_DAGGER} {values.NOT_STEADY}.")
    why = []
    for each in found:
        state, _, reason = str(each["status"]).partition(": ")
        if state == NOT_RUN and reason and each["column"] not in unavailable:
            why.append((each, reason))
    notes += [f"{NOT_RUN.capitalize()}: {each}" for each in values.with_places(why, found)]
    notes += [f"{label}: not available on this corpus." for label in unavailable]
    lost = [
        (each, f"{int(each['not_decoded'])} sentences were not decoded, scored as empty")
        for each in ran
        if each["not_decoded"]
    ]
    remarks = [(each, each["remark"]) for each in found if each["remark"]]
    return notes + values.with_places(lost, found) + values.with_places(remarks, found)


def _tests(ran: Sequence[Record]) -> list[str]:
    """A note on all comparisons with baselines, by one BLEU; the CSV has the test of each."""
    with_test = [each for each in ran if given(each["p_value"])]
    measures = {each["measure"] for each in with_test}
    tested = next((measure for measure in TESTED if measure in measures), "")
    tests: dict[str, list[str]] = {}
    methods: dict[str, None] = {}
    for each in with_test:
        if each["measure"] == tested:
            methods[each["test"]] = None
            gain = signed(each["baseline_difference"], measure_of(tested).digits)
            tests.setdefault(f"{each['row']} against {each['baseline']}", []).append(
                f"{each['column']} {gain} ({p_value(each['p_value'])})"
            )
    if not tests:
        return []
    each_ = "; ".join(f"{pair}: {', '.join(found)}" for pair, found in tests.items())
    how = "; ".join(methods)
    return [f"{STAR} p < {LEVEL:g} against the baseline ({how}). All comparisons: {each_}."]


def _definitions(ran: Sequence[Record]) -> list[str]:
    """What the measures of a table are, under the names that its reader sees.

    These are the headings of the columns, unless they name something else, such as a task.
    """
    by_column: dict[str, set[str]] = {}
    for each in ran:
        by_column.setdefault(each["column"], set()).add(each["measure"])
    measures = dict.fromkeys(each["measure"] for each in ran)
    headed = len(measures) > 1 and all(len(found) == 1 for found in by_column.values())
    named: dict[str, dict[str, None]] = {}
    for measure in measures:
        known = measure_of(measure)
        if not known.definition:
            continue
        names = [known.label]
        if headed:
            names = [column for column, found in by_column.items() if found == {measure}]
        text = known.definition
        if known.unit in ("bits", "nats") and not any(known.unit in name for name in names):
            text = f"in {known.unit}, {text}"
        others = {each.get("over") for each in ran if each["measure"] == measure}
        if known.relative and len(others) == 1:
            rows = {each["row"] for each in ran if each["system"] in others}
            text = text.replace("the other system", *rows) if len(rows) == 1 else text
        named.setdefault(text, {}).update(dict.fromkeys(names))
    return [f"{'; '.join(names)}: {text}." for text, names in named.items()]

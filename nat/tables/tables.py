"""Tables as CSV, Markdown and LaTeX.

The CSV is long: one line per cell, with everything that is known of it, down to the files that the
number comes from. The other two are for reading: ours, published and the difference side by side.
Both are made from the same records, so they cannot disagree.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import rich.box
import rich.table
from rich.console import Console
from rich.text import Text

from nat.cells import times, values
from nat.cells.differences import Difference, difference
from nat.cells.entry import QUOTED, Entry, measure_of
from nat.cells.entry import Records as Records
from nat.cells.known_measures import LATENCY
from nat.cells.paper import entries
from nat.cells.resolver import describe
from nat.cells.table_places import columns_with
from nat.checksums import remedy, verified
from nat.configuration import Configuration, fingerprint
from nat.errors import UserError
from nat.files import atomic_path, atomic_write_text
from nat.measures.latency_setting import OUT_OF_MEMORY
from nat.measures.significance import LEVEL
from nat.published import published

if TYPE_CHECKING:
    import pandas as pd

OURS, PUBLISHED, DIFFERENCE = "ours", "published", "difference"
DAGGER, STAR, NOTHING, MINUS = "†", "*", "–", "\N{MINUS SIGN}"
INTERVAL = "[low, high]"
SUPERSCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹"
WIDEST = 14
"""Columns of numbers that stand beside each other at most in LaTeX."""
NO_WIDER = r"\ifdim\width>\linewidth\linewidth\else\width\fi"
"""The width of a table in LaTeX: its own, but at most that of a line."""
NUMBERS = (
    *("x", "ours", "spread", "low", "high", "published", "difference"),
    *("baseline_difference", "p_value", "not_decoded"),
)
TESTED = (
    *("sacrebleu", "tokenised_bleu"),
    *("multi_reference_bleu", "multi_reference_tokenised_bleu"),
)


@dataclass(frozen=True)
class Table:
    """A table that was filled.

    `records` holds one record per cell (`values.record` and the paired test); `cells` is the table
    as it is read: one list of texts per row, below the pairs (column, ours | published |
    difference) of `columns`, of which the first are the row's group and label. `signatures` are
    sacreBLEU's, one per measure. `prose` says that the columns hold sentences, not numbers. `names`
    are the headings of columns of numbers without the marks of footnotes.
    """

    headline: values.Headline
    records: Records
    columns: list[tuple[str, str]]
    cells: list[list[str]]
    notes: list[str]
    signatures: list[str]
    prose: bool = False
    names: tuple[str, ...] = ()

    @property
    def labels(self) -> int:
        """How many columns hold the labels of rows: their group, if they have any, and name."""
        return 2 if self.columns[0][0] == "" else 1


def make(configuration: Configuration, paper: str, number: str) -> Table:
    """Fill a table from the score files below the root of the configuration.

    Raises:
        UserError: as `values.entries`, and for damaged score files.
    """
    root = Path(configuration.root)
    found_places = entries(configuration, paper, "table", number)
    places = {(entry.row, entry.column): entry for entry in found_places}
    records = []
    for entry in found_places:
        found: dict[str, Any] = {"paper": paper, "table": number}
        found |= values.measured_record(configuration.scale, entry, root)
        tested = places.get((entry.baseline, entry.column))
        test = _test(tested, entry, root) if tested else None
        found |= {
            "baseline": entry.baseline,
            "baseline_difference": values.rounded(test.value) if test else None,
            "p_value": values.rounded(test.estimate.p_value) if test else None,
            "test": test.interval.method if test and test.interval else "",
            "made_from": made_from(entry),
        }
        records.append(found)
    values.derive(records, found_places, root)
    return lay_out(configuration, paper, number, records)


def made_from(entry: Entry) -> str:
    """A fingerprint of what the record of a place rests on besides results."""
    return fingerprint(repr(entry))


def _test(baseline: Entry, entry: Entry, root: Path) -> Difference | None:
    """Compare a place with its baseline on the seeds that both have; `None` if none has."""
    if entry.measure not in TESTED:
        return None
    if len({(cell.corpus, cell.split) for cell in (*entry.cells, *baseline.cells)}) > 1:
        return None
    found = difference(entry.cells, baseline.cells, root)
    return None if found is None or found.interval is None else found


def lay_out(configuration: Configuration, paper: str, number: str, records: Records) -> Table:
    """Arrange records for reading: one row per row, sub-columns where something is published."""
    description = describe(configuration, paper, "table", number)
    intervals = columns_with(configuration, paper, number, "interval")
    left_out = columns_with(configuration, paper, number, "hidden")
    compares = published.exists(Path(configuration.root), paper)
    places = {(record["row"], record["column"]): record for record in records}
    rows = _rows(records)
    labels: list[str] = []
    hidden: list[str] = []
    for label in dict.fromkeys(record["column"] for record in records):
        if label in left_out:
            continue
        statuses = {record["status"] for record in records if record["column"] == label}
        unavailable = values.NOT_AVAILABLE in statuses and "run" not in statuses
        (hidden if unavailable else labels).append(label)
    columns: list[tuple[str, str]] = []
    for label in labels:
        quoted = any(given(places[row, label]["published"]) for row in rows)
        compared = any(given(places[row, label]["difference"]) for row in rows)
        parts = [OURS, PUBLISHED] + [DIFFERENCE] * compared if quoted else [""]
        columns += [(label, part) for part in parts]
    grouped = any(record["group"] for record in records)
    cells, last = [], None
    for row in rows:
        group = places[row, labels[0]]["group"] if labels else ""
        start = ["" if group == last else group, row] if grouped else [row]
        last = group
        cells.append(
            start
            + [
                _text(places[row, label], part, label in intervals, compares)
                for label, part in columns
            ]
        )
    names = [("", ""), ("system", "")] if grouped else [("system", "")]
    columns = names + columns
    footnotes = [(each.row or "", each.column or "", each.text) for each in description.footnotes]
    of_columns = tuple(name for name, _ in columns)
    columns, cells = _marked(columns, cells, footnotes)
    notes = _notes(records, hidden, intervals, compares, description.notes)
    notes += [f"{superscript(count)} {text}" for count, (_, _, text) in enumerate(footnotes, 1)]
    headline = values.headline(configuration, paper, "table", number)
    signatures = dict.fromkeys(
        f"{measure_of(record['measure']).label}: {record['signature']}"
        for record in records
        if record["signature"]
    )
    return Table(headline, records, columns, cells, notes, list(signatures), names=of_columns)


def _marked(
    columns: list[tuple[str, str]], cells: list[list[str]], footnotes: list[tuple[str, str, str]]
) -> tuple[list[tuple[str, str]], list[list[str]]]:
    """Put the number of each footnote behind what it is about.

    That is a heading, a row's label, or a place: its published value, or ours where it has none.
    """
    columns, cells = list(columns), [list(row) for row in cells]
    label_at = columns.index(("system", ""))
    labels = [row[label_at] for row in cells]
    headings = ["" if at <= label_at else name for at, (name, _) in enumerate(columns)]
    for number, (label, column, _) in enumerate(footnotes, 1):
        mark = superscript(number)
        places = [at for at, heading in enumerate(headings) if column and heading == column]
        if not label:
            for at in places:
                columns[at] = columns[at][0] + mark, columns[at][1]
            continue
        row = cells[labels.index(label)]
        if not column:
            row[label_at] += mark
            continue
        published = [at for at in places if columns[at][1] == PUBLISHED]
        for at in (published or places)[:1]:
            row[at] += mark
    return columns, cells


def superscript(number: int) -> str:
    """A number as the mark of a footnote."""
    return "".join(SUPERSCRIPTS[int(digit)] for digit in str(number))


def _text(record: dict[str, Any], part: str, interval: bool, compares: bool) -> str:
    digits = measure_of(record["measure"]).digits
    if part == PUBLISHED:
        value = record["published"]
        if not given(value):
            return NOTHING
        if isinstance(value, str) or not _is_difference(record):
            return str(record["printed"])
        return signed(value, max(published.decimals(record["printed"]), 0))
    mark = DAGGER if compares and record["stand_in"] else ""
    mark += times.DOUBLE_DAGGER if record.get(times.UNSTEADY) else ""
    if part == DIFFERENCE:
        return (
            signed(record["difference"], digits) + mark if given(record["difference"]) else NOTHING
        )
    if record["status"] != "run":
        if record["status"] == OUT_OF_MEMORY:
            return f"N/A ({OUT_OF_MEMORY})"
        known = (QUOTED, values.NOT_AVAILABLE)
        # why something was not run is said in a note
        return NOTHING if record["status"] in known else str(record["status"]).partition(":")[0]
    text = f"{record['ours']:.{digits}f}"
    if _is_difference(record):
        text = signed(record["ours"], digits)
    if given(record["spread"]):
        text += f" ± {record['spread']:.{digits}f}"
    if given(record["p_value"]) and record["p_value"] < LEVEL:
        text += STAR
    text += mark
    if interval and given(record["low"]):
        ends = (f"{record[end]:z.{digits_of_ends(record['measure'])}f}" for end in ("low", "high"))
        text += f" [{', '.join(ends)}]"
    return text


def digits_of_ends(measure: str) -> int:
    """Digits of the ends of an interval.

    That of a score is not known more finely than by one digit less than the score; that of a time
    or a speed-up may be narrower than the last digit.
    """
    known = measure_of(measure)
    return known.digits if known.source == LATENCY else max(known.digits - 1, 0)


def _is_difference(record: dict[str, Any]) -> bool:
    """Whether a place shows what one system or measure has more than another."""
    over = record.get("over")
    relative = measure_of(record["measure"]).relative
    return record.get("derived") == "difference" or (
        isinstance(over, str) and over > "" and not relative
    )


def p_value(value: float) -> str:
    """A p-value as text; one that rounds to zero is not zero."""
    return f"p = {value:.3f}" if value >= 0.001 else "p < 0.001"


def signed(value: float, digits: int) -> str:
    """A difference with its sign; no sign before zero."""
    text = f"{value:+.{digits}f}"
    return text[1:] if float(text) == 0 else text.replace("-", MINUS)


def _notes(
    records: Records,
    hidden: Sequence[str],
    intervals: set[str],
    compares: bool,
    own: Sequence[str],
) -> list[str]:
    notes = []
    ran = [record for record in records if record["status"] == "run"]
    if compares and values.stand_ins(records):
        notes.append(f"{DAGGER} {values.stand_ins(records)}.")
    notes += values.what_intervals_are(
        INTERVAL,
        [each for each in ran if each["column"] in intervals and given(each["low"])],
    )
    spread = [record for record in ran if given(record["spread"])]
    if spread:
        notes.append(f"±: standard deviation over {values.what_spreads_are_over(spread)}.")
    measures = {record["measure"] for record in ran if given(record["p_value"])}
    tested = next((measure for measure in TESTED if measure in measures), "")
    tests: dict[tuple[str, str], list[str]] = {}
    methods: dict[str, None] = {}
    for record in ran:
        # One BLEU is enough here; the CSV has the test of both.
        if given(record["p_value"]) and record["measure"] == tested:
            digits = measure_of(record["measure"]).digits
            methods[record["test"]] = None
            tests.setdefault((record["row"], record["baseline"]), []).append(
                f"{record['column']} {signed(record['baseline_difference'], digits)} "
                f"({p_value(record['p_value'])})"
            )
    if tests:
        notes.append(
            f"{STAR} p < {LEVEL:g} against the baseline ({'; '.join(methods)}). All comparisons: "
            + "; ".join(
                f"{row} against {baseline}: {', '.join(found)}"
                for (row, baseline), found in tests.items()
            )
            + "."
        )
    notes += _definitions(ran)
    notes += times.notes(ran) + times.note_on_mark(ran)
    notes += _why_not_run([each for each in records if each["column"] not in hidden])
    notes += [f"{label}: not available on this corpus." for label in hidden]
    lost = [
        (record, f"{int(record['not_decoded'])} sentences were not decoded, scored as empty")
        for record in ran
        if record["not_decoded"]
    ]
    remarks = [(record, record["remark"]) for record in records if record["remark"]]
    notes += values.with_places(lost, records) + values.with_places(remarks, records)
    return notes + list(own)


def _definitions(ran: Records) -> list[str]:
    """What the measures of a table are, under the names that its reader sees.

    These are the headings of the columns, unless they name something else, such as a task.
    """
    by_column = {
        column: {record["measure"] for record in ran if record["column"] == column}
        for column in dict.fromkeys(record["column"] for record in ran)
    }
    measures = dict.fromkeys(record["measure"] for record in ran)
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
        others = {record.get("over") for record in ran if record["measure"] == measure}
        if known.relative and len(others) == 1:
            rows = {record["row"] for record in ran if record["system"] in others}
            text = text.replace("the other system", *rows) if len(rows) == 1 else text
        named.setdefault(text, {}).update(dict.fromkeys(names))
    return [f"{'; '.join(names)}: {text}." for text, names in named.items()]


def _why_not_run(records: Records) -> list[str]:
    found = []
    for record in records:
        state, _, why = str(record["status"]).partition(": ")
        if state == values.NOT_RUN and why:
            found.append((record, why))
    return [f"{values.NOT_RUN.capitalize()}: {each}" for each in values.with_places(found, records)]


def _rows(records: Records) -> list[str]:
    return list(dict.fromkeys(record["row"] for record in records))


def given(value: Any) -> bool:
    """Whether a number of a record is there: neither `None` nor, from a file, not a number."""
    return value is not None and value == value


def write(table: Table, csv: Path) -> None:
    """Write `csv`, and Markdown and LaTeX beside it; each appears whole or not at all."""
    atomic_write_text(csv.with_suffix(".md"), markdown(table))
    atomic_write_text(csv.with_suffix(".tex"), latex(table))
    write_records(table.records, csv)


def write_records(records: Records, csv: Path) -> None:
    """Write the records of a table, as `read_records` reads them."""
    import pandas as pd  # takes as long as everything else that most programs import

    with atomic_path(csv) as temporary:
        pd.DataFrame(records).to_csv(temporary, index=False, lineterminator="\n")


def read_records(csv: Path, numbers: Sequence[str] = NUMBERS) -> Records:
    """Read back the records of a table, in which the columns `numbers` hold numbers.

    Raises:
        UserError: if the file is missing or is not such a table.
    """
    import pandas as pd

    try:
        with read_back(csv):
            frame = pd.read_csv(verified(csv), dtype=str, keep_default_na=False)
            for name in numbers:
                frame[name] = _read_back(frame[name])
    except FileNotFoundError as error:
        raise UserError(f"{csv} does not exist; run the workflow first") from error
    return [{str(key): value for key, value in row.items()} for row in frame.to_dict("records")]


@contextmanager
def read_back(csv: Path) -> Iterator[None]:
    """What uses the records of a file, which may be incomplete or of another version.

    Raises:
        UserError: if something is missing in them, or is not what it should be.
    """
    try:
        yield
    except (LookupError, TypeError, ValueError) as error:
        raise UserError(f"{csv} is not a table of this version; {remedy(csv)}") from error


def _read_back(column: "pd.Series") -> "pd.Series":
    """Numbers of a CSV; of published values those that are none stay as they are printed."""
    import pandas as pd

    if column.name != PUBLISHED:
        return pd.to_numeric(column)
    numbers = pd.to_numeric(column, errors="coerce").astype(object)
    return numbers.where(numbers.notna() | (column == ""), column)


def heading(column: tuple[str, str]) -> str:
    """A column's heading on one line."""
    return ": ".join(part for part in column if part)


def markdown(table: Table) -> str:
    """The table in GitHub's Markdown, with its title above and its notes below."""
    side = "left" if table.prose else "right"
    align = ["left"] * table.labels + [side] * (len(table.columns) - table.labels)
    headers = [escape_markdown(heading(column)) for column in table.columns]
    grid_text = markdown_grid(_map(table.cells, escape_markdown), headers, align)
    notes = "".join(f"\n- {escape_markdown(note)}" for note in table.notes + table.signatures)
    title, origin = table.headline.title, table.headline.origin
    return f"**{escape_markdown(title)}** ({escape_markdown(origin)})\n\n{grid_text}\n{notes}\n"


def markdown_grid(
    rows: Sequence[Sequence[str]], headers: Sequence[str], align: Sequence[str]
) -> str:
    """Rows of texts in GitHub's Markdown; `align` has left or right for each column."""
    import pandas as pd

    found: str = pd.DataFrame(rows).to_markdown(
        index=False, headers=headers, disable_numparse=True, colalign=align
    )
    return found


def latex(table: Table) -> str:
    """The table for LaTeX; needs the packages booktabs and graphicx.

    A table of many columns is broken into several below each other, and what is wider than a line
    is made as wide.
    """
    grids = "\n\\medskip\n\n".join(_grid(table, columns) for columns in _blocks(table))
    caption = _escape_latex(f"{table.headline.title} ({table.headline.origin}).")
    text = f"\\begin{{table}}[t]\n\\centering\n\\caption{{{caption}}}\n{grids}"
    notes = r" \\ ".join(_escape_latex(note) for note in table.notes + table.signatures)
    if notes:
        # signatures of sacreBLEU have no space to break a line at
        notes = notes.replace("|", r"|\allowbreak{}")
        notes = f"\\footnotesize\\raggedright {notes}"
        text += f"\n\\smallskip\n\\parbox{{\\linewidth}}{{{notes}}}\n"
    return f"{text}\\end{{table}}\n"


def _blocks(table: Table) -> list[list[int]]:
    """Numbers of the columns that stand beside each other; those of a heading stay together."""
    labels = table.labels
    blocks: list[list[int]] = [[]]
    places = range(labels, len(table.columns))
    for _, same in groupby(places, key=lambda place: table.columns[place][0]):
        together = list(same)
        if blocks[-1] and len(blocks[-1]) + len(together) > WIDEST:
            blocks.append([])
        blocks[-1] += together
    return [[*range(labels), *block] for block in blocks]


def _grid(table: Table, places: Sequence[int]) -> str:
    """Some columns of a table as a tabular of LaTeX, with the rows that have something there."""
    import pandas as pd

    labels, numbers = table.labels, len(places) - table.labels
    columns = [table.columns[place] for place in places]
    rows, group = [], ""
    for row in table.cells:
        group = row[0] or group
        shown = [row[place] for place in places]
        broken = len(places) < len(table.columns)
        if broken and all(text == NOTHING for text in shown[labels:]):
            continue  # its numbers are in another of the grids
        if labels > 1 and group:
            shown[0], group = group, ""
        rows.append(shown)
    frame = pd.DataFrame(_map(rows, _escape_latex), columns=range(len(places)))
    escaped = [(_escape_latex(column), _escape_latex(part)) for column, part in columns]
    split = any(part for _, part in columns)
    frame.columns = (
        pd.MultiIndex.from_tuples(escaped) if split else pd.Index([name for name, _ in escaped])
    )
    grid = frame.style.hide(axis="index").to_latex(
        column_format="l" * labels + _column_format(table) * numbers,
        hrules=True,
        multicol_align="c",
    )
    return f"\\resizebox{{{NO_WIDER}}}{{!}}{{%\n{grid}}}\n"


def _column_format(table: Table) -> str:
    if not table.prose:
        return "r"
    share = 0.7 / max(len(table.columns) - table.labels, 1)
    return f"p{{{share:.2f}\\linewidth}}"


def show(table: Table, console: Console) -> None:
    """Print the table; where the terminal is too narrow, lines wrap rather than lose a column."""
    console.print(Text(table.headline.title, style="bold"))
    console.print(Text(table.headline.origin))
    if table.prose:
        _show_prose(table, console)
    else:
        _show_grid(table, console)
    for note in table.notes:
        console.print(Text(note, style="dim"))


def _show_prose(table: Table, console: Console) -> None:
    labels = table.labels
    for row in table.cells:
        if labels > 1 and row[0]:
            console.print()
            console.print(Text(row[0], style="bold"))
        for sentence in row[labels:]:
            label = Text(f"{row[labels - 1]}: ", style="cyan")
            console.print(label.append(sentence, style="default"))
    console.print()


def _show_grid(table: Table, console: Console) -> None:
    # Groups stand above their rows, so that 80 columns hold a wide table.
    drawn = rich.table.Table(box=rich.box.SIMPLE_HEAD, padding=0, pad_edge=False)
    labels = table.labels
    drawn.add_column("", no_wrap=True)
    for position, column in enumerate(table.columns[labels:], labels):
        texts = [*heading(column).split(), *(row[position] for row in table.cells)]
        drawn.add_column(heading(column), justify="right", width=max(map(len, texts)))
    for row in table.cells:
        if labels > 1 and row[0]:
            drawn.add_row(Text(row[0], style="bold"))
        drawn.add_row(Text("  " * (labels - 1) + row[labels - 1]), *map(Text, row[labels:]))
    needed = console.measure(drawn, options=console.options.update(width=1000)).maximum
    width = console.width
    console.width = max(width, needed)
    console.print(drawn, crop=False)
    console.width = width


def _map(cells: list[list[str]], escape: Callable[[str], str]) -> list[list[str]]:
    return [[escape(cell) for cell in row] for row in cells]


def escape_markdown(text: str) -> str:
    """A text that Markdown shows as it is, inside a table too."""
    for character in "\\|*_<":
        text = text.replace(character, f"\\{character}")
    return text


LATEX = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": "$<$",
    ">": "$>$",
    "±": r"$\pm$",
    "≈": r"$\approx$",
    DAGGER: r"$^\dagger$",
    times.DOUBLE_DAGGER: r"$^\ddagger$",
    STAR: r"$^*$",
    NOTHING: "--",
    MINUS: "$-$",
    "→": r"$\rightarrow$",
    "⇒": r"$\Rightarrow$",
    "α": r"$\alpha$",
    "Δ": r"$\Delta$",
    **{digit: f"$^{value}$" for value, digit in enumerate(SUPERSCRIPTS)},
    # A bracket at the start of a row would be taken for the optional argument of the row before.
    "[": "{[}",
    "]": "{]}",
}


def _escape_latex(text: str) -> str:
    return "".join(LATEX.get(character, character) for character in text)

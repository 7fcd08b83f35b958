"""Tables as CSV, Markdown and LaTeX.

The CSV is long: one line per cell, with everything that is known of it, down to the files that the
number comes from. The other two are for reading: ours, published and the difference side by side.
Both are made from the same records, so they cannot disagree.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import rich.box
import rich.table
from rich.console import Console
from rich.text import Text
from sacrebleu.metrics import BLEU

from nat.configuration import Configuration
from nat.data.bpe import merge
from nat.data.text import read_lines
from nat.data.translations import read_in_order
from nat.errors import UserError
from nat.files import atomic_path, atomic_write_text
from nat.measures import bleu
from nat.measures.significance import Comparison, paired_bootstrap
from nat.reporting import grid

LEVEL = 0.05
OURS, PUBLISHED, DIFFERENCE = "ours", "published", "difference"
DAGGER, STAR, NOTHING, MINUS = "†", "*", "–", "\N{MINUS SIGN}"
NUMBERS = (
    *("x", "ours", "spread", "low", "high", "published", "difference"),
    *("baseline_difference", "p_value", "not_decoded"),
)
TESTED = ("sacrebleu", "tokenised_bleu")

Records = list[dict[str, Any]]


@dataclass(frozen=True)
class Table:
    """A table that was filled.

    `records` holds one record per cell (`grid.record` and the paired test); `cells` is the table
    as it is read: one list of texts per row, below the pairs (column, ours | published |
    difference) of `columns`, of which the first are the row's group and label. `signatures` are
    sacreBLEU's, one per measure.
    """

    headline: grid.Headline
    records: Records
    columns: list[tuple[str, str]]
    cells: list[list[str]]
    notes: list[str]
    signatures: list[str]


def make(configuration: Configuration, paper: str, number: str) -> Table:
    """Fill a table from the score files below the root of the configuration.

    Raises:
        UserError: as `grid.entries`, and for damaged score files.
    """
    root = Path(configuration.root)
    entries = grid.entries(configuration, paper, "table", number)
    places = {(entry.row, entry.column): entry for entry in entries}
    records = []
    for entry in entries:
        found: dict[str, Any] = {"paper": paper, "table": number}
        found |= grid.record(configuration.scale, entry, grid.read(entry, root))
        tested = places.get((entry.baseline, entry.column))
        test = _test(tested, entry, root) if tested else None
        found |= {
            "baseline": entry.baseline,
            "baseline_difference": test.difference if test else None,
            "p_value": test.p_value if test else None,
            "test": f"paired bootstrap, {test.signature}" if test else "",
        }
        records.append(found)
    return lay_out(configuration, paper, number, records)


def _test(baseline: grid.Entry, entry: grid.Entry, root: Path) -> Comparison | None:
    """Compare a place with its baseline on the first seed that both have; `None` if none has."""
    if entry.measure not in TESTED:
        return None
    others = {cell.seed: cell for cell in baseline.cells}
    for cell in entry.cells:
        other = others.get(cell.seed)
        if other is None or cell.corpus != other.corpus or cell.split != other.split:
            continue
        if all((root / path).exists() for path in _needed(cell, other)):
            first, metric = _translations(other, root)
            second, _ = _translations(cell, root)
            return paired_bootstrap(first, second, metric)
    return None


def _needed(*cells: grid.Cell) -> list[str]:
    return [path for cell in cells for path in (cell.score_path, cell.hypotheses_path)]


def _translations(cell: grid.Cell, root: Path) -> tuple[list[str], BLEU]:
    """The translations of a cell and the metric that holds the references it was scored with."""
    score = grid.read_score(root / cell.score_path)
    rows = list(read_in_order(root / cell.hypotheses_path))
    side = "reference" if cell.measure == "sacrebleu" else "tokens"
    try:
        reference = root / score["files"][side]["path"]
        lowercase = bool(score["lowercase"])
    except (KeyError, TypeError) as error:
        raise UserError(
            f"{root / cell.score_path} is not a score file; remove it and run again"
        ) from error
    references = [[line] for line in read_lines(reference)]
    if len(references) != len(rows):
        raise UserError(
            f"{root / cell.hypotheses_path} has {len(rows)} translations but {reference} has "
            f"{len(references)} sentences; remove {root / cell.score_path} and run again"
        )
    if cell.measure == "sacrebleu":
        return [row["text"] for row in rows], bleu.sacrebleu_metric(references, lowercase)
    return [merge(row["tokens"]) for row in rows], bleu.tokenised_metric(references)


def lay_out(configuration: Configuration, paper: str, number: str, records: Records) -> Table:
    """Arrange records for reading: one row per row, sub-columns where something is published."""
    description = grid.describe(configuration, paper, "table", number)
    intervals = {
        grid.column_label(column) for column in description["columns"] if column.get("interval")
    }
    compares = "published" in configuration.paper(paper)
    places = {(record["row"], record["column"]): record for record in records}
    rows = list(dict.fromkeys(record["row"] for record in records))
    labels: list[str] = []
    hidden: list[str] = []
    for label in dict.fromkeys(record["column"] for record in records):
        statuses = {record["status"] for record in records if record["column"] == label}
        unavailable = grid.NOT_AVAILABLE in statuses and "run" not in statuses
        (hidden if unavailable else labels).append(label)
    columns: list[tuple[str, str]] = []
    for label in labels:
        quoted = any(_is(places[row, label]["published"]) for row in rows)
        parts = (OURS, PUBLISHED, DIFFERENCE) if quoted else ("",)
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
    notes = _notes(records, hidden, intervals, compares, description.get("notes") or [])
    headline = grid.headline(configuration, paper, "table", number)
    signatures = dict.fromkeys(
        f"{grid.MEASURES[record['measure']].label}: {record['signature']}"
        for record in records
        if record["signature"]
    )
    return Table(headline, records, names + columns, cells, notes, list(signatures))


def _text(record: dict[str, Any], part: str, interval: bool, compares: bool) -> str:
    digits = grid.MEASURES[record["measure"]].digits
    if part == PUBLISHED:
        return f"{record['published']:.{digits}f}" if _is(record["published"]) else NOTHING
    mark = DAGGER if compares and record["stand_in"] else ""
    if part == DIFFERENCE:
        return signed(record["difference"], digits) + mark if _is(record["difference"]) else NOTHING
    if record["status"] != "run":
        return grid.NOT_RUN if record["status"] == grid.NOT_RUN else NOTHING
    text = f"{record['ours']:.{digits}f}"
    if _is(record["spread"]):
        text += f" ± {record['spread']:.{digits}f}"
    if _is(record["p_value"]) and record["p_value"] < LEVEL:
        text += STAR
    text += mark
    if interval and _is(record["low"]):
        # An interval is not known more finely than by one digit less than its score.
        text += f" [{record['low']:.{digits - 1}f}, {record['high']:.{digits - 1}f}]"
    return text


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
    if compares and grid.stand_ins(records):
        notes.append(f"{DAGGER} {grid.stand_ins(records)}.")
    if any(record["column"] in intervals and _is(record["low"]) for record in ran):
        notes.append(
            f"[low, high]: 95% bootstrap interval over test sentences "
            f"({bleu.BOOTSTRAP_SAMPLES:,} samples)."
        )
    if any(_is(record["spread"]) for record in ran):
        seeds = max((record["seeds"] for record in ran), key=len)
        notes.append(f"±: standard deviation over seeds {', '.join(seeds.split())}.")
    measures = {record["measure"] for record in ran if _is(record["p_value"])}
    tested = next((measure for measure in TESTED if measure in measures), "")
    tests: dict[tuple[str, str], list[str]] = {}
    for record in ran:
        # One BLEU is enough here; the CSV has the test of both.
        if _is(record["p_value"]) and record["measure"] == tested:
            digits = grid.MEASURES[record["measure"]].digits
            tests.setdefault((record["row"], record["baseline"]), []).append(
                f"{record['column']} {signed(record['baseline_difference'], digits)} "
                f"(p = {record['p_value']:.3f})"
            )
    if tests:
        notes.append(
            f"{STAR} differs from its baseline (p < {LEVEL:g}, paired bootstrap, "
            f"{bleu.BOOTSTRAP_SAMPLES:,} samples). "
            + "; ".join(
                f"{row} against {baseline}: {', '.join(found)}"
                for (row, baseline), found in tests.items()
            )
            + "."
        )
    for measure in dict.fromkeys(record["measure"] for record in ran):
        known = grid.MEASURES[measure]
        if known.definition:
            notes.append(f"{known.label}: {known.definition}.")
    notes += [f"{label}: not available on this corpus." for label in hidden]
    lost = {
        record["row"]: f"{int(record['not_decoded'])} sentences were not decoded, scored as empty"
        for record in ran
        if record["not_decoded"]
    }
    partial = {record["row"]: record["remark"] for record in records if record["remark"]}
    notes += [f"{row}: {text}." for found in (lost, partial) for row, text in found.items()]
    return notes + list(own)


def _is(value: Any) -> bool:
    return value is not None and value == value


def write(table: Table, csv: Path) -> None:
    """Write `csv`, and Markdown and LaTeX beside it; each appears whole or not at all."""
    atomic_write_text(csv.with_suffix(".md"), markdown(table))
    atomic_write_text(csv.with_suffix(".tex"), latex(table))
    with atomic_path(csv) as temporary:
        pd.DataFrame(table.records).to_csv(temporary, index=False, lineterminator="\n")


def read_records(csv: Path) -> Records:
    """Read back the records of a table.

    Raises:
        UserError: if the file is missing or is not such a table.
    """
    try:
        frame = pd.read_csv(csv, dtype=str, keep_default_na=False)
        for name in NUMBERS:
            frame[name] = pd.to_numeric(frame[name])
    except FileNotFoundError as error:
        raise UserError(f"{csv} does not exist; run the workflow first") from error
    except (KeyError, ValueError) as error:
        raise UserError(f"{csv} is not a table of this version; remove it and run again") from error
    return [{str(key): value for key, value in row.items()} for row in frame.to_dict("records")]


def heading(column: tuple[str, str]) -> str:
    """A column's heading on one line."""
    return ": ".join(part for part in column if part)


def markdown(table: Table) -> str:
    """The table in GitHub's Markdown, with its title above and its notes below."""
    frame = pd.DataFrame(_map(table.cells, _escape_markdown))
    align = ["left"] * _labels(table) + ["right"] * (len(table.columns) - _labels(table))
    grid_text = frame.to_markdown(
        index=False,
        headers=[_escape_markdown(heading(column)) for column in table.columns],
        disable_numparse=True,
        colalign=align,
    )
    notes = "".join(f"\n- {_escape_markdown(note)}" for note in table.notes + table.signatures)
    title, origin = table.headline.title, table.headline.origin
    return f"**{_escape_markdown(title)}** ({_escape_markdown(origin)})\n\n{grid_text}\n{notes}\n"


def latex(table: Table) -> str:
    """The table for LaTeX; needs the packages booktabs and multirow (`multicolumn` headings)."""
    labels = _labels(table)
    frame = pd.DataFrame(_map(table.cells, _escape_latex))
    split = any(part for _, part in table.columns)
    frame.columns = (
        pd.MultiIndex.from_tuples(
            [(_escape_latex(column), _escape_latex(part)) for column, part in table.columns]
        )
        if split
        else pd.Index([_escape_latex(column) for column, _ in table.columns])
    )
    text = frame.style.hide(axis="index").to_latex(
        column_format="l" * labels + "r" * (len(table.columns) - labels),
        position="t",
        position_float="centering",
        hrules=True,
        multicol_align="c",
        caption=_escape_latex(f"{table.headline.title} ({table.headline.origin})."),
    )
    notes = r" \\ ".join(_escape_latex(note) for note in table.notes + table.signatures)
    if notes:
        end = r"\end{tabular}"
        text = text.replace(
            end, f"{end}\n\n\\smallskip\n\\parbox{{\\linewidth}}{{\\footnotesize {notes}}}"
        )
    return text


def show(table: Table, console: Console) -> None:
    """Print the table; where the terminal is too narrow, lines wrap rather than lose a column."""
    # Groups stand above their rows, so that 80 columns hold a wide table.
    drawn = rich.table.Table(box=rich.box.SIMPLE_HEAD, padding=0, pad_edge=False)
    labels = _labels(table)
    drawn.add_column("", no_wrap=True)
    for position, column in enumerate(table.columns[labels:], labels):
        texts = [*heading(column).split(), *(row[position] for row in table.cells)]
        drawn.add_column(heading(column), justify="right", width=max(map(len, texts)))
    for row in table.cells:
        if labels > 1 and row[0]:
            drawn.add_row(Text(row[0], style="bold"))
        drawn.add_row(Text("  " * (labels - 1) + row[labels - 1]), *map(Text, row[labels:]))
    needed = console.measure(drawn, options=console.options.update(width=1000)).maximum
    console.print(Text(table.headline.title, style="bold"))
    console.print(Text(table.headline.origin))
    width = console.width
    console.width = max(width, needed)
    console.print(drawn, crop=False)
    console.width = width
    for note in table.notes:
        console.print(Text(note, style="dim"))


def _labels(table: Table) -> int:
    return sum(1 for column, _ in table.columns if column in ("", "system"))


def _map(cells: list[list[str]], escape: Callable[[str], str]) -> list[list[str]]:
    return [[escape(cell) for cell in row] for row in cells]


def _escape_markdown(text: str) -> str:
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
    DAGGER: r"$^\dagger$",
    STAR: r"$^*$",
    NOTHING: "--",
    MINUS: "$-$",
    # A bracket at the start of a row would be taken for the optional argument of the row before.
    "[": "{[}",
    "]": "{]}",
}


def _escape_latex(text: str) -> str:
    return "".join(LATEX.get(character, character) for character in text)

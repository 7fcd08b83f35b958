"""Conflicts: where what the papers print does not agree, with each other or within a paper.

All are found in the data. Numbers that differ by no more than their rounding agree. Nothing is
corrected: tables show each number as it is printed.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

import pandas as pd

from nat.configuration import Configuration
from nat.measures.known import SPEED_UP, measure_of
from nat.papers import published
from nat.papers.cells import OWN
from nat.papers.claims import MAJORITY, checks, printed_sides
from nat.papers.coordinates import heading
from nat.papers.relation import relation
from nat.papers.settings import CHECKED, OUTSIDE, Stated, at_paper_scale
from nat.papers.settings_files import SOURCES, Row
from nat.papers.values import computed
from nat.papers.verdicts import region

PRINTED = "One result, printed with different numbers"
ANEW = "One system here, of which several papers print numbers of their own trainings"
QUOTED = "One result of another paper, quoted with different numbers"
COMPUTED = "Numbers that do not follow from those that they are computed from"
CLAIMED = "Claims that do not hold for the numbers printed"
STATED = "Settings that the paper and code state differently"
PLACE = ["paper", "report", "row", "column"]
RESULT = ["model", "corpus", "decoding", "split", "setting", "partner"]
"""What a number is of, besides its measure, whatever its seed and whatever prints it."""
OVER = [f"{name}_over" for name in RESULT]
_CITED = re.compile(r"cite=(([^\s;]+)[^;]*)")
_PASSES = re.compile(r"(\d+)-step|iterations=(~?\d+)")
_EXPERIMENTS = re.compile(r"(?:^|; )(Table|Figure)s? ([\d, -]+)")
EXACT = 1e-6
"""Up to which differences of printed numbers are exact."""


class Conflict(NamedTuple):
    """What does not agree: the kind, the papers that print it, and a sentence for the reader."""

    kind: str
    papers: tuple[str, ...]
    text: str


def conflicts(configuration: Configuration) -> list[Conflict]:
    """Find all conflicts in the published values and settings, whatever scale was chosen.

    Raises:
        UserError: if a file of published values or settings cannot be read.
    """
    stated = at_paper_scale(configuration)
    here = stated.configuration
    papers = [name for name in here.papers if published.exists(here.root, name)]
    found = []
    if papers:
        numbers = _numbers(here, papers)
        found += [*_printed(numbers), *_quoted(here, papers), *_computed(numbers)]
    claimed = (conflict for paper in papers for conflict in _claimed(here, paper))
    return [*found, *claimed, *_stated(stated)]


def _numbers(configuration: Configuration, papers: Iterable[str]) -> pd.DataFrame:
    """The printed numbers of tables, with what they are of and what they are shown over."""
    cells = pd.concat([relation(configuration, paper) for paper in papers])
    cells = cells[cells.report.str.startswith("table ")].drop_duplicates([*PLACE, "role"])
    own, over = cells[cells.role == OWN], cells.loc[cells.role != OWN, [*PLACE, *RESULT]]
    own = own.merge(over, "left", PLACE, suffixes=("", "_over")).fillna(dict.fromkeys(OVER, ""))
    own["where"] = own.paper.map(lambda name: configuration.paper(name).title) + " " + own.report
    return own[own.published.map(lambda value: isinstance(value, float)).astype(bool)]


def _printed(numbers: pd.DataFrame) -> Iterator[Conflict]:
    """One result with different numbers, all of them from the papers' own runs."""
    ours = numbers[(numbers.model != "") & numbers.origin.str.contains(f"; {published.OWN}")]
    for _, same in ours.groupby(["measure", *RESULT, *OVER], sort=False):
        first, papers = same.iloc[0], tuple(same.paper.unique())
        what = f"{first.row}, {heading(first.task)}, {measure_of(first.measure).label}"
        if not _all_agree(same.printed):
            yield Conflict(PRINTED if len(papers) == 1 else ANEW, papers, what + _listed(same))


def _quoted(configuration: Configuration, papers: Iterable[str]) -> Iterator[Conflict]:
    """The same system, source, task and metric, after as many passes as far as they are printed."""
    found = []
    for paper in papers:
        title, lines = configuration.paper(paper).title, published.read(configuration.root, paper)
        passes = {
            (each.table, each.row): each.text for each in lines if each.metric == "iterations"
        }
        for line in lines:
            cited, said = _CITED.search(line.note), _PASSES.search(line.variant)
            if cited and line.task and line.value is not None:
                number = said[1] or said[2] if said else passes.get((line.table, line.row), "")
                name = re.sub(r"[^a-z0-9+]", "", line.system.lower())
                metric = {"bleu": "BLEU", "speedup": "speed-up"}.get(line.metric, line.metric)
                what = f"{line.system} ({cited[1]}), {heading(line.task)}, {metric}"
                where = f"{title} {line.table.replace('table', 'table ')}"
                key = name, cited[2], line.task, metric
                found.append((key, number, paper, what, line.text, where))
    quotes = pd.DataFrame(found, columns=["key", "passes", "paper", "what", "printed", "where"])
    for _, of_key in quotes.groupby("key", sort=False):
        for number in sorted({*of_key.passes} - {""}) or [""]:
            same = of_key[of_key.passes.isin(["", number])]
            if not _all_agree(same.printed):
                text = same.what.iloc[0] + _listed(same)
                yield Conflict(QUOTED, tuple(same.paper.unique()), text)


def _computed(numbers: pd.DataFrame) -> Iterator[Conflict]:
    """Derived numbers and speed-ups that do not follow from those that the same table prints."""
    for _, table in numbers.groupby(["paper", "report"], sort=False):
        printed = {(each.row, each.column): each.printed for _, each in table.iterrows()}
        for _, each in table[(table.model != "") & (table.model_over == "")].iterrows():
            printed[(*each[RESULT], each.measure)] = each.printed
        for _, each in table.iterrows():
            operation = "ratio" if each.derived is None else each.derived.operation
            ways = [] if each.derived is None else [each.derived.of]
            if each.measure == SPEED_UP:
                times = ("decoding_seconds", "latency")
                ways += [[(*each[names], time) for names in (OVER, RESULT)] for time in times]
            way = next((way for way in ways if {*way} <= printed.keys()), ())
            follows = _follows(operation, [printed[part] for part in way], each.printed)
            if follows:
                where = f"{each.report.capitalize()}, {each.row}, {each.column}"
                text = f"{where}: {each.printed} is printed, {follows} follows from the rest of it"
                yield Conflict(COMPUTED, (each.paper,), text)


def _follows(operation: str, parts: Sequence[str], printed: str) -> str:
    """What follows from the parts, if it is not what is printed, up to the rounding of all."""
    values = [float(part) for part in parts]
    result = computed(operation, values) if values else None
    if result is None:
        return ""
    bound = _rounding(printed)
    for at, part in enumerate(parts):
        ends = (values[at] - _rounding(part), values[at] + _rounding(part))
        changed = (computed(operation, [*values[:at], end, *values[at + 1 :]]) for end in ends)
        bound += max(abs(each - result) for each in changed if each is not None)
    if abs(result - float(printed)) <= bound + EXACT:
        return ""
    return f"{result:.{max(published.decimals(printed) + 1, 0)}f}"


def _claimed(configuration: Configuration, paper: str) -> Iterator[Conflict]:
    """Claims that do not hold for the numbers that their own paper prints."""
    for check in checks(configuration, paper):
        cells = [side.first for side in check.sides if isinstance(side.first.published, float)]
        slack = 2 * max((_rounding(cell.printed) for cell in cells), default=0.0)
        slack = 0.0 if check.kind == "correlation" else slack
        held = []
        for left, right in printed_sides(check) or ():
            wanted = region(check.relations, check.margin * (abs(right) if check.share else 1))
            ends = (round(left - right + each, 6) for each in (-slack, 0, slack))
            held.append(any(map(wanted.contains, ends)))
        if sum(held) < (len(held) // 2 + 1 if check.kind == MAJORITY and held else len(held)):
            where = ", ".join(filter(None, [check.source, check.case]))
            behind = [f"{cell.row} {cell.printed}" for cell in cells]
            behind += [f"against {check.number:g}"] if check.number is not None else []
            yield Conflict(CLAIMED, (paper,), f"“{check.text}” ({where}): {', '.join(behind)}")


def _stated(stated: Stated) -> Iterator[Conflict]:
    """Settings for which our value cannot agree with both a paper and code."""
    agreeing: dict[Row, dict[str, bool]] = {}
    by_key = pd.DataFrame(stated.rows, columns=Row._fields).groupby(["paper", "key"], sort=False)
    for numbers in by_key.indices.values():
        for both in combinations([stated.rows[number] for number in numbers], 2):
            first, second = both
            experiments = [_experiments(row.experiments) for row in both]
            apart = all(experiments) and not experiments[0] & experiments[1]
            if first.source == second.source or first.value == second.value or apart:
                continue
            for row in both:
                agreeing[row] = agreeing.get(row) or _agreeing(stated, row)
            names = agreeing[first].keys() & agreeing[second].keys()
            if not all(agreeing[row][name] for row in both for name in names):
                narrow = min(both, key=lambda row: len(agreeing[row]))
                values = ", ".join(f"{row.value} in {SOURCES[row.source]}" for row in both)
                text = f"{narrow.system}, {narrow.task}: {narrow.key} is {values}"
                yield Conflict(STATED, (narrow.paper,), text)


def _agreeing(stated: Stated, row: Row) -> dict[str, bool]:
    """Systems and tasks of ours that a row is about, and whether each is as the row says."""
    verdict = stated.verdict(row)
    names = () if verdict.kind == OUTSIDE else stated.ours(row)
    return {name: verdict.kind == CHECKED or name not in verdict.ours for name in names}


def _experiments(text: str) -> set[tuple[str, int]]:
    """Tables and figures of a text such as `Tables 2, 4-6; Figure 5`; none where it says all."""
    return {
        (kind, number)
        for kind, numbers in _EXPERIMENTS.findall(text)
        for first, last in re.findall(r"(\d+)(?:-(\d+))?", numbers)
        for number in range(int(first), int(last or first) + 1)
    }


def _rounding(printed: str) -> float:
    """By how much a number can have been rounded."""
    return float(0.5 * 10.0 ** -published.decimals(printed))


def _all_agree(printed: Iterable[str]) -> bool:
    """Whether numbers are the same, up to the rounding of the coarser of any two."""
    return all(
        abs(float(first) - float(second)) <= max(_rounding(first), _rounding(second)) + EXACT
        for first, second in combinations(dict.fromkeys(printed), 2)
    )


def _listed(numbers: pd.DataFrame) -> str:
    """Numbers, each with the papers and tables that print it."""
    by_text = numbers.groupby("printed", sort=False)["where"].unique()
    return ": " + "; ".join(f"{text} in {', '.join(where)}" for text, where in by_text.items())

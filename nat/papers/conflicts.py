"""Conflicts: where what the papers print does not agree, with each other or within a paper.

All are found in the data, by five checks:

- a place that is printed twice with different numbers: two places are the same if they show the
  same measure of the same system, decoding and split here, at the scale of the papers; in several
  papers these are numbers of several trainings;
- a result that papers quote from the same source with different numbers;
- a number that does not follow from the printed numbers that it is computed from;
- a claim that does not hold for the numbers that its own paper prints;
- a setting that a paper and its published code, or the code that it follows, state differently.

Numbers that differ by no more than their rounding agree. Nothing is corrected: tables show each
number as it is printed.
"""

import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from nat.cells.cell import Cell
from nat.cells.entry import Entry, measure_of
from nat.cells.known_measures import SPEED_UP
from nat.cells.paper import entries
from nat.cells.resolver import heading
from nat.cells.values import computed
from nat.claims import claim_checks
from nat.claims.claim_checks import Check
from nat.configuration import Configuration
from nat.configuration.file_names import PAPER_SCALE
from nat.configuration.overrides import Overrides
from nat.papers.verdicts import region
from nat.published import published, stated_files
from nat.published.published import Line, Published, decimals
from nat.published.stated import CHECKED, OUTSIDE, Stated
from nat.published.stated_files import SOURCES, Row

PRINTED = "One result, printed with different numbers"
ANEW = "One system here, of which several papers print numbers of their own trainings"
QUOTED = "One result of another paper, quoted with different numbers"
COMPUTED = "Numbers that do not follow from those that they are computed from"
CLAIMED = "Claims that do not hold for the numbers printed"
STATED = "Settings that the paper and code state differently"
KINDS = (PRINTED, ANEW, QUOTED, COMPUTED, CLAIMED, STATED)

METRICS = {"bleu": "BLEU", "speedup": "speed-up"}
"""How the metrics of quoted results are called here."""

_CITED = re.compile(r"cite=(([^\s;]+)[^;]*)")
_PASSES = re.compile(r"(\d+)-step|iterations=(~?\d+)")
_EXPERIMENTS = re.compile(r"(Table|Figure)s? (.+)")
_DIGITS = 6
"""Differences of printed numbers are exact to so many digits."""


@dataclass(frozen=True)
class Conflict:
    """What does not agree.

    Attributes:
        kind: one of `KINDS`.
        papers: in which it is printed.
        text: a sentence for the reader.
    """

    kind: str
    papers: tuple[str, ...]
    text: str


def conflicts(configuration: Configuration) -> list[Conflict]:
    """All conflicts in the published values and settings.

    Args:
        configuration: at any scale.

    Raises:
        UserError: if a file of published values or settings cannot be read.
    """
    at_papers = replace(configuration, scale=PAPER_SCALE, overrides=Overrides())
    papers = [name for name in at_papers.papers if published.exists(at_papers.root, name)]
    places = [
        Place(paper, number, entry)
        for paper in papers
        for number in at_papers.paper(paper).tables
        for entry in entries(at_papers, paper, "table", number)
        if entry.published is not None and entry.published.value is not None
    ]
    found = [*_printed(at_papers, places), *_quoted(at_papers, papers), *_computed(places)]
    for paper in papers:
        found += _claimed(at_papers, paper)
    if stated_files.exist(at_papers.root):
        found += _stated(Stated(at_papers))
    return found


@dataclass(frozen=True)
class Place:
    """A place of a table with a printed number."""

    paper: str
    number: str
    entry: Entry

    @property
    def published(self) -> Published:
        """What is printed there."""
        assert self.entry.published is not None
        return self.entry.published

    @property
    def value(self) -> float:
        """The printed number."""
        assert self.published.value is not None
        return self.published.value


# Results that are printed twice


def _printed(configuration: Configuration, places: Iterable[Place]) -> Iterator[Conflict]:
    """The same cells with different numbers, all of them from the papers' own runs."""
    by_cells: dict[Any, list[Place]] = {}
    for place in places:
        if place.entry.cells and place.published.own:
            key = _same(place.entry.cells), _same(place.entry.over)
            by_cells.setdefault(key, []).append(place)
    for same in by_cells.values():
        if not _all_agree(place.published for place in same):
            entry = same[0].entry
            label = measure_of(entry.measure).label
            papers = tuple(dict.fromkeys(place.paper for place in same))
            yield Conflict(
                PRINTED if len(papers) == 1 else ANEW,
                papers,
                f"{entry.row}, {heading(entry.task)}, {label}: "
                + _listed(
                    configuration,
                    [
                        (place.published.text, place.paper, f"table {place.number}")
                        for place in same
                    ],
                ),
            )


def _same(cells: Sequence[Cell]) -> Cell | None:
    """A cell of a place without its seed and its job, by which places are compared."""
    return replace(cells[0], seed=0, group="", timed=()) if cells else None


# Results that are quoted twice


def _quoted(configuration: Configuration, papers: Iterable[str]) -> Iterator[Conflict]:
    """The same system, source, task and metric, after as many passes as far as they are printed."""
    found: dict[tuple[str, ...], list[tuple[str, Line, str]]] = {}
    for paper in papers:
        lines = published.read(configuration.root, paper)
        passes = {
            (line.table, line.row): line.value.text for line in lines if line.metric == "iterations"
        }
        for line in lines:
            cited = _CITED.search(line.note)
            if cited is None or not line.task or line.value.value is None:
                continue
            said = _PASSES.search(line.variant)
            its = said and (said[1] or said[2])
            system = re.sub(r"[^a-z0-9+]", "", line.system.lower())
            key = system, cited[2], line.task, line.metric
            found.setdefault(key, []).append(
                (paper, line, its or passes.get((line.table, line.row), ""))
            )
    for (_, _, task, metric), quotes in found.items():
        for number in sorted({passes for *_, passes in quotes if passes}) or [""]:
            same = [each for each in quotes if each[2] in ("", number)]
            if _all_agree(line.value for _, line, _ in same):
                continue
            system, source = same[0][1].system, _CITED.search(same[0][1].note)
            assert source is not None
            yield Conflict(
                QUOTED,
                tuple(dict.fromkeys(paper for paper, *_ in same)),
                f"{system} ({source[1]}), {heading(task)}, {METRICS.get(metric, metric)}: "
                + _listed(
                    configuration,
                    [
                        (line.value.text, paper, line.table.replace("table", "table "))
                        for paper, line, _ in same
                    ],
                ),
            )


# Numbers that are computed from others


def _computed(places: Iterable[Place]) -> Iterator[Conflict]:
    """Derived places and speed-ups, against the printed numbers of the same table."""
    for (paper, number), group in itertools.groupby(places, lambda each: (each.paper, each.number)):
        table = list(group)
        by_name = {(place.entry.row, place.entry.column): place for place in table}
        by_cell = {
            (_same(place.entry.cells), place.entry.measure): place
            for place in table
            if place.entry.cells and not place.entry.over
        }
        for place in table:
            entry = place.entry
            if entry.derived is not None:
                operation = entry.derived.operation
                parts = [by_name.get(each) for each in entry.derived.places]
            elif entry.measure == SPEED_UP and entry.cells and entry.over:
                operation, parts = "ratio", _times(place, by_cell)
            else:
                continue
            known = [part.published for part in parts if part is not None]
            if len(known) < len(parts) or not known:
                continue
            follows = _follows(operation, known, place.published)
            if follows is not None:
                yield Conflict(
                    COMPUTED,
                    (paper,),
                    f"Table {number}, {entry.row}, {entry.column}: {place.published.text} is "
                    f"printed, {follows} follows from the numbers that the table prints",
                )


def _times(place: Place, by_cell: dict[Any, Place]) -> list[Place | None]:
    """The times of the other system and of this one, behind a speed-up."""
    pair = place.entry.over, place.entry.cells
    for measure in ("decoding_seconds", "latency"):
        cells = [_same([replace(each[0], measure=measure)]) for each in pair]
        found = [by_cell.get((cell, measure)) for cell in cells]
        if all(found):
            return found
    return []


def _follows(operation: str, parts: Sequence[Published], printed: Published) -> str | None:
    """What follows from the parts, if it is not what is printed, up to the rounding of all."""
    numbers = [each.value for each in parts]
    values = [number for number in numbers if number is not None]
    result = computed(operation, values)
    if result is None or printed.value is None:
        return None
    bound = _rounding(printed)
    for at, part in enumerate(parts):
        changed = [
            computed(
                operation, [*values[:at], values[at] + sign * _rounding(part), *values[at + 1 :]]
            )
            for sign in (-1, 1)
        ]
        bound += max(abs(each - result) for each in changed if each is not None)
    if abs(result - printed.value) <= bound + 10**-_DIGITS:
        return None
    return f"{result:.{max(decimals(printed.text) + 1, 0)}f}"


# Claims


def _claimed(configuration: Configuration, paper: str) -> Iterator[Conflict]:
    for check in claim_checks.checks(configuration, paper):
        sides = claim_checks.printed_sides(check)
        if sides is None:
            continue
        rounding = 2 * max(
            (_rounding(place.published) for place in check.places if place.published), default=0.0
        )
        if check.kind == "correlation":
            rounding = 0.0
        held = []
        for left, right in sides:
            margin = check.margin * (abs(right) if check.share else 1)
            wanted = region(check.relations, margin)
            changes = (-rounding, 0.0, rounding)
            held.append(
                any(wanted.contains(round(left - right + each, _DIGITS)) for each in changes)
            )
        needed = len(held) // 2 + 1 if check.kind == claim_checks.MAJORITY else len(held)
        if sum(held) < needed:
            where = f"{check.source}, {check.case}" if check.case else check.source
            yield Conflict(CLAIMED, (paper,), f"“{check.text}” ({where}): {_behind(check)}")


def _behind(check: Check) -> str:
    """The printed numbers behind a claim."""
    found = [f"{each.row} {each.published.text}" for each in check.places if each.published]
    if check.number is not None:
        found.append(f"against {check.number:g}")
    return ", ".join(found)


# Settings


def _stated(stated: Stated) -> Iterator[Conflict]:
    """Settings that a paper and published code state differently.

    Two rows conflict if they are about the same key and experiment, and for a system of ours that
    both are about, our value does not agree with both.
    """
    by_key: dict[tuple[str, str], list[Row]] = {}
    for row in stated.rows:
        by_key.setdefault((row.paper, row.key), []).append(row)
    for (paper, key), rows in by_key.items():
        if len({row.source for row in rows}) == 1 or len({row.value for row in rows}) == 1:
            continue
        agreeing = {row: _agreeing(stated, row) for row in rows}
        for first, second in itertools.combinations(rows, 2):
            if first.source == second.source or not _overlap(first, second):
                continue
            ours = agreeing[first].keys() & agreeing[second].keys()
            if all(agreeing[first][name] and agreeing[second][name] for name in ours):
                continue
            narrow = min(first, second, key=lambda row: len(agreeing[row]))
            values = (f"{row.value} in {SOURCES[row.source]}" for row in (first, second))
            yield Conflict(
                STATED,
                (paper,),
                f"{narrow.system}, {narrow.task}: {key} is {', '.join(values)}",
            )


def _agreeing(stated: Stated, row: Row) -> dict[str, bool]:
    """Systems and tasks of ours that a row is about, and whether each is as the row says."""
    verdict = stated.verdict(row)
    if verdict.kind == OUTSIDE:
        return {}
    names = stated.ours(row)
    return {name: verdict.kind == CHECKED or name not in verdict.ours for name in names}


def _overlap(first: Row, second: Row) -> bool:
    """Whether two rows are about some experiment both."""
    sides = [_experiments(row.experiments) for row in (first, second)]
    return any(not side for side in sides) or bool(sides[0] & sides[1])


def _experiments(text: str) -> set[str]:
    """Tables and figures of a text such as `Tables 2, 4-6; Figure 5`; none where it says all."""
    found = set()
    for part in text.split("; "):
        if named := _EXPERIMENTS.fullmatch(part):
            for each in named[2].split(", "):
                first, _, last = each.partition("-")
                numbers = range(int(first), int(last or first) + 1)
                found |= {f"{named[1]} {number}" for number in numbers}
    return found


# Numbers


def _rounding(printed: Published) -> float:
    """By how much a number can have been rounded."""
    return 0.0 if printed.value is None else 0.5 * 10.0 ** -decimals(printed.text)


def _all_agree(printed: Iterable[Published]) -> bool:
    """Whether numbers are the same, up to the rounding of the coarser of any two."""
    numbers = [(each.value, _rounding(each)) for each in printed if each.value is not None]
    return all(
        abs(first - second) <= max(rounding, other) + 10**-_DIGITS
        for (first, rounding), (second, other) in itertools.combinations(numbers, 2)
    )


def _listed(configuration: Configuration, printed: Iterable[tuple[str, str, str]]) -> str:
    """Numbers, each with the papers and tables that print it."""
    where: dict[str, dict[str, None]] = {}
    for text, paper, table in printed:
        where.setdefault(text, {})[f"{configuration.paper(paper).title} {table}"] = None
    return "; ".join(f"{text} in {', '.join(tables)}" for text, tables in where.items())

"""Which decodings are timed together: those of which a table or figure shows a latency.

All latencies of a table or figure that are measured on one corpus, with models of one seed, on one
device and with one batch form a group. A group is measured in one job, so that whatever disturbs
the machine disturbs all of it. A report of a paper whose group is a part of another report's takes
its latencies from there, so that nothing is measured twice.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import cache

from nat.artifacts import Latency
from nat.cells import figure_places, table_places
from nat.cells.cell import Cell
from nat.cells.entry import Entry
from nat.cells.known_measures import LATENCY, MEASURES
from nat.cells.resolver import Kind, describe
from nat.configuration import Configuration
from nat.errors import UserError
from nat.spelling import hint

Key = tuple[str, int, str]
"""Corpus, seed and setting."""

Groups = dict[Key, tuple[str, ...]]
"""What is timed together, in alphabetical order, see `nat.artifacts.Latency`."""

_MEASURES = [name for name, measure in MEASURES.items() if measure.source == LATENCY]


@cache
def places(configuration: Configuration, paper: str, kind: Kind, number: str) -> tuple[Entry, ...]:
    """The places of a table or figure, before their latencies have groups."""
    module = table_places if kind == "table" else figure_places
    return tuple(module.entries(configuration, paper, number))


def grouped(configuration: Configuration, paper: str, kind: Kind, number: str) -> tuple[Entry, ...]:
    """The places of a table or figure, with the groups of their latencies."""
    found = places(configuration, paper, kind, number)
    groups = _groups(found)
    if not groups:
        return found
    own = group_name(paper, kind, number)
    measured = {
        key: _largest(configuration, paper, key, members) or (own, members)
        for key, members in groups.items()
    }
    return tuple(_with_groups(place, measured) for place in found)


def group_name(paper: str, kind: Kind, number: str | int) -> str:
    """What the group of a table or figure is called: `fully_nat_table_2`."""
    return f"{paper}_{kind}_{number}"


def like(place: Entry, others: Sequence[Entry]) -> Entry | None:
    """A place with the groups that its latencies have among other places; None without one."""
    known = {
        (*_key(cell), name): cell
        for other in others
        for cell in _latencies(other)
        for name in cell.timed
    }
    sides: list[tuple[Cell, ...]] = []
    for cells in (place.cells, place.over):
        same = [known.get((*_key(cell), cell.timed_name)) for cell in cells]
        found = [
            replace(cell, group=other.group, timed=other.timed)
            for cell, other in zip(cells, same, strict=True)
            if other is not None
        ]
        if len(found) < len(cells):
            return None
        sides.append(tuple(found))
    return replace(place, cells=sides[0], over=sides[1])


def find(configuration: Configuration, corpus: str, group: str, seed: int, setting: str) -> Latency:
    """The latencies of a group, by the names in the path of their file.

    Raises:
        UserError: for a group, or a combination of these, that no report shows.
    """
    reports = {
        group_name(paper, kind, number): (paper, kind, number)
        for paper in configuration.papers
        for kind, number in _reports(configuration, paper)
    }
    if group not in reports:
        raise UserError(
            f"no table or figure is called '{group}', whose latencies could be measured; "
            f"{hint(group, reports)}"
        )
    paper, kind, number = reports[group]
    key = corpus, seed, setting
    groups = _groups_of(configuration, paper).get((kind, number), {})
    if key not in groups:
        known = sorted({each for _, _, each in groups})
        raise UserError(
            f"config/papers/{paper}.yaml: {kind}s.{number} shows no latency on {corpus} with seed "
            f"{seed} and the setting '{setting}'; {hint(setting, known)}"
        )
    return Latency(configuration.run, corpus, group, seed, setting, groups[key])


def _largest(
    configuration: Configuration, paper: str, key: Key, members: tuple[str, ...]
) -> tuple[str, tuple[str, ...]] | None:
    """The largest group of a paper that contains these, with its name; the first of equal ones."""
    containing = [
        (group_name(paper, kind, number), groups[key])
        for (kind, number), groups in _groups_of(configuration, paper).items()
        if key in groups and set(members) <= set(groups[key])
    ]
    return max(containing, key=lambda each: len(each[1]), default=None)


@cache
def _groups_of(configuration: Configuration, paper: str) -> dict[tuple[Kind, str], Groups]:
    """The groups of every report of a paper, in order."""
    return {
        (kind, number): _groups(places(configuration, paper, kind, number))
        for kind, number in _reports(configuration, paper)
        if _shows_latencies(configuration, paper, kind, number)
    }


def _reports(configuration: Configuration, paper: str) -> list[tuple[Kind, str]]:
    found = configuration.paper(paper)
    tables: list[tuple[Kind, str]] = [("table", number) for number in found.tables]
    return tables + [("figure", number) for number in found.figures]


def _shows_latencies(configuration: Configuration, paper: str, kind: Kind, number: str) -> bool:
    """Whether a description may show latencies; without resolving it."""
    description = describe(configuration, paper, kind, number).model_dump_json()
    written = description + configuration.paper(paper).cells.model_dump_json()
    return any(measure in written for measure in _MEASURES)


def _groups(found: Sequence[Entry]) -> Groups:
    groups: dict[Key, set[str]] = {}
    for place in found:
        for cell in _latencies(place):
            groups.setdefault(_key(cell), set()).add(cell.timed_name)
    return {key: tuple(sorted(members)) for key, members in groups.items()}


def _latencies(place: Entry) -> list[Cell]:
    across = () if place.across is None else (*place.across.cells, *place.across.over)
    cells = (*place.cells, *place.over, *across)
    return [cell for cell in cells if cell.source == LATENCY]


def _key(cell: Cell) -> Key:
    return cell.corpus, cell.seed, cell.setting


def _with_groups(place: Entry, measured: dict[Key, tuple[str, tuple[str, ...]]]) -> Entry:
    def named(cells: tuple[Cell, ...]) -> tuple[Cell, ...]:
        found = []
        for cell in cells:
            if cell.source == LATENCY:
                group, timed = measured[_key(cell)]
                cell = replace(cell, group=group, timed=timed)
            found.append(cell)
        return tuple(found)

    across = None if place.across is None else _with_groups(place.across, measured)
    return replace(place, cells=named(place.cells), over=named(place.over), across=across)

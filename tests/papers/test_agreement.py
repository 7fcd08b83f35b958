"""A number that is printed elsewhere as another one says so in its note, and so does that one."""

import re
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from nat.papers import published
from nat.papers.cells import OVER, OWN
from nat.papers.relation import relation
from tests.repository import configured

CONFIGURATION = configured("paper")
ROOT = Path(CONFIGURATION.root)
PAPERS = [name for name in CONFIGURATION.papers if published.exists(ROOT, name)]
NUMBER = ["measure", "model", "corpus", "decoding", "split", "setting", "partner"]
PLACE = ["report", "row", "column"]


class Printed(NamedTuple):
    text: str
    note: str
    passes: str


def own_results() -> Iterator[list[Printed]]:
    """The numbers of one result of the papers' own runs, wherever tables print it."""
    parts = (part for paper in PAPERS for part in relation(CONFIGURATION, paper).values())
    cells = pd.DataFrame([cell for part in parts for cell in part.cells], dtype=object)
    cells = cells[cells.report.str.startswith("table ")]
    compared = set(cells[cells.role == OVER][PLACE].itertuples(index=False, name=None))
    own = cells[(cells.role == OWN) & cells.origin.str.contains(f"; {published.OWN}")]
    own = own[own.published.map(lambda value: isinstance(value, float)) & (own.model != "")]
    own = own[[tuple(place) not in compared for place in own[PLACE].itertuples(index=False)]]
    for _, same in own.groupby(NUMBER, sort=False):
        yield [Printed(each.printed, each.origin, "") for each in same.itertuples()]


def quoted_results() -> Iterator[list[Printed]]:
    """The numbers with which papers quote a system, source, task and metric."""
    found: dict[tuple[str, ...], list[Printed]] = {}
    for paper in PAPERS:
        lines = published.read(ROOT, paper)
        steps = [each for each in lines if each.metric == "iterations"]
        passes = {(each.table, each.row): each.printed for each in steps}
        for line in lines:
            cited = re.search(r"cite=([^\s;]+)", line.note)
            if cited and line.task and isinstance(line.published, float):
                said = re.search(r"(\d+)-step|iterations=(~?\d+)", line.variant)
                number = said[1] or said[2] if said else passes.get((line.table, line.row), "")
                name = re.sub(r"[^a-z0-9+]", "", line.system.lower())
                printed = Printed(line.printed, line.note, number)
                found.setdefault((name, cited[1], line.task, line.metric), []).append(printed)
    yield from found.values()


def agree(first: Printed, second: Printed) -> bool:
    """Whether numbers are the same, up to the rounding of the coarser one."""
    rounding = max(0.5 * 10.0 ** -published.decimals(each.text) for each in (first, second))
    return abs(float(first.text) - float(second.text)) <= rounding + 1e-6


def test_numbers_that_differ_name_each_other() -> None:
    groups = [*own_results(), *quoted_results()]
    apart = [
        (first, second)
        for same in groups
        for first, second in combinations(dict.fromkeys(same), 2)
        if not agree(first, second)
        if "" in (first.passes, second.passes) or first.passes == second.passes
    ]
    assert len(apart) >= 20
    silent = [(a, b) for a, b in apart if a.text not in b.note or b.text not in a.note]
    assert silent == []

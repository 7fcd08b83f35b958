"""Tables of hyper-parameters, printed from the effective configuration beside the paper's.

They are those of a training at the scale of the run and, if it is another, at that of the papers.
"""

import itertools
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from nat.configuration import Configuration
from nat.configuration.files import PAPER_SCALE
from nat.errors import UserError, told_of
from nat.options import require_at
from nat.papers import published
from nat.papers.cells import ResolvedPart
from nat.papers.coordinates import Resolver
from nat.papers.description import Line
from nat.papers.table_formats import NOTHING, PUBLISHED, STAR, TableText
from nat.papers.values import Record

NONE, NOT_USED = "none", "not used"


def settings(resolver: Resolver, number: str) -> list[Record]:
    """Read the settings of a table; what does not exist is a UserError that names it."""
    configuration = resolver.configuration
    table = resolver.paper.tables[number]
    given = (each if isinstance(each, Line) else Line(system=each) for each in table.columns)
    columns = resolver.headings(given, "columns")
    ours_too: published.Needed = {str(row.label): not row.ours_only for row in table.rows}
    needed: published.Needed = {column.label: True for column in columns}
    printed = published.join(resolver.published.get(number, []), ours_too, needed)
    records = []
    for row, column in itertools.product(table.rows, columns):
        here = {**resolver.defaults, **table.cells.given(), **column.chosen}
        system = resolver.configured(here["system"], here)
        with told_of(f"row '{row.label}': "):
            scales = (configuration.scale, PAPER_SCALE)
            values = [_value(configuration, system, scale, str(row.key)) for scale in scales]
        ours, at_paper_scale = (row.names.get(value, value) for value in values)
        value = printed.get((str(row.label), column.label))
        theirs = stated = value.printed if value is not None else ""
        if row.times is not None and value is not None and isinstance(value.published, float):
            theirs, stated = f"{theirs} x {row.times}", f"{value.published * row.times:g}"
        differs = theirs != "" and _compared(at_paper_scale) != _compared(stated)
        records.append(
            {
                "paper": resolver.name,
                "table": number,
                "row": row.label,
                "column": column.label,
                "scale": configuration.scale,
                "system": system,
                "key": row.key,
                "ours": ours,
                "ours_at_paper_scale": at_paper_scale,
                "published": theirs,
                "differs": "yes" if differs else "",
            }
        )
    return records


def _value(configuration: Configuration, system: str, scale: str, key: str) -> str:
    """Write a setting; `not used` where the method of a system has no such option."""
    try:
        value = require_at(_effective(configuration, system, scale), key)
    except UserError:
        if key.startswith(("input.", "target.")):
            return NOT_USED
        raise
    several = value if isinstance(value, list) else [value]
    written = (f"{each:g}" if isinstance(each, float) else str(each) for each in several)
    return NONE if value is None else ", ".join(written)


@cache
def _effective(configuration: Configuration, system: str, scale: str) -> dict[str, Any]:
    """The effective configuration of a system's training."""
    there = replace(configuration, choice=replace(configuration.choice, scale=scale))
    corpus = next(iter(there.tasks.values()))  # settings do not depend on it
    training = there.training(corpus, system).as_json()
    recipe = training["recipe"]
    if "epochs" in recipe:
        recipe["updates"] = f"{recipe['epochs']:g} epochs"
    return training


def _compared(text: str) -> float | str:
    """A value as it is compared: what is not used is as good as 0, and `Adam` as `adam`."""
    try:
        return float(text)
    except ValueError:
        return 0.0 if text in ("N/A", NONE, NOT_USED) else text.lower()


def make(table: ResolvedPart, _: Path) -> TableText:
    """Arrange settings for reading: ours, ours at the scale of the papers, and the paper's."""
    records, at_paper = table.settings, f"ours, {PAPER_SCALE}"
    parts = {at_paper: "ours_at_paper_scale", PUBLISHED: "published"}
    if table.scale != PAPER_SCALE:
        parts = {f"ours, {table.scale}": "ours", **parts}
    labels = list(dict.fromkeys(each["column"] for each in records))
    rows: dict[str, list[str]] = {}
    for each in records:
        row = rows.setdefault(each["row"], [each["row"]])
        for part, key in parts.items():
            mark = STAR if part == at_paper and each["differs"] else ""
            row.append((str(each[key]) or NOTHING) + mark)
    named = dict.fromkeys(f"{each['column']} is the system {each['system']}" for each in records)
    notes = [f"Printed from the effective configuration: {'; '.join(named)}."]
    if any(each["differs"] for each in records):
        notes.append(f"{STAR} at the scale of the papers another value than the paper's.")
    return TableText(
        title=table.title,
        origin=table.origin,
        records=records,
        columns=[("system", ""), *((label, part) for label in labels for part in parts)],
        rows=list(rows.values()),
        notes=[*notes, *table.described.notes],
    )

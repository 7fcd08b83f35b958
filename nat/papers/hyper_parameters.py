"""Tables of hyper-parameters, printed from the effective configuration beside the paper's.

Nothing is copied by hand: the table shows the settings of a training of the system at the scale of
the run and, if this is a different one, at the scale of the papers.
"""

import itertools
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from nat.configuration import Configuration
from nat.configuration.file_names import PAPER_SCALE, file_of
from nat.configuration.lengths import UNITS
from nat.errors import UserError
from nat.options import hint
from nat.papers import published
from nat.papers.coordinates import Resolver
from nat.papers.description import Column, Row
from nat.papers.resolved import ResolvedTable
from nat.papers.table_cells import lines
from nat.papers.table_formats import NOTHING, PUBLISHED, STAR, TableText
from nat.papers.values import Record

NONE, NOT_USED = "none", "not used"


def settings(resolver: Resolver, number: str) -> list[Record]:
    """Read the settings of a table from the configuration.

    Raises:
        UserError: for a system, setting or published value that does not exist.
    """
    configuration = resolver.configuration
    table, at = resolver.paper.tables[number], f"tables.{number}"
    systems = [str(each.system) if isinstance(each, Column) else each for each in table.columns]
    labels = [
        str(isinstance(each, Column) and each.label or name)
        for each, name in zip(table.columns, systems, strict=True)
    ]
    resolver.no_repetition(f"{at}.columns", labels)
    printed = published.join(
        lines(resolver, number),
        {str(row.label): not row.ours_only for row in table.rows},
        dict.fromkeys(labels, True),
        f"{resolver.file}: {at}",
    )
    found = []
    for row, (label, name) in itertools.product(table.rows, zip(labels, systems, strict=True)):
        here = {**resolver.defaults, **table.cells.given(), "system": name}
        system = resolver.configured(name, here, at)
        value = printed.get((str(row.label), label))
        ours, at_paper_scale = (
            _value(_effective(configuration, system, scale), row, f"{resolver.file}: {at}")
            for scale in (configuration.scale, PAPER_SCALE)
        )
        theirs = stated = value.text if value is not None else ""
        if row.times is not None and value is not None and value.value is not None:
            theirs, stated = f"{theirs} x {row.times}", f"{value.value * row.times:g}"
        differs = theirs != "" and _compared(at_paper_scale) != _compared(stated)
        found.append(
            {
                "paper": resolver.name,
                "table": number,
                "row": row.label,
                "column": label,
                "scale": configuration.scale,
                "system": system,
                "key": row.key,
                "ours": ours,
                "ours_at_paper_scale": at_paper_scale,
                "published": theirs,
                "differs": "yes" if differs else "",
            }
        )
    return found


@cache
def _effective(configuration: Configuration, system: str, scale: str) -> dict[str, Any]:
    """The effective configuration of a system's training, without the name of a corpus."""
    if scale not in configuration.files["scales"]:
        raise UserError(f"there is no {file_of('scales', scale)}, whose settings tables show")
    there = replace(configuration, scale=scale)
    corpus = next(iter(there.tasks.values()))  # settings do not depend on it
    training = there.training(corpus, system).as_json()
    del training["corpus"]
    return training


def _value(training: Mapping[str, Any], row: Row, where: str) -> str:
    """A setting as text; `not used` where the method of a system has no such option."""
    found: Any = training
    first, *rest = str(row.key).split(".")
    for part in (first, *rest):
        if isinstance(found, list) and part.isdigit() and int(part) < len(found):
            found = found[int(part)]
        elif isinstance(found, Mapping) and part in found:
            found = found[part]
        elif first in ("input", "target") and found is not training:
            return NOT_USED
        elif first == "recipe" and (epochs := _in_epochs(training["recipe"], part)):
            return epochs
        else:
            known = hint(part, found if isinstance(found, Mapping) else [])
            raise UserError(f"{where}: row '{row.label}': no setting '{row.key}'; {known}")
    text = _text(found)
    return str(row.names.get(text, text))


def _in_epochs(recipe: Mapping[str, Any], key: str) -> str:
    """A length in epochs that a recipe gives instead of one in updates."""
    for updates, (epochs,) in UNITS:
        if key in updates and epochs in recipe:
            unit = "epochs" if epochs.endswith("epochs") else "an epoch"
            return f"{_text(recipe[epochs])} {unit}"
    return ""


def _text(value: Any) -> str:
    if value is None:
        return NONE
    if isinstance(value, list):
        return ", ".join(_text(item) for item in value)
    return f"{value:g}" if isinstance(value, float) else str(value)


def _compared(text: str) -> float | str:
    """A value as it is compared: what is not used is as good as 0, and `Adam` as `adam`."""
    try:
        return float(text)
    except ValueError:
        return 0.0 if text in ("N/A", NONE, NOT_USED) else text.lower()


def records(table: ResolvedTable, _: Path) -> list[Record]:
    """The settings of a table, which were read when it was resolved."""
    return table.settings


def lay_out(table: ResolvedTable, found: list[Record]) -> TableText:
    """Arrange settings for reading: ours, ours at the scale of the papers, and the paper's."""
    own, at_paper = f"ours, {table.scale}", f"ours, {PAPER_SCALE}"
    parts = [(own, "ours")] if own != at_paper else []
    parts += [(at_paper, "ours_at_paper_scale"), (PUBLISHED, "published")]
    labels = list(dict.fromkeys(each["column"] for each in found))
    at = {(each["row"], each["column"]): each for each in found}
    rows = []
    for row in dict.fromkeys(each["row"] for each in found):
        rows.append([row])
        for label in labels:
            each = at[row, label]
            for _, key in parts:
                mark = STAR if key == "ours_at_paper_scale" and each["differs"] else ""
                rows[-1].append((str(each[key]) or NOTHING) + mark)
    named = dict.fromkeys(f"{each['column']} is the system {each['system']}" for each in found)
    notes = [f"Printed from the effective configuration: {'; '.join(named)}."]
    if any(each["differs"] for each in found):
        notes.append(f"{STAR} at the scale of the papers another value than the paper's.")
    return TableText(
        title=table.title,
        origin=table.origin,
        records=found,
        columns=[("system", ""), *((label, part) for label in labels for part, _ in parts)],
        rows=rows,
        notes=[*notes, *table.notes],
        signatures=[],
    )

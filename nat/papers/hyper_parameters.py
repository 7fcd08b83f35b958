"""Tables of hyper-parameters, printed from the effective configuration beside the paper's.

Nothing is copied by hand: the table shows the settings of a training of the system at the scale of
the run and, if this is a different one, at the scale of the papers.
"""

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from nat.configuration import Configuration
from nat.configuration.file_names import PAPER_SCALE, file_of
from nat.configuration.lengths import UNITS
from nat.errors import UserError
from nat.papers import published
from nat.papers.coordinates import Resolver
from nat.papers.description import Row
from nat.papers.resolved import ResolvedTable
from nat.papers.table_cells import lines
from nat.papers.table_formats import NOTHING, PUBLISHED, STAR, TableText
from nat.papers.values import Record
from nat.spelling import hint

NONE, NOT_USED = "none", "not used"


def systems(configuration: Configuration, paper: str, number: str) -> dict[str, str]:
    """The systems whose settings a table prints, by the label of their column.

    Raises:
        UserError: for an unknown system.
    """
    resolver = Resolver(configuration, paper)
    table, at = resolver.paper.tables[number], f"tables.{number}"
    found: dict[str, str] = {}
    for column in table.columns:
        name = column if isinstance(column, str) else str(column.system)
        label = name if isinstance(column, str) else column.label or name
        resolver.no_repetition(f"{at}.columns", [*found, label])
        here = {**resolver.defaults, **table.cells.given(), "system": name}
        found[label] = resolver.configured(name, here, at)
    return found


def settings(configuration: Configuration, paper: str, number: str) -> list[Record]:
    """Read the settings of a table from the configuration.

    Raises:
        UserError: for a system, setting or published value that does not exist.
    """
    resolver = Resolver(configuration, paper)
    rows, columns = resolver.paper.tables[number].rows, systems(configuration, paper, number)
    where = f"{resolver.file}: tables.{number}"
    printed = published.join(
        paper,
        lines(resolver, number),
        {str(row.label): not row.ours_only for row in rows},
        dict.fromkeys(columns, True),
        where,
    )
    found = []
    for row in rows:
        for label, system in columns.items():
            value = printed.get((str(row.label), label))
            text = value.text if value is not None else ""
            ours, at_paper_scale = (
                _value(_effective(configuration, system, scale), row, where)
                for scale in (configuration.scale, PAPER_SCALE)
            )
            found.append(
                {
                    "paper": paper,
                    "table": number,
                    "row": row.label,
                    "column": label,
                    "scale": configuration.scale,
                    "system": system,
                    "key": row.key,
                    "ours": ours,
                    "ours_at_paper_scale": at_paper_scale,
                    "published": _spelt(text, row),
                    "differs": _differs(at_paper_scale, _spelt(text, row, multiplied=True)),
                }
            )
    return found


@cache
def _effective(configuration: Configuration, system: str, scale: str) -> dict[str, Any]:
    """The effective configuration of a system's training, without the name of a corpus."""
    if scale not in configuration.files["scales"]:
        raise UserError(
            f"there is no {file_of('scales', scale)}, the scale of the papers, whose settings "
            "tables show; give the file back its name"
        )
    there = replace(configuration, scale=scale)
    corpus = next(iter(there.tasks.values()))  # settings do not depend on it
    training = there.training(corpus, system).as_json()
    del training["corpus"]
    return training


def _value(training: Mapping[str, Any], row: Row, where: str) -> str:
    """A setting as text; `not used` where the method of a system has no such option."""
    found: Any = training
    parts = str(row.key).split(".")
    for depth, part in enumerate(parts):
        if isinstance(found, list) and part.isdigit() and int(part) < len(found):
            found = found[int(part)]
            continue
        if not isinstance(found, Mapping) or part not in found:
            if depth and parts[0] in ("input", "target"):
                return NOT_USED
            in_epochs = next((epochs[0] for updates, epochs in UNITS if part in updates), "")
            if parts[0] == "recipe" and depth == 1 and in_epochs in found:
                unit = "epochs" if in_epochs.endswith("epochs") else "an epoch"
                return f"{_text(found[in_epochs])} {unit}"
            known = hint(part, found if isinstance(found, Mapping) else [])
            raise UserError(f"{where}: row '{row.label}': no setting '{row.key}'; {known}")
        found = found[part]
    text = _text(found)
    return str(row.names.get(text, text))


def _text(value: Any) -> str:
    if value is None:
        return NONE
    if isinstance(value, list):
        return ", ".join(_text(item) for item in value)
    return f"{value:g}" if isinstance(value, float) else str(value)


def _spelt(text: str, row: Row, multiplied: bool = False) -> str:
    """The paper's value; a value per device times their number, where the row says so."""
    number = _number(text)
    if row.times is None or number is None:
        return text
    return f"{number * row.times:g}" if multiplied else f"{text} x {row.times}"


def _differs(ours: str, printed: str) -> str:
    """Whether ours is another value than the paper's; empty where the paper has none."""
    one, other = _number(ours), _number(printed)
    nothing = ("N/A", NONE, NOT_USED)
    equal = (
        one == other if one is not None and other is not None else ours.lower() == printed.lower()
    )
    neither = all(
        text in nothing or number == 0 for text, number in ((ours, one), (printed, other))
    )
    return "" if not printed or equal or neither else "yes"


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


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

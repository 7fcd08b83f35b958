"""Tables of hyper-parameters, printed from the effective configuration beside the paper's.

Nothing is copied by hand: the table shows the settings of a training of the system at the scale of
the run and, if this is a different one, at the scale of the papers.
"""

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import Any

from nat.cells import values
from nat.cells.resolver import describe
from nat.cells.table_places import settings_table
from nat.configuration import Configuration
from nat.configuration.file_names import PAPER_SCALE, file_of
from nat.configuration.lengths import UNITS
from nat.configuration.papers import Setting, Settings
from nat.errors import UserError
from nat.spelling import hint
from nat.tables import tables

NUMBERS = ()
NONE, NOT_USED = "none", "not used"


def make(configuration: Configuration, paper: str, number: str) -> tables.Table:
    """Read the settings of a table from the configuration.

    Raises:
        UserError: for a system, setting or published value that does not exist.
    """
    table = settings_table(configuration, paper, number)
    where = f"config/papers/{paper}.yaml: tables.{number}"
    scales = dict.fromkeys((configuration.scale, PAPER_SCALE))
    records = []
    for row in table.rows:
        for label, system in table.systems.items():
            published = table.published.get((row.label, label), "")
            shown = {
                scale: _value(_effective(configuration, system, scale), row, where)
                for scale in scales
            }
            records.append(
                {
                    "paper": paper,
                    "table": number,
                    "row": row.label,
                    "column": label,
                    "scale": configuration.scale,
                    "system": system,
                    "key": row.key,
                    "ours": shown[configuration.scale],
                    "ours_at_paper_scale": shown[PAPER_SCALE],
                    "published": _spelt(published, row),
                    "differs": _differs(shown[PAPER_SCALE], _spelt(published, row, True)),
                }
            )
    return lay_out(configuration, paper, number, records)


def check(configuration: Configuration, paper: str) -> None:
    """Check a paper's tables at the scale of the papers; another may lack what nothing else needs.

    Raises:
        UserError: as `make`.
    """
    for number, description in configuration.paper(paper).tables.items():
        if not isinstance(description, Settings):
            continue
        table = settings_table(configuration, paper, number)
        where = f"config/papers/{paper}.yaml: tables.{number}"
        for system in table.systems.values():
            for row in table.rows:
                _value(_effective(configuration, system, PAPER_SCALE), row, where)


@cache
def _effective(configuration: Configuration, system: str, scale: str) -> dict[str, Any]:
    if scale not in configuration.files["scales"]:
        raise UserError(
            f"there is no {file_of('scales', scale)}, the scale of the papers, whose settings "
            "tables show; give the file back its name"
        )
    return effective(replace(configuration, scale=scale), system)


def effective(configuration: Configuration, system: str) -> dict[str, Any]:
    """The effective configuration of a system's training, without the name of a corpus."""
    corpus = next(iter(configuration.tasks.values()))  # settings do not depend on it
    training = configuration.training(corpus, system).as_json()
    del training["corpus"]
    return training


def trainings(configuration: Configuration, paper: str, number: str) -> list[dict[str, Any]]:
    """The content of a table of settings, for its fingerprint."""
    systems = settings_table(configuration, paper, number).systems.values()
    return [
        _effective(configuration, system, scale)
        for system in systems
        for scale in dict.fromkeys((configuration.scale, PAPER_SCALE))
    ]


def _value(training: Mapping[str, Any], row: Setting, where: str) -> str:
    """A setting as text; `not used` where the method of a system has no such option."""
    found: Any = training
    parts = row.key.split(".")
    for depth, part in enumerate(parts):
        if isinstance(found, list) and part.isdigit() and int(part) < len(found):
            found = found[int(part)]
            continue
        if not isinstance(found, Mapping) or part not in found:
            if depth and parts[0] in ("input", "target"):
                return NOT_USED
            in_epochs = _in_epochs(part) if parts[0] == "recipe" and depth == 1 else ""
            if in_epochs and in_epochs in found:
                unit = "epochs" if in_epochs.endswith("epochs") else "an epoch"
                return f"{_text(found[in_epochs])} {unit}"
            raise UserError(
                f"{where}: row '{row.label}': a training has no setting '{row.key}'; "
                f"{hint(part, found if isinstance(found, Mapping) else [])}"
            )
        found = found[part]
    text = _text(found)
    return str(row.names.get(text, text))


def _in_epochs(key: str) -> str:
    """The key of a recipe that gives the same length in epochs; empty if there is none."""
    return next((epochs[0] for updates, epochs in UNITS if key in updates), "")


def _text(value: Any) -> str:
    if value is None:
        return NONE
    if isinstance(value, list):
        return ", ".join(_text(item) for item in value)
    if isinstance(value, float):
        return f"{value:g}"
    return str(value)


def _spelt(published: str, row: Setting, multiplied: bool = False) -> str:
    """The paper's value; a value per device times their number, where the row says so."""
    times = row.times
    if not published or times is None or not _is_number(published):
        return published
    return f"{float(published) * times:g}" if multiplied else f"{published} x {times}"


def _differs(ours: str, published: str) -> str:
    """Whether ours is another value than the paper's; empty where the paper has none."""
    if not published:
        return ""
    if _is_number(ours) and _is_number(published):
        return "" if float(ours) == float(published) else "yes"
    if _is_nothing(ours) and _is_nothing(published):
        return ""
    return "" if ours.lower() == published.lower() else "yes"


def _is_nothing(text: str) -> bool:
    """Whether a setting has no effect: a weight of zero, or an option that is not there."""
    return text in ("N/A", NONE, NOT_USED) or (_is_number(text) and float(text) == 0)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def lay_out(
    configuration: Configuration, paper: str, number: str, records: tables.Records
) -> tables.Table:
    """Arrange settings for reading: ours, ours at the scale of the papers, and the paper's."""
    description = describe(configuration, paper, "table", number)
    own, at_paper = f"ours, {configuration.scale}", f"ours, {PAPER_SCALE}"
    parts = [(own, "ours")] if own != at_paper else []
    parts += [(at_paper, "ours_at_paper_scale"), (tables.PUBLISHED, "published")]
    labels = list(dict.fromkeys(record["column"] for record in records))
    places = {(record["row"], record["column"]): record for record in records}
    cells = []
    for row in dict.fromkeys(record["row"] for record in records):
        cells.append([row])
        for label in labels:
            record = places[row, label]
            for _, key in parts:
                mark = tables.STAR if key == "ours_at_paper_scale" and record["differs"] else ""
                cells[-1].append((record[key] or tables.NOTHING) + mark)
    notes = [f"Printed from the effective configuration: {_systems(records)}."]
    if any(record["differs"] for record in records):
        notes.append(f"{tables.STAR} at the scale of the papers another value than the paper's.")
    return tables.Table(
        headline=values.Headline(
            values.headline(configuration, paper, "table", number).title,
            f"scale {configuration.scale}",
        ),
        records=records,
        columns=[("system", ""), *((label, part) for label in labels for part, _ in parts)],
        cells=cells,
        notes=notes + list(description.notes),
        signatures=[],
    )


def _systems(records: tables.Records) -> str:
    systems = dict.fromkeys((record["column"], record["system"]) for record in records)
    return "; ".join(f"{label} is the system {system}" for label, system in systems)

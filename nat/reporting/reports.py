"""Every report of every paper: its name, its files, and what it is made of.

Three kinds: tables and figures, by number, and the claims of a paper, of which there is one.
"""

from pathlib import Path
from typing import Any, Literal

from nat.configuration import Configuration
from nat.reporting import claims, grid, samples, settings, tables
from nat.reporting.cells import Cell
from nat.reporting.differences import can_be_resampled

Kind = Literal["table", "figure", "claims"]
Target = tuple[str, Kind, str]
"""Paper, kind and number; the claims have the number ''."""

SUFFIX = {"table": "csv", "figure": "pdf", "claims": "csv"}


def targets(configuration: Configuration) -> list[Target]:
    """Every report of every paper."""
    found: list[Target] = []
    for paper in configuration.papers:
        content = configuration.paper(paper)
        found += [(paper, "table", str(number)) for number in content.get("tables") or {}]
        found += [(paper, "figure", str(number)) for number in content.get("figures") or {}]
        if content.get("claims"):
            found.append((paper, "claims", ""))
    return found


def name(target: Target) -> str:
    """What a report is asked for by: `dims_table_1`, `dims_claims`."""
    return "_".join(part for part in target if part)


def path(target: Target) -> str:
    """The file that stands for a report; others lie beside it."""
    paper, kind, number = target
    file = f"{kind}_{number}" if number else kind
    return f"results/papers/{paper}/{file}.{SUFFIX[kind]}"


def cells(configuration: Configuration, target: Target) -> list[Cell]:
    """All cells of a report that this scale can run, without repetitions.

    Raises:
        UserError: for anything in the description that does not exist.
    """
    places = _places(configuration, target)
    return list(dict.fromkeys(cell for place in places for cell in (*place.cells, *place.over)))


def files(configuration: Configuration, target: Target) -> list[str]:
    """The results that a report is made of: scores, with their statistics for tests, and records.

    Samples are chosen from translations.
    """
    paper, kind, number = target
    if kind == "claims":
        return claims.files(configuration, paper)
    places = _places(configuration, target)
    description = grid.describe(configuration, paper, kind, number)
    samples = kind == "table" and grid.table_kind(description) == grid.SAMPLES
    tested = {place.row for place in places if place.baseline}
    tested |= {place.baseline for place in places}
    found = []
    for place in places:
        differs = (place.row in tested or place.over) and can_be_resampled(place.measure)
        for cell in (*place.cells, *place.over):
            found.append(cell.score_path)
            if samples:
                found.append(cell.hypotheses_path)
            elif differs:
                found.append(cell.statistics_path)
    return list(dict.fromkeys(found))


def configured(configuration: Configuration, target: Target) -> Any:
    """All of the configuration that a report shows, JSON-able, for its fingerprint."""
    paper, kind, number = target
    content = configuration.paper(paper)
    shown = {key: content[key] for key in ("title", "published", "seeds") if key in content}
    if kind == "claims":
        return [configuration.scale, shown, content["claims"]]
    description = grid.describe(configuration, paper, kind, number)
    found = [configuration.scale, shown, description]
    if kind == "table" and grid.table_kind(description) == grid.SETTINGS:
        found.append(settings.trainings(configuration, paper, number))
    return found


def make_table(configuration: Configuration, paper: str, number: str) -> tables.Table:
    """Make a table of any kind.

    Raises:
        UserError: for a description that does not fit, and for damaged results.
    """
    return _table_module(configuration, paper, number).make(configuration, paper, number)


def read_table(configuration: Configuration, paper: str, number: str, csv: Path) -> tables.Table:
    """Arrange a table that was made before.

    Raises:
        UserError: if the file is missing or is not such a table.
    """
    module = _table_module(configuration, paper, number)
    records = tables.read_records(csv, module.NUMBERS)
    return module.lay_out(configuration, paper, number, records)


def _table_module(configuration: Configuration, paper: str, number: str) -> Any:
    description = grid.describe(configuration, paper, "table", number)
    modules = {grid.GRID: tables, grid.SAMPLES: samples, grid.SETTINGS: settings}
    return modules[grid.table_kind(description)]


def _places(configuration: Configuration, target: Target) -> list[grid.Entry]:
    paper, kind, number = target
    if kind == "claims":
        return [place for check in claims.checks(configuration, paper) for place in check.places]
    return grid.entries(configuration, paper, kind, number)

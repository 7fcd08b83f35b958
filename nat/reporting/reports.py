"""Every report of every paper: its name, its files, and what it is made of.

Three kinds: tables and figures, by number, and the claims of a paper, of which there is one.
"""

from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, Literal

from nat.configuration import Configuration
from nat.configuration import papers as models
from nat.reporting import claims, published, samples, settings, tables
from nat.reporting.cells import Cell
from nat.reporting.differences import can_be_resampled
from nat.reporting.paper import Entry, describe, entries

Kind = Literal["table", "figure", "claims"]
Target = tuple[str, Kind, str]
"""Paper, kind and number; the claims have the number ''."""

SUFFIX = {"table": "csv", "figure": "pdf", "claims": "csv"}


def targets(configuration: Configuration) -> list[Target]:
    """Every report of every paper."""
    found: list[Target] = []
    for paper in configuration.papers:
        content = configuration.paper(paper)
        found += [(paper, "table", number) for number in content.tables]
        found += [(paper, "figure", number) for number in content.figures]
        if content.claims:
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
    samples_ = isinstance(describe(configuration, paper, kind, number), models.Samples)
    tested = {place.row for place in places if place.baseline}
    tested |= {place.baseline for place in places}
    found = []
    for place in places:
        differs = (place.row in tested or place.over) and can_be_resampled(place.measure)
        for cell in (*place.cells, *place.over):
            found.append(cell.score_path)
            if samples_:
                found.append(cell.hypotheses_path)
            elif differs:
                found.append(cell.statistics_path)
    return list(dict.fromkeys(found))


def published_file(configuration: Configuration, paper: str) -> str | None:
    """The file with a paper's published values; none for what is not a paper."""
    there = published.exists(Path(configuration.root), paper)
    return published.file_of(paper) if there else None


def configured(configuration: Configuration, target: Target) -> Any:
    """All of the configuration that a report shows, JSON-able, for its fingerprint."""
    paper, kind, number = target
    content = configuration.paper(paper)
    found: list[Any] = [configuration.scale, content.title, content.seeds]
    if kind == "claims":
        judged = [replace(check, places=()) for check in claims.checks(configuration, paper)]
        found += [asdict(check) for check in judged]
    else:
        description = describe(configuration, paper, kind, number)
        found.append(description.model_dump(mode="json"))
        if isinstance(description, models.Settings):
            found.append(settings.trainings(configuration, paper, number))
    # The published values are a file of their own, which reports read.
    found += [asdict(replace(place, published=None)) for place in _places(configuration, target)]
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
    modules = {"grid": tables, "samples": samples, "settings": settings}
    return modules[describe(configuration, paper, "table", number).kind]


def _places(configuration: Configuration, target: Target) -> list[Entry]:
    paper, kind, number = target
    if kind == "claims":
        return [place for check in claims.checks(configuration, paper) for place in check.places]
    return entries(configuration, paper, kind, number)

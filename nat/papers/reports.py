"""Every report of every paper: its name, its files, and its inputs.

Three kinds: tables and figures, by number, and the claims of a paper, of which there is one.
"""

import shlex
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Literal

from nat.artifacts import Artifact, File, Inputs, step_of
from nat.cells.cell import Cell
from nat.cells.differences import can_be_resampled
from nat.cells.entry import Entry
from nat.cells.paper import entries
from nat.cells.resolver import describe
from nat.claims import claim_checks
from nat.configuration import Configuration
from nat.configuration import papers as models
from nat.configuration.file_names import file_of
from nat.papers import settings as stated_settings
from nat.published import published
from nat.tables import samples, settings, tables, texts

Kind = Literal["table", "figure", "claims"]
Target = tuple[str, Kind, str]
"""Paper, kind and number; the claims have the number ''."""


@dataclass(frozen=True)
class InputsOfReport(Inputs):
    """The inputs of a report.

    Attributes:
        results: scores, records, and what intervals and tests need.
        published: the file with the paper's own values.
    """

    results: tuple[Artifact, ...]
    published: File | None


@dataclass(frozen=True)
class Report(Artifact):
    """A table, a figure or the claims of a paper, by the first of its files.

    Attributes:
        formats: the ends of the names of its files, beside each other.
        run: with the results that it shows.
        paper: that it belongs to.
    """

    kind: ClassVar[Kind]
    formats: ClassVar[tuple[str, ...]]
    run: str
    paper: str

    @property
    def files(self) -> list[str]:
        """It in each of its formats."""
        return [str(Path(self.path).with_suffix(f".{each}")) for each in self.formats]

    @property
    def target(self) -> Target:
        """Its target."""
        return self.paper, self.kind, getattr(self, "number", "")

    def inputs(self, configuration: Configuration) -> InputsOfReport:
        """The results that it shows, and the published values."""
        values = None
        if published.exists(Path(configuration.root), self.paper):
            values = File(published.file_of(self.paper), file_of("papers", self.paper))
        return InputsOfReport(tuple(files(configuration, self.target)), values)


@dataclass(frozen=True)
class Table(Report):
    """A table."""

    template = "results/{run}/papers/{paper}/table_{number}.csv"
    kind = "table"
    formats = "csv", "md", "tex"
    number: str


@dataclass(frozen=True)
class Figure(Report):
    """A figure."""

    template = "results/{run}/papers/{paper}/figure_{number}.pdf"
    kind = "figure"
    formats = "pdf", "png", "csv"
    number: str


@dataclass(frozen=True)
class Claims(Report):
    """The judged claims of a paper."""

    template = "results/{run}/papers/{paper}/claims.csv"
    kind = "claims"
    formats = "csv", "md"


@dataclass(frozen=True)
class Site(Artifact):
    """The pages of a run, by the first one; made from whatever exists, see `nat.report.site`."""

    template = "results/{run}/report/index.html"
    run: str


def report(configuration: Configuration, target: Target) -> Report:
    """The report of a target."""
    paper, kind, number = target
    if kind == "claims":
        return Claims(configuration.run, paper)
    return {"table": Table, "figure": Figure}[kind](configuration.run, paper, number)


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
    """The name of a report as a target: `dims_table_1`, `dims_claims`."""
    return "_".join(part for part in target if part)


def title(configuration: Configuration, target: Target) -> str:
    """What a report is about."""
    paper, kind, number = target
    if kind == "claims":
        return "claims"
    return f"{kind} {number}, {describe(configuration, paper, kind, number).title}"


def snakemake(configuration: Configuration, *targets: str) -> str:
    """The command that makes targets or files of this run."""
    choices = [f"{key}={value}" for key, value in configuration.choices.items()]
    return shlex.join(["snakemake", *targets, "--config", *choices])


def cells(configuration: Configuration, target: Target) -> list[Cell]:
    """All cells of a report that this scale can run, without repetitions.

    Raises:
        UserError: for anything in the description that does not exist.
    """
    places = _places(configuration, target)
    return list(dict.fromkeys(cell for place in places for cell in (*place.cells, *place.over)))


def files(configuration: Configuration, target: Target) -> list[Artifact]:
    """The results that a report is made of, and what its samples, tests and marks are read from."""
    paper, kind, number = target
    if kind == "claims":
        return claim_checks.files(configuration, paper)
    places = _places(configuration, target)
    description = describe(configuration, paper, kind, number)
    samples_ = isinstance(description, models.Samples)
    marks = kind == "figure" and not description.keys
    tested = {place.row for place in places if place.baseline}
    tested |= {place.baseline for place in places}
    found: list[Artifact] = []
    for place in places:
        differs = (place.row in tested or place.over) and can_be_resampled(place.measure)
        for cell in (*place.cells, *place.over):
            found += cell.results
            if samples_:
                found += [
                    cell.translations,
                    step_of(cell.corpus, cell.translations.split, "tokens"),
                ]
            elif differs:
                found.append(cell.statistics)
        if marks:  # what collapsed
            found += [each for cell in place.cells for each in cell.of_training]
    return list(dict.fromkeys(found))


def configured(configuration: Configuration, target: Target) -> Any:
    """The configuration that a report depends on, JSON-able, for its fingerprint."""
    paper, kind, number = target
    content = configuration.paper(paper)
    found: list[Any] = [configuration.scale, content.title, content.seeds]
    if kind == "claims":
        judged = [replace(check, places=()) for check in claim_checks.checks(configuration, paper)]
        found += [asdict(check) for check in judged]
        found.append(stated_settings.made_of(configuration, paper))
    else:
        description = describe(configuration, paper, kind, number)
        found.append(description.model_dump(mode="json"))
        if isinstance(description, models.Settings):
            found.append(settings.trainings(configuration, paper, number))
    # The published values are a separate file, which reports read.
    places = _places(configuration, target)
    found += [asdict(replace(place, published=None, across=None)) for place in places]
    return found


def make_table(configuration: Configuration, paper: str, number: str) -> tables.Table:
    """Make a table of any kind.

    Raises:
        UserError: for a description that does not fit, and for damaged results.
    """
    return _table_module(configuration, paper, number).make(configuration, paper, number)


def read_table(configuration: Configuration, paper: str, number: str, csv: Path) -> tables.Table:
    """Read a table that was made before.

    Raises:
        UserError: if the file is missing or is not such a table.
    """
    module = _table_module(configuration, paper, number)
    records = tables.read_records(csv, module.NUMBERS)
    with tables.read_back(csv):
        found: tables.Table = module.lay_out(configuration, paper, number, records)
    return found


def module(configuration: Configuration, target: Target) -> str:
    """The module that makes a report, by its name."""
    paper, kind, number = target
    if kind == "table":
        return str(_table_module(configuration, paper, number).__name__)
    return {"claims": "nat.claims.claims", "figure": "nat.figures.figures"}[kind]


def _table_module(configuration: Configuration, paper: str, number: str) -> Any:
    modules = {"grid": tables, "samples": samples, "texts": texts, "settings": settings}
    return modules[describe(configuration, paper, "table", number).kind]


def _places(configuration: Configuration, target: Target) -> list[Entry]:
    paper, kind, number = target
    if kind == "claims":
        return [
            place for check in claim_checks.checks(configuration, paper) for place in check.places
        ]
    found = entries(configuration, paper, kind, number)
    return found + [place.across for place in found if place.across is not None]

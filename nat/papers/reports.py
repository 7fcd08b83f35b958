"""Every report of every paper: its name, its files, and its inputs.

Three kinds: tables and figures, by number, and the claims of a paper, of which there is one.
"""

import itertools
import shlex
from collections.abc import Collection
from pathlib import Path
from types import ModuleType
from typing import Literal

from rich.console import Console
from rich.markdown import Markdown

from nat.artifacts import Artifact, File, Inputs, Score, Statistics, TrainingCurve, step_of
from nat.configuration import Configuration
from nat.configuration.files import file_of
from nat.data.lines import read_lines
from nat.errors import UserError
from nat.measures.known import MEASURES
from nat.papers import claims, hyper_parameters, published, samples, settings, tables
from nat.papers.cells import Cell, training_of
from nat.papers.relation import relation
from nat.papers.resolved import ResolvedClaims, ResolvedPart
from nat.papers.table_formats import TableText

Form = Literal["table", "figure", "claims"]
Target = tuple[str, Form, str]
"""Paper, form and number; the claims have the number ''."""
FORMATS: dict[Form, tuple[str, ...]] = {
    "table": ("csv", "md", "tex"),
    "figure": ("pdf", "png", "csv"),
    "claims": ("csv", "md"),
}
"""The ends of the names of the files of a report."""
TABLES: dict[str, ModuleType] = {
    "grid": tables,
    "samples": samples,
    "texts": tables,
    "settings": hyper_parameters,
}
"""The module of each kind of table."""


class Report(Artifact):
    """A table, a figure or the claims of a paper, by the first of its files."""

    run: str
    paper: str
    form: Form
    number: str = ""

    @property
    def files(self) -> list[str]:
        """It in each of its formats."""
        stem = "_".join(filter(None, (self.form, self.number)))
        folder = f"results/{self.run}/papers/{self.paper}"
        return [f"{folder}/{stem}.{each}" for each in FORMATS[self.form]]

    @property
    def path(self) -> str:
        """The first of its files."""
        return self.files[0]

    @property
    def target(self) -> Target:
        """Its target."""
        return self.paper, self.form, self.number

    def _read(self, configuration: Configuration) -> Inputs:
        values = None
        if published.exists(Path(configuration.root), self.paper):
            values = File(published.file_of(self.paper), file_of("papers", self.paper))
        return Inputs(results=tuple(files(configuration, self.target)), published=values)


class Site(Artifact, path="results/{run}/report/index.html"):
    """The pages of a run, by the first one; made from whatever exists, see `nat.report.site`."""

    run: str


def targets(configuration: Configuration) -> list[Target]:
    """List every report of every paper."""
    every: list[Target] = []
    for name in configuration.papers:
        paper = configuration.paper(name)
        every += [(name, "table", number) for number in paper.tables]
        every += [
            (name, "figure", number)
            for number, figure in paper.figures.items()
            if figure.kind != "sweep" or relation(configuration, name)[f"figure {number}"].cells
        ]
        every += [(name, "claims", "")] * bool(paper.claims)
    return every


def name(target: Target) -> str:
    """Name a report as a target: `dims_table_1`, `dims_claims`."""
    return "_".join(part for part in target if part)


def snakemake(configuration: Configuration, *targets: str) -> str:
    """Write the command that makes targets or files of this run."""
    choices = [f"{key}={value}" for key, value in configuration.choice.keys.items()]
    return shlex.join(["snakemake", *targets, "--config", *choices])


def all_cells(configuration: Configuration, target: Target) -> list[Cell]:
    """List all cells of a report; UserErrors tell what its description names in vain."""
    paper, kind, number = target
    if kind == "claims":
        return [cell for check in claims.checks(configuration, paper) for cell in check.cells]
    return relation(configuration, paper)[f"{kind} {number}"].cells


def cells(configuration: Configuration, target: Target) -> list[Cell]:
    """List the cells of a report that this scale can run."""
    return [cell for cell in all_cells(configuration, target) if cell.source is not None]


def files(configuration: Configuration, target: Target) -> list[Artifact]:
    """List the results that a report is made of, and what its samples and tests are read from."""
    paper, form, number = target
    read: list[Artifact | None] = []
    for check in claims.checks(configuration, paper) if form == "claims" else ():
        for cell in check.cells:
            read += [cell.source, _statistics(cell) if check.kind != "correlation" else None]
    if form != "claims":
        part = relation(configuration, paper)[f"{form} {number}"]
        kind, groups = part.described.kind, part.numbers
        tested = {own[0].row for own, _ in groups if own[0].baseline}
        tested |= {own[0].baseline for own, _ in groups}
        for own, over in groups:
            for cell in (*own, *over):
                read.append(cell.source)
                if kind == "samples" and isinstance(cell.source, Score):
                    read += [cell.source.translations, step_of(cell.corpus, cell.split, "tokens")]
                elif cell.row in tested or over:
                    read.append(_statistics(cell))
                if kind == "curves" and cell.source is not None:
                    read.append(TrainingCurve(**vars(cell.source)))
            if form == "figure" and not part.keys:  # which trainings collapsed
                read += map(training_of, own)
    return [each for each in dict.fromkeys(read) if each is not None]


def _statistics(cell: Cell) -> Statistics | None:
    """The counts beside a score, from which intervals and tests are computed."""
    return cell.source.statistics if isinstance(cell.source, Score) else None


# What jobs are handed; all of these raise errors for what does not exist, as `all_cells`


def resolve(configuration: Configuration, target: Target) -> ResolvedPart | ResolvedClaims:
    """Resolve a report."""
    paper, form, number = target
    if form == "claims":
        return resolve_claims(configuration, paper)
    return resolve_part(configuration, paper, f"{form} {number}")


def resolve_part(configuration: Configuration, paper: str, name: str) -> ResolvedPart:
    """Resolve a table or figure, such as `table 2`."""
    part = relation(configuration, paper)[name]
    number = name.partition(" ")[2]
    corpora = dict.fromkeys(
        f"{cell.corpus} {cell.split} set" if cell.split else cell.corpus
        for cell in itertools.chain.from_iterable(number.own for number in part.numbers)
        if cell.axis == "y" and cell.corpus
        if not MEASURES[cell.measure].any_corpus
    )
    of = f": {', '.join(corpora) or 'no corpus'}" if part.cells else ""
    return ResolvedPart(
        paper=paper,
        number=number,
        scale=configuration.scale,
        title=f"{configuration.paper(paper).title}, {name}: {part.described.title}",
        origin=f"scale {configuration.scale}{of}",
        described=part.described,
        rows={row.label: row.given for row in part.rows},
        columns={column.label: column.given for column in part.columns},
        numbers=part.numbers,
        keys=part.keys,
        settings=part.settings,
    )


def resolve_claims(configuration: Configuration, paper: str) -> ResolvedClaims:
    """Resolve the claims of a paper, and find deviations from its settings."""
    described = configuration.paper(paper)
    return ResolvedClaims(
        paper=paper,
        scale=configuration.scale,
        title=described.title,
        checks=list(claims.checks(configuration, paper)),
        trainings=len(described.seeds or configuration.scale_settings.seeds),
        deviations=settings.deviations(configuration, paper),
    )


def make_table(table: ResolvedPart, root: Path) -> TableText:
    """Make a table of any kind from the results below a folder; damaged ones are UserErrors."""
    made: TableText = TABLES[table.described.kind].make(table, root)
    return made


def show(configuration: Configuration, papers: Collection[str], console: Console) -> None:
    """Print what was made of these papers or of all: tables and claims, and all paths.

    An unknown paper is a UserError, and so is nothing to show.
    """
    for paper in papers:
        configuration.paper(paper)
    places = []
    for target in targets(configuration):
        made, *others = Report(configuration.run, *target).files
        if (papers and target[0] not in papers) or not (configuration.root / made).exists():
            continue
        for path in (configuration.root / each for each in others if each.endswith(".md")):
            lines = list(read_lines(path))
            rows = [len(line) for line in lines if line.startswith("|")]
            console.width = max(console.width, *rows, 0)  # lines of a wide table wrap whole
            console.print(Markdown("\n".join(lines)))
        stem = made.rpartition(".")[0]
        places.append(f"{stem}.{{{','.join(FORMATS[target[1]])}}}")
    if not places:
        folder = f"results/{configuration.run}/papers"
        folders = " or ".join(f"{folder}/{paper}" for paper in sorted(papers)) or folder
        command = snakemake(configuration, *(papers or ["all"]))
        raise UserError(f"there are no tables or figures below {folders}; run '{command}'")
    for place in places:
        console.print(place, style="cyan", highlight=False, soft_wrap=True)

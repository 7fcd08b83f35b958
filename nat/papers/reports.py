"""Every report of every paper: its name, its files, and its inputs.

Three kinds: tables and figures, by number, and the claims of a paper, of which there is one.
"""

import itertools
import shlex
from collections.abc import Callable, Collection, Iterator
from pathlib import Path

from rich.console import Console
from rich.markdown import Markdown

from nat.artifacts import Artifact, File, Inputs, Score, Statistics, TrainingCurve, step_of
from nat.configuration import Configuration
from nat.configuration.files import file_of
from nat.data.lines import read_lines
from nat.errors import UserError
from nat.measures.known import MEASURES
from nat.papers import claims, hyper_parameters, published, samples, settings, tables
from nat.papers.cells import Cell, ResolvedClaims, ResolvedPart, training_of
from nat.papers.relation import relation
from nat.papers.table_formats import TableText

FORMATS = {
    "table": ("csv", "md", "tex"),
    "figure": ("pdf", "png", "csv"),
    "claims": ("csv", "md"),
}
"""The ends of the names of the files of a report."""
TABLES: dict[str, Callable[[ResolvedPart, Path], TableText]] = {
    **{"grid": tables.make, "texts": tables.make},
    **{"samples": samples.make, "settings": hyper_parameters.make},
}
"""What makes each kind of table."""


class Report(Artifact):
    """A table, a figure or the claims of a paper, by the first of its files."""

    run: str
    paper: str
    form: str
    number: str = ""

    @property
    def part(self) -> str:
        """What it is of its paper: `table 1`, `claims`."""
        return f"{self.form} {self.number}".strip()

    @property
    def name(self) -> str:
        """Its name as a target: `dims_table_1`, `dims_claims`."""
        return f"{self.paper}_{self.part}".replace(" ", "_")

    @property
    def files(self) -> list[str]:
        """It in each of its formats."""
        stem = f"results/{self.run}/papers/{self.paper}/{self.part.replace(' ', '_')}"
        return [f"{stem}.{each}" for each in FORMATS[self.form]]

    @property
    def path(self) -> str:
        """The first of its files."""
        return self.files[0]

    def _read(self, configuration: Configuration) -> Inputs:
        values, file = None, published.file_of(self.paper)
        if (configuration.root / file).exists():
            values = File(file, file_of("papers", self.paper))
        results = dict.fromkeys(filter(None, _results(configuration, self)))
        return Inputs(results=tuple(results), published=values)


class Site(Artifact, path="results/{run}/report/index.html"):
    """The pages of a run, by the first one; made from whatever exists, see `nat.report.site`."""

    run: str


def every(configuration: Configuration, papers: Collection[str] = ()) -> Iterator[Report]:
    """Every report of these papers or of all."""
    for name in papers or configuration.files["papers"]:
        for part in relation(configuration, name):
            yield Report(configuration.run, name, *part.split(" "))
        if configuration.paper(name).claims:
            yield Report(configuration.run, name, "claims")


def snakemake(configuration: Configuration, *targets: str) -> str:
    """Write the command that makes targets or files of this run."""
    choices = [f"{key}={value}" for key, value in configuration.choice.keys.items()]
    return shlex.join(["snakemake", *targets, "--config", *choices])


def cells(configuration: Configuration, report: Report) -> list[Cell]:
    """List the cells of a report that this scale can run; a wrong description is a UserError."""
    if report.form == "claims":
        shown = [each for own in claims.checks(configuration, report.paper) for each in own.cells]
    else:
        shown = relation(configuration, report.paper)[report.part].cells
    return [cell for cell in shown if cell.source is not None]


def _results(configuration: Configuration, report: Report) -> Iterator[Artifact | None]:
    """The results that a report is made of, and what its samples and tests are read from."""
    if report.form == "claims":
        for check in claims.checks(configuration, report.paper):
            for cell in check.cells:
                yield cell.source
                yield _statistics(cell) if check.kind != "correlation" else None
        return
    part = relation(configuration, report.paper)[report.part]
    kind, groups = part.described.kind, part.numbers
    tested = {own[0].row for own, _ in groups if own[0].baseline}
    tested |= {own[0].baseline for own, _ in groups}
    for own, over in groups:
        for cell in (*own, *over):
            yield cell.source
            if kind == "samples" and isinstance(cell.source, Score):
                yield cell.source.translations
                yield step_of(cell.corpus, cell.split, "tokens")
            elif cell.row in tested or over:
                yield _statistics(cell)
            if kind == "curves" and cell.source is not None:
                yield TrainingCurve(**vars(cell.source))
        if report.form == "figure" and not part.keys:  # which trainings collapsed
            yield from map(training_of, own)


def _statistics(cell: Cell) -> Statistics | None:
    """The counts beside a score, from which intervals and tests are computed."""
    return cell.source.statistics if isinstance(cell.source, Score) else None


# What jobs are handed; all of these raise errors for what does not exist, as `cells`


def resolve(configuration: Configuration, report: Report) -> ResolvedPart | ResolvedClaims:
    """Resolve a report."""
    if report.form == "claims":
        return resolve_claims(configuration, report.paper)
    return resolve_part(configuration, report.paper, report.part)


def resolve_part(configuration: Configuration, paper: str, name: str) -> ResolvedPart:
    """Resolve a table or figure, such as `table 2`."""
    part = relation(configuration, paper)[name]
    number = name.partition(" ")[2]
    numbers = part.numbers[:: 2 if part.described.kind == "scatter" else 1]  # of its vertical axis
    corpora = dict.fromkeys(
        f"{cell.corpus} {cell.split} set" if cell.split else cell.corpus
        for cell in itertools.chain.from_iterable(number.own for number in numbers)
        if cell.corpus and not MEASURES[cell.measure].any_corpus
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
    return TABLES[table.described.kind](table, root)


def show(configuration: Configuration, papers: Collection[str], console: Console) -> None:
    """Print what was made of these papers or of all: tables and claims, and all paths.

    An unknown paper is a UserError, and so is nothing to show.
    """
    places, folder = [], f"results/{configuration.run}/papers"
    known = configuration.files["papers"]  # only what was made is read, which takes less time
    there = [each for each in known if (configuration.root / folder / each).is_dir()]
    for report in [*every(configuration, papers or there)]:
        made, *others = report.files
        if not (configuration.root / made).exists():
            continue
        for path in (configuration.root / each for each in others if each.endswith(".md")):
            lines = list(read_lines(path))
            rows = [len(line) for line in lines if line.startswith("|")]
            console.width = max(console.width, *rows, 0)  # lines of a wide table wrap whole
            console.print(Markdown("\n".join(lines)))
        stem = made.rpartition(".")[0]
        places.append(f"{stem}.{{{','.join(FORMATS[report.form])}}}")
    if not places:
        folders = " or ".join(f"{folder}/{paper}" for paper in sorted(papers)) or folder
        command = snakemake(configuration, *(papers or ["all"]))
        raise UserError(f"there are no tables or figures below {folders}; run '{command}'")
    for place in places:
        console.print(place, style="cyan", highlight=False, soft_wrap=True)

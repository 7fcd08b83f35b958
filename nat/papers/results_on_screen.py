"""The tables and judged claims of a run on the screen, and where its figures are."""

from collections.abc import Collection
from pathlib import Path

from rich.console import Console

from nat.configuration import Configuration
from nat.errors import UserError
from nat.papers import claim_formats, reports, table_formats


def show(configuration: Configuration, papers: Collection[str], console: Console) -> None:
    """Print the tables and claims that exist, and the paths of all reports.

    Args:
        configuration: of the run.
        papers: whose reports are shown; of all papers if there are none.
        console: to print to.

    Raises:
        UserError: for an unknown paper, and if there is nothing to show.
    """
    for paper in papers:
        configuration.paper(paper)
    places = []
    for target in reports.targets(configuration):
        paper, kind, number = target
        report = reports.report(configuration, target)
        path = Path(report.path)
        if (papers and paper not in papers) or not path.exists():
            continue
        if kind == "table":
            console.print()
            table = reports.resolve_table(configuration, paper, number)
            table_formats.show(reports.read_table(table, path), console)
        elif kind == "claims":
            console.print()
            claims = reports.resolve_claims(configuration, paper)
            claim_formats.show(claims, claim_formats.read(path), console)
        places.append(f"{path.with_suffix('')}.{{{','.join(report.formats)}}}")
    if not places:
        folders = [f"results/{configuration.run}/papers/{paper}" for paper in sorted(papers)]
        raise UserError(
            "there are no tables or figures below "
            f"{' or '.join(folders) or f'results/{configuration.run}/papers'}; run "
            f"'{reports.snakemake(configuration, *(papers or ['all']))}'"
        )
    console.print()
    for place in places:
        console.print(place, style="cyan", highlight=False, soft_wrap=True)

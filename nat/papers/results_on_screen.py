"""The tables and judged claims of a run on the screen, and the places of its figures."""

from collections.abc import Collection
from pathlib import Path

from rich.console import Console

from nat.configuration import Configuration
from nat.errors import UserError
from nat.papers import reports


def show(configuration: Configuration, papers: Collection[str], console: Console) -> None:
    """Print the tables and claims that were made, as their Markdown, and the paths of all reports.

    Without names of papers, those of all papers are shown.

    Raises:
        UserError: for an unknown paper, and if there is nothing to show.
    """
    for paper in papers:
        configuration.paper(paper)
    places = []
    for target in reports.targets(configuration):
        paper, form, _ = target
        path = Path(reports.Report(configuration.run, *target).path).with_suffix("")
        text = configuration.root / f"{path}.md"
        made = configuration.root / f"{path}.{reports.FORMATS[form][0]}"
        if (papers and paper not in papers) or not made.exists():
            continue
        if "md" in reports.FORMATS[form]:
            said = text.read_text(encoding="utf-8")
            console.print(said, markup=False, highlight=False, soft_wrap=True)
        places.append(f"{path}.{{{','.join(reports.FORMATS[form])}}}")
    if not places:
        folder = f"results/{configuration.run}/papers"
        folders = " or ".join(f"{folder}/{paper}" for paper in sorted(papers)) or folder
        command = reports.snakemake(configuration, *(papers or ["all"]))
        raise UserError(f"there are no tables or figures below {folders}; run '{command}'")
    for place in places:
        console.print(place, style="cyan", highlight=False, soft_wrap=True)

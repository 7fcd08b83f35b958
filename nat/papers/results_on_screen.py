"""The tables and judged claims of a run on the screen, and where its figures are."""

from collections.abc import Collection, Sequence
from pathlib import Path

import rich.box
import rich.table
from rich.console import Console
from rich.text import Text

from nat.configuration import Configuration
from nat.errors import UserError
from nat.papers import reports
from nat.papers.claim_formats import DEVIATIONS, lines, notes, summary
from nat.papers.judgements import WITHOUT_NUMBER, judge
from nat.papers.resolved import ResolvedClaims
from nat.papers.table_formats import NOTHING, TableText, heading
from nat.papers.values import Record
from nat.papers.verdicts import FAILS, HOLDS, UNDECIDED

STYLES = {HOLDS: "green", FAILS: "red", UNDECIDED: "magenta"}
STYLES |= dict.fromkeys(WITHOUT_NUMBER, "yellow")


def show(configuration: Configuration, papers: Collection[str], console: Console) -> None:
    """Print the tables and claims that were made, from the results, and the paths of all reports.

    Without names of papers, those of all papers are shown.

    Raises:
        UserError: for an unknown paper, damaged results, and if there is nothing to show.
    """
    for paper in papers:
        configuration.paper(paper)
    places = []
    for target in reports.targets(configuration):
        paper, kind, number = target
        report = reports.Report(configuration.run, *target)
        if (papers and paper not in papers) or not (configuration.root / report.path).exists():
            continue
        if kind == "table":
            table = reports.resolve_part(configuration, paper, f"table {number}")
            show_table(reports.make_table(table, configuration.root), console)
        elif kind == "claims":
            claims = reports.resolve_claims(configuration, paper)
            show_claims(claims, judge(claims, configuration.root), console)
        places.append(f"{Path(report.path).with_suffix('')}.{{{','.join(reports.FORMATS[kind])}}}")
    if not places:
        folder = f"results/{configuration.run}/papers"
        folders = " or ".join(f"{folder}/{paper}" for paper in sorted(papers)) or folder
        command = reports.snakemake(configuration, *(papers or ["all"]))
        raise UserError(f"there are no tables or figures below {folders}; run '{command}'")
    console.print()
    for place in places:
        console.print(place, style="cyan", highlight=False, soft_wrap=True)


def show_table(table: TableText, console: Console) -> None:
    """Print a table; where the terminal is too narrow, lines wrap rather than lose a column."""
    console.print(Text(f"\n{table.title}", style="bold"))
    console.print(Text(table.origin))
    labels = table.labels
    grid = rich.table.Table(box=rich.box.SIMPLE_HEAD, padding=0, pad_edge=False)
    grid.add_column("", no_wrap=not table.prose)
    for position, column in enumerate(table.columns[labels:], labels):
        texts = [*heading(column).split(), *(row[position] for row in table.rows)]
        width = None if table.prose else max(map(len, texts))
        grid.add_column(heading(column), justify="left" if table.prose else "right", width=width)
    for row in table.rows:
        if labels > 1 and row[0]:  # above its rows, so that 80 columns hold a wide table
            grid.add_row(Text(row[0], style="bold"))
        grid.add_row(Text("  " * (labels - 1) + row[labels - 1]), *map(Text, row[labels:]))
    width = console.width
    if not table.prose:
        needed = console.measure(grid, options=console.options.update(width=1000)).maximum
        console.width = max(width, needed)
    console.print(grid, crop=False)
    console.width = width
    for note in table.notes:
        console.print(Text(note, style="dim"))


def show_claims(claims: ResolvedClaims, records: Sequence[Record], console: Console) -> None:
    """Print each judgement with its numbers."""
    console.print(Text(f"\n{claims.title}, claims: {summary(records)}", style="bold"))
    console.print(Text(claims.about))
    previous = ""
    for record in records:
        texts = {name: text for name, text in lines(record).items() if text not in ("", NOTHING)}
        if texts["claim"] != previous:
            console.print(Text(texts["claim"]))
            previous = texts["claim"]
        case = f" {texts['case']}:" if "case" in texts else ""
        line = Text("  ").append(texts["verdict"], style=STYLES[record["verdict"]])
        line.append(f"{case} {texts['ours']}")
        for name in list(texts)[list(texts).index("ours") + 1 :]:
            line.append(f"; {name} {texts[name]}")
        console.print(line)
    deviations = [f"{DEVIATIONS}:", *claims.deviations] if claims.deviations else []
    for text in (*notes(records), *deviations):
        console.print(Text(text, style="dim"))

"""Print the tables and judged claims of a run, and the paths of its figures."""

import argparse
from pathlib import Path

from rich.console import Console

from nat import program
from nat.configuration.arguments import add_configuration_arguments, configuration_from
from nat.errors import UserError
from nat.reporting import claim_reports, reports, tables
from nat.spelling import hint

FORMATS = {"table": ("csv", "md", "tex"), "figure": ("pdf", "png", "csv"), "claims": ("csv", "md")}


def main() -> None:
    """Parse the command line and print what is there."""
    parser = argparse.ArgumentParser(description=__doc__)
    add_configuration_arguments(parser)
    parser.add_argument(
        "--paper", action="append", help="only this paper; may be given several times"
    )
    arguments = parser.parse_args()
    configuration = configuration_from(arguments)
    for paper in arguments.paper or ():
        if paper not in configuration.papers:
            raise UserError(f"unknown paper '{paper}'; {hint(paper, configuration.papers)}")
    console = Console()
    shown = []
    for target in reports.targets(configuration):
        paper, kind, number = target
        path = Path(reports.report(configuration, target).path)
        if (arguments.paper and paper not in arguments.paper) or not path.exists():
            continue
        if kind == "table":
            console.print()
            tables.show(reports.read_table(configuration, paper, number, path), console)
        elif kind == "claims":
            console.print()
            claim_reports.show(configuration, paper, claim_reports.read(path), console)
        shown.append(f"{path.with_suffix('')}.{{{','.join(FORMATS[kind])}}}")
    if not shown:
        chosen = " ".join(f"{key}='{value}'" for key, value in configuration.choices.items())
        raise UserError(
            f"there are no tables or figures below results/{configuration.run}/papers; run the "
            f"workflow with --config {chosen}"
        )
    console.print()
    for place in shown:
        console.print(place, style="cyan", highlight=False, soft_wrap=True)


if __name__ == "__main__":
    program.run(main)

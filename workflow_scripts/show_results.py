"""Print the tables of a run and say where its figures lie."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import argparse

from rich.console import Console

from nat import program
from nat.configuration.arguments import add_configuration_arguments, configuration_from
from nat.errors import UserError
from nat.reporting import grid, tables


def main() -> None:
    """Parse the command line and print what is there."""
    parser = argparse.ArgumentParser(description=__doc__)
    add_configuration_arguments(parser)
    parser.add_argument(
        "--paper", action="append", help="only this paper; may be given several times"
    )
    arguments = parser.parse_args()
    configuration = configuration_from(arguments)
    console = Console()
    shown = []
    for paper, kind, number in grid.targets(configuration):
        if arguments.paper and paper not in arguments.paper:
            continue
        folder = Path("results/papers") / paper
        if kind == "table" and (folder / f"table_{number}.csv").exists():
            path = folder / f"table_{number}.csv"
            records = tables.read_records(path)
            console.print()
            tables.show(tables.lay_out(configuration, paper, number, records), console)
            shown.append(f"{path.with_suffix('')}.{{csv,md,tex}}")
        elif kind == "figure" and (folder / f"figure_{number}.pdf").exists():
            shown.append(f"{folder / f'figure_{number}'}.{{pdf,png,csv}}")
    if not shown:
        raise UserError("there are no tables or figures below results/papers; run the workflow")
    console.print()
    for place in shown:
        console.print(place, style="cyan", highlight=False, soft_wrap=True)


if __name__ == "__main__":
    program.run(main)

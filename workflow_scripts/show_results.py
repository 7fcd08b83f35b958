"""Print the tables and judged claims of a run, and the paths of its figures."""

import argparse

from rich.console import Console

from nat import program
from nat.configuration.command_line import add_configuration_arguments, configuration_from
from nat.papers.reports import show


def main() -> None:
    """Parse the command line and print what is there."""
    parser = argparse.ArgumentParser(description=__doc__)
    add_configuration_arguments(parser)
    parser.add_argument(
        "--paper", action="append", default=[], help="only this paper; may be given several times"
    )
    arguments = parser.parse_args()
    show(configuration_from(arguments), arguments.paper, Console())


if __name__ == "__main__":
    program.run(main)

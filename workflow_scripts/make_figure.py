"""Make one figure of a paper as PDF, with PNG and the plotted points (CSV) beside it."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import argparse

from nat import program
from nat.configuration.arguments import add_configuration_arguments, configuration_from
from nat.reporting import figures


def main() -> None:
    """Parse the command line and draw the figure."""
    parser = argparse.ArgumentParser(description=__doc__)
    add_configuration_arguments(parser)
    parser.add_argument("--paper", required=True, help="config/papers/PAPER.yaml")
    parser.add_argument("--figure", required=True, help="number of the figure in that file")
    parser.add_argument("--output", required=True, type=Path, help="figure_N.pdf")
    arguments = parser.parse_args()
    plot = figures.make(configuration_from(arguments), arguments.paper, arguments.figure)
    figures.write(plot, arguments.output)


if __name__ == "__main__":
    program.run(main)

"""Make one figure of a paper as PDF, with PNG and the plotted points (CSV) beside it."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from nat.configuration import Configuration
from nat.reporting import figures
from nat.reporting.reports import Figure
from nat.workflow.program import makes


@makes(Figure)
def main(configuration: Configuration, figure: Figure) -> None:
    """Make one figure of a paper as PDF."""
    figures.write(figures.make(configuration, figure.paper, figure.number), Path(figure.path))


if __name__ == "__main__":
    main()

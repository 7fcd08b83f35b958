"""Make one figure of a paper as PDF, with PNG and the plotted points (CSV) beside it."""

from pathlib import Path

from nat.configuration import Configuration
from nat.figures import figures, points
from nat.papers.reports import Figure
from nat.workflow.program import makes


@makes(Figure)
def main(configuration: Configuration, figure: Figure) -> None:
    """Make one figure of a paper as PDF."""
    figures.write(points.make(configuration, figure.paper, figure.number), Path(figure.path))


if __name__ == "__main__":
    main()

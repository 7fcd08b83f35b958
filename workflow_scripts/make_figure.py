"""Make one figure of a paper as PDF, with PNG and the plotted points (CSV) beside it."""

from pathlib import Path

from nat.figures import figures, points
from nat.job import Job, run_job
from nat.options import validated
from nat.papers import reports
from nat.papers.cells import ResolvedPart


def main(job: Job[reports.Report]) -> None:
    """Make one figure of a paper as PDF."""
    figure = validated(ResolvedPart, job.configuration.report)
    figures.write(points.make(figure, Path()), job.path)


if __name__ == "__main__":
    run_job(main)

"""Make one figure of a paper as PDF, with PNG and the plotted points (CSV) beside it."""

from nat.figures import figures, points
from nat.job import Job, run_job
from nat.papers.reports import Figure
from nat.workflow.specification import whole


def main(job: Job[Figure]) -> None:
    """Make one figure of a paper as PDF."""
    figures.write(points.make(whole(job), job.artifact.paper, job.artifact.number), job.path)


if __name__ == "__main__":
    run_job(main)

"""Make the report of a run, a folder of pages, from the results that exist."""

from nat.configuration.reading import read_snapshot
from nat.job import Job, run_job
from nat.papers.reports import Site
from nat.report import site


def main(job: Job[Site]) -> None:
    """Make the report of a run."""
    site.write(read_snapshot(str(job.configuration.whole)), job.path.parent)


if __name__ == "__main__":
    run_job(main)

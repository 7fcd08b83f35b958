"""Make the report of a run, a folder of pages, from the results that exist."""

from pathlib import Path

from nat.configuration.reading import read_snapshot
from nat.job import Job, run_job
from nat.papers.reports import Site
from nat.report import site


def main(job: Job[Site]) -> None:
    """Make the report of a run."""
    whole = read_snapshot(Path(str(job.configuration.whole)))
    site.write(whole, job.path.parent)


if __name__ == "__main__":
    run_job(main)

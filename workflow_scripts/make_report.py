"""Make the report of a run, a folder of pages, from the results that exist."""

from nat.job import Job, run_job
from nat.papers.reports import Site
from nat.report import site
from nat.workflow.specification import whole


def main(job: Job[Site]) -> None:
    """Make the report of a run."""
    site.write(whole(job), job.path.parent)


if __name__ == "__main__":
    run_job(main)

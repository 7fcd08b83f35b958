"""Make one table of a paper as CSV, with Markdown and LaTeX beside it."""

from nat.job import Job, run_job
from nat.papers import reports, table_formats
from nat.papers.reports import Table
from nat.workflow.specification import whole


def main(job: Job[Table]) -> None:
    """Make one table of a paper as CSV."""
    made = reports.make_table(whole(job), job.artifact.paper, job.artifact.number)
    table_formats.write(made, job.path)


if __name__ == "__main__":
    run_job(main)

"""Make one table of a paper as CSV, with Markdown and LaTeX beside it."""

from pathlib import Path

from nat.job import Job, run_job
from nat.options import validated
from nat.papers import reports, table_formats
from nat.papers.resolved import ResolvedTable


def main(job: Job[reports.Table]) -> None:
    """Make one table of a paper as CSV."""
    table = validated(ResolvedTable, job.configuration.report)
    table_formats.write(reports.make_table(table, Path()), job.path)


if __name__ == "__main__":
    run_job(main)

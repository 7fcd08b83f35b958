"""Make one table of a paper as CSV, with Markdown and LaTeX beside it."""

from pathlib import Path

from nat.job import Job, run_job
from nat.options import validated
from nat.papers import reports, table_formats
from nat.papers.cells import ResolvedPart


def main(job: Job[reports.Report]) -> None:
    """Make one table of a paper as CSV."""
    table = validated(ResolvedPart, job.configuration.report)
    table_formats.write(reports.make_table(table, Path()), job.path)


if __name__ == "__main__":
    run_job(main)

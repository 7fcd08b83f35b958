"""Make one table of a paper as CSV, with Markdown and LaTeX beside it."""

from pathlib import Path

from nat.configuration import Configuration
from nat.papers import reports, table_formats
from nat.papers.reports import Table
from nat.workflow.program import makes


@makes(Table)
def main(configuration: Configuration, table: Table) -> None:
    """Make one table of a paper as CSV."""
    made = reports.make_table(configuration, table.paper, table.number)
    table_formats.write(made, Path(table.path))


if __name__ == "__main__":
    main()

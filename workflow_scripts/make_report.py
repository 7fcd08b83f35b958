"""Make the report of a run, a folder of pages, from the results that exist."""

from pathlib import Path

from nat.configuration import Configuration
from nat.papers.reports import Site
from nat.report import site
from nat.workflow.program import makes


@makes(Site)
def main(configuration: Configuration, wanted: Site) -> None:
    """Make the report of a run."""
    site.write(configuration, Path(wanted.path).parent)


if __name__ == "__main__":
    main()

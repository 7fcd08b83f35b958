"""Make a small copy of the report of a run, to be published; it is refused if it is too large."""

import argparse
from pathlib import Path

from nat import program
from nat.configuration.arguments import add_configuration_arguments, configuration_from
from nat.errors import UserError
from nat.papers.reports import Site, snakemake
from nat.report import packing

LIMIT = 3_000_000
"""Bytes of a copy that may become part of a repository."""


def main() -> None:
    """Parse the command line and make the copy."""
    parser = argparse.ArgumentParser(description=__doc__)
    add_configuration_arguments(parser)
    parser.add_argument("--to", required=True, type=Path, help="folder to make, or to make anew")
    arguments = parser.parse_args()
    configuration = configuration_from(arguments)
    report = Path(Site(configuration.run).path)
    if not report.exists():
        raise UserError(
            f"{report} does not exist; run '{snakemake(configuration, 'report')}' first"
        )
    size = packing.pack(report.parent, arguments.to, LIMIT)
    print(f"{arguments.to}: {size / 1e6:.2f} MB")


if __name__ == "__main__":
    program.run(main)

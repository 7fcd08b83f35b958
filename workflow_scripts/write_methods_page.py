"""Update the tables of docs/methods.md from config/systems."""

import argparse
from pathlib import Path

from nat import program
from nat.configuration import load
from nat.reporting.systems_page import with_tables


def main() -> None:
    """Parse the command line and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--page",
        type=Path,
        default=Path("docs/methods.md"),
        help="page to update (default: %(default)s)",
    )
    page: Path = parser.parse_args().page
    text = with_tables(page.read_text(encoding="utf-8"), load())
    page.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    program.run(main)

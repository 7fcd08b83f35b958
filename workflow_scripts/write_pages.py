"""Update the generated tables of the pages in docs/ from config/ and the code."""

import argparse
from pathlib import Path

from nat import program
from nat.configuration import load
from nat.documentation import PAGES, with_tables


def main() -> None:
    """Parse the command line and write the pages."""
    argparse.ArgumentParser(description=__doc__).parse_args()
    configuration = load()
    for name, tables in PAGES.items():
        page = Path("docs", f"{name}.md")
        text = with_tables(page.read_text(encoding="utf-8"), tables(configuration))
        page.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    program.run(main)

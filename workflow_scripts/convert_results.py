"""Convert the results of earlier versions in the current folder to the form of this one."""

import argparse

from nat import program
from nat.jobs.earlier_results import convert


def main() -> None:
    """Parse the command line, convert, and print what was done."""
    argparse.ArgumentParser(description=__doc__).parse_args()
    for line in convert():
        print(line)


if __name__ == "__main__":
    program.run(main)

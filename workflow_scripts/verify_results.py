"""Compare every result with the checksum that it was written with; `--folder` chooses a part."""

import argparse
from pathlib import Path

from nat import program
from nat.errors import UserError
from nat.workflow.verification import verify


def main() -> None:
    """Parse the command line, print what is damaged and how it is made again."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--folder", type=Path, default=Path("results"), help="what to check (default: %(default)s)"
    )
    found = verify(parser.parse_args().folder)
    print(f"{found.intact} files are intact")
    for path, fault in found.faults.items():
        print(f"{fault}: {path}")
    if found.faults:
        raise UserError("; ".join([f"{len(found.faults)} files are not intact", *found.remedies]))


if __name__ == "__main__":
    program.run(main)

"""Compare every result with the checksum that it was written with; `--folder` chooses a part."""

import argparse
from pathlib import Path

from nat import program
from nat.checksums import remedy
from nat.errors import UserError
from nat.workflow.verification import verify


def main() -> None:
    """Parse the command line, print what is damaged and how it is made again."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--folder", type=Path, default=Path("results"), help="what to check (default: %(default)s)"
    )
    intact, faults = verify(parser.parse_args().folder)
    print(f"{intact} files are intact")
    for path, fault in faults.items():
        print(f"{fault}: {path}")
    if faults:
        remedies = dict.fromkeys(map(remedy, faults))
        raise UserError("; ".join([f"{len(faults)} files are not intact", *remedies]))


if __name__ == "__main__":
    program.run(main)

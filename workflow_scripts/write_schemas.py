"""Write JSON Schemas of the files of config/, for editors that complete and check YAML."""

import argparse
from pathlib import Path

from nat import program
from nat.configuration.json_schema import json_schema
from nat.configuration.models import MODELS
from nat.files import make_folder, write_json


def main() -> None:
    """Parse the command line and write one file for each kind."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--folder",
        type=Path,
        default=Path("config/schemas"),
        help="folder to write to (default: %(default)s)",
    )
    folder: Path = parser.parse_args().folder
    make_folder(folder)
    for kind in MODELS:
        write_json(folder / f"{kind}.json", json_schema(kind))
        print(folder / f"{kind}.json")


if __name__ == "__main__":
    program.run(main)

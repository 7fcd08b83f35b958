"""Write JSON Schemas of the files of config/, for editors that complete and check YAML."""

import argparse
from pathlib import Path

from nat import program
from nat.configuration.json_schema import json_schema
from nat.configuration.models import MODELS
from nat.files import make_folder, write_json

FOLDER = Path("config/schemas")


def main() -> None:
    """Write one file for each kind."""
    argparse.ArgumentParser(description=__doc__).parse_args()
    make_folder(FOLDER)
    for kind in MODELS:
        write_json(FOLDER / f"{kind}.json", json_schema(kind))
        print(FOLDER / f"{kind}.json")


if __name__ == "__main__":
    program.run(main)

"""Ask every address of every corpus for one byte, to find those that are dead; needs a network."""

import argparse

from nat import program
from nat.configuration import read
from nat.data.download import probe_all
from nat.data.sources import addresses


def main() -> None:
    """Parse the command line, and print a line for each address."""
    argparse.ArgumentParser(description=__doc__).parse_args()
    configuration = read()
    named = (
        (url, f"{configuration.file_of('corpora', name)}: key '{key}'")
        for name in configuration.corpora
        for key, url in addresses(configuration.corpus(name)).items()
    )
    for line in probe_all(named):
        print(line, flush=True)


if __name__ == "__main__":
    program.run(main)

"""Collect the further references that a corpus file lists for some of its splits."""

import argparse
from pathlib import Path

from nat.configuration import load
from nat.data.references import make_references
from nat.data.sources import Place
from nat.program import run


def main() -> None:
    """Read the arguments and make the folder."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpus", required=True, help="name of a file of config/corpora")
    parser.add_argument("--scale", help="demo, small or paper (default: that of config.yaml)")
    parser.add_argument("--splits", nargs="+", required=True, help="splits with references")
    parser.add_argument("--text", type=Path, required=True, help="folder of their raw text")
    parser.add_argument("--output", type=Path, required=True, help="folder to make")
    options = parser.parse_args()
    configuration = load(options.scale)
    place = Place(options.corpus, Path(), configuration.mirror, Path("results/downloads"))
    corpus = configuration.corpus(options.corpus)
    make_references(corpus, options.splits, options.text, options.output, place)


if __name__ == "__main__":
    run(main)

"""Turn the subwords of a corpus into ids."""

import argparse
from pathlib import Path

from nat.configuration import load
from nat.data.binarised import binarise_folder
from nat.data.splits import training_part
from nat.program import run


def main() -> None:
    """Read the arguments and make the folder."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpus", required=True, help="name of a file of config/corpora")
    parser.add_argument("--scale", help="demo, small or paper (default: that of config.yaml)")
    parser.add_argument("--bpe", type=Path, required=True, help="folder of the subwords")
    parser.add_argument("--output", type=Path, required=True, help="folder to make")
    options = parser.parse_args()
    corpus = training_part(load(options.scale).corpus(options.corpus))
    binarise_folder(corpus, options.bpe, options.output)


if __name__ == "__main__":
    run(main)

"""Normalise the text of a corpus and drop bad training pairs."""

import argparse
from pathlib import Path

from nat.configuration import load
from nat.data.clean import clean_folder
from nat.data.splits import training_part
from nat.program import run


def main() -> None:
    """Read the arguments and make the folder."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpus", required=True, help="name of a file of config/corpora")
    parser.add_argument("--scale", help="demo, small or paper (default: that of config.yaml)")
    parser.add_argument("--text", type=Path, required=True, help="folder of the raw text")
    parser.add_argument("--output", type=Path, required=True, help="folder to make")
    parser.add_argument("--threads", type=int, default=1, help="processes to use (default: 1)")
    options = parser.parse_args()
    corpus = training_part(load(options.scale).corpus(options.corpus))
    clean_folder(corpus, options.text, options.output, options.threads)


if __name__ == "__main__":
    run(main)

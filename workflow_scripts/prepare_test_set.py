"""Prepare a test set: clean, tokenise, split into subwords and binarise its text."""

import argparse
from pathlib import Path

from nat.configuration import load
from nat.data.test_set import prepare_test_set
from nat.program import run


def main() -> None:
    """Read the arguments and make the folders."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpus", required=True, help="name of a file of config/corpora")
    parser.add_argument("--scale", help="demo, small or paper (default: that of config.yaml)")
    parser.add_argument("--split", required=True, help="name of the test set")
    parser.add_argument(
        "--folder", type=Path, required=True, help="that holds `text` and where the others are made"
    )
    parser.add_argument(
        "--learned", type=Path, required=True, help="folder of the subwords of the training text"
    )
    parser.add_argument("--threads", type=int, default=1, help="processes to use (default: 1)")
    options = parser.parse_args()
    corpus = load(options.scale).corpus(options.corpus)
    prepare_test_set(corpus, options.split, options.folder, options.learned, options.threads)


if __name__ == "__main__":
    run(main)

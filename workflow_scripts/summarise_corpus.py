"""Summarise a prepared corpus: pairs, tokens, lengths, what was dropped, exact entropies."""

import argparse
from pathlib import Path

from nat.configuration import load
from nat.data.summary import summarise
from nat.files import write_json
from nat.program import run


def main() -> None:
    """Read the arguments and write the summary."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpus", required=True, help="name of a file of config/corpora")
    parser.add_argument("--scale", help="demo, small or paper (default: that of config.yaml)")
    parser.add_argument(
        "--output", type=Path, required=True, help="corpus.json, in the folder of the corpus"
    )
    options = parser.parse_args()
    corpus = load(options.scale).corpus(options.corpus)
    write_json(options.output, summarise(options.corpus, corpus, options.output.parent))


if __name__ == "__main__":
    run(main)

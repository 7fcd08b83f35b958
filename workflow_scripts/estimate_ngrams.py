"""Estimate an n-gram language model of a distilled training text."""

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from nat.configuration.arguments import add_configuration_arguments, configuration_from
from nat.data.ngram import estimate_from
from nat.data.splits import sides
from nat.program import run


def main() -> None:
    """Read the arguments and estimate the model."""
    parser = argparse.ArgumentParser(description=__doc__)
    add_configuration_arguments(parser)
    parser.add_argument("--corpus", required=True, help="name of a file of config/corpora")
    parser.add_argument(
        "--text", type=Path, required=True, help="folder of the distilled text, binarised"
    )
    parser.add_argument("--order", type=int, required=True, help="words of the longest n-grams")
    parser.add_argument("--output", type=Path, required=True, help="file to write")
    parser.add_argument("--report", type=Path, required=True, help="JSON file to write")
    arguments = parser.parse_args()
    _, target = sides(configuration_from(arguments).corpus(arguments.corpus))
    estimate_from(arguments.text, target, arguments.order, arguments.output, arguments.report)


if __name__ == "__main__":
    run(main)

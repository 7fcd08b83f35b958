"""Make distilled training text of a teacher's translations."""

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from nat.configuration.arguments import add_configuration_arguments, configuration_from
from nat.data.distilled import distil
from nat.program import run


def main() -> None:
    """Read the arguments and make the text."""
    parser = argparse.ArgumentParser(description=__doc__)
    add_configuration_arguments(parser)
    parser.add_argument("--corpus", required=True, help="name of a file of config/corpora")
    parser.add_argument(
        "--translations", type=Path, required=True, help="of the training text, train.jsonl"
    )
    parser.add_argument("--output-text", type=Path, required=True, help="folder to make")
    parser.add_argument("--output-binarised", type=Path, required=True, help="folder to make")
    parser.add_argument("--report", type=Path, required=True, help="JSON file to write")
    arguments = parser.parse_args()
    corpus = configuration_from(arguments).corpus(arguments.corpus)
    distil(
        corpus,
        Path("results/corpora") / arguments.corpus / "bpe",
        arguments.translations,
        arguments.output_text,
        arguments.output_binarised,
        arguments.report,
    )


if __name__ == "__main__":
    run(main)

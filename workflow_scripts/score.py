"""Measure the translations of one test set: BLEU and friends, and the counts behind them."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import argparse

from nat import program
from nat.configuration.arguments import add_configuration_arguments, configuration_from
from nat.measures import score


def main() -> None:
    """Parse the command line and score."""
    parser = argparse.ArgumentParser(description=__doc__)
    add_configuration_arguments(parser)
    parser.add_argument("--corpus", required=True, help="corpus that was translated")
    parser.add_argument(
        "--hypotheses", required=True, type=Path, help="translations, {split}.jsonl"
    )
    parser.add_argument(
        "--output", required=True, type=Path, help="JSON file to write, and .npz beside it"
    )
    arguments = parser.parse_args()
    configuration = configuration_from(arguments)
    names = score.names_in_path(arguments.hypotheses)
    references = score.reference_files(
        arguments.corpus, configuration.corpus(arguments.corpus), str(names["split"])
    )
    origin = {**names, "corpus": arguments.corpus, "model": score.model_of(names)}
    score.score(arguments.hypotheses, references).write(arguments.output, origin)


if __name__ == "__main__":
    program.run(main)

"""Join the shards of a translated text into one file that is complete and in order."""

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from nat.configuration.arguments import add_configuration_arguments, configuration_from
from nat.data.binarised import BinarisedText
from nat.data.splits import sides
from nat.data.translations import gather
from nat.program import run


def main() -> None:
    """Read the arguments and join."""
    parser = argparse.ArgumentParser(description=__doc__)
    add_configuration_arguments(parser)
    parser.add_argument("--corpus", required=True, help="name of a file of config/corpora")
    parser.add_argument("--split", required=True, help="train, valid, test or another test set")
    parser.add_argument("--shards", type=Path, nargs="+", required=True, help="files, in order")
    parser.add_argument(
        "--output", type=Path, required=True, help="JSONL file to write, a .json summary beside it"
    )
    arguments = parser.parse_args()
    source, _ = sides(configuration_from(arguments).corpus(arguments.corpus))
    folder = Path("results/corpora") / arguments.corpus / "binarised"
    sentences = len(BinarisedText(folder / f"{arguments.split}.{source}"))
    gather(arguments.shards, sentences, arguments.output)


if __name__ == "__main__":
    run(main)

"""Translate a shard of a text with a trained system."""

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from nat.configuration.arguments import add_configuration_arguments, configuration_from
from nat.program import run


def main() -> None:
    """Read the arguments and translate."""
    parser = argparse.ArgumentParser(description=__doc__)
    add_configuration_arguments(parser)
    parser.add_argument("--corpus", required=True, help="name of a file of config/corpora")
    parser.add_argument("--system", required=True, help="name of a file of config/systems")
    parser.add_argument("--seed", type=int, required=True, help="of the training")
    parser.add_argument("--decoding", required=True, help="name of a file of config/decodings")
    parser.add_argument("--split", required=True, help="train, valid, test or another test set")
    parser.add_argument("--shard", type=int, default=1, help="which part, from 1 (default: 1)")
    parser.add_argument("--shards", type=int, default=1, help="number of parts (default: 1)")
    parser.add_argument("--output", type=Path, required=True, help="JSONL file to write")
    arguments = parser.parse_args()
    configuration = configuration_from(arguments)
    configuration.check_decoding(arguments.system, arguments.decoding)
    # torch takes a second to import, and a mistake in the arguments should be told before
    from nat.decoding.job import translate_shard

    translate_shard(
        configuration,
        arguments.corpus,
        arguments.system,
        arguments.seed,
        arguments.decoding,
        arguments.split,
        arguments.shard,
        arguments.shards,
        arguments.output,
    )


if __name__ == "__main__":
    run(main)

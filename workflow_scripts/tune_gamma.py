"""Tune the weights of dynamic distillation on a split with several references; prints them."""

import argparse
import json
import sys
from pathlib import Path

from nat.artifacts import references
from nat.configuration.arguments import add_configuration_arguments, configuration_from
from nat.data.lines import read_lines
from nat.data.translations import read_in_order
from nat.errors import UserError
from nat.measures.distortion import likeness, tune
from nat.measures.score import read_references, reference_files
from nat.program import run


def main() -> None:
    """Read the arguments and tune."""
    parser = argparse.ArgumentParser(description=__doc__)
    add_configuration_arguments(parser)
    parser.add_argument("--corpus", required=True, help="name of a file of config/corpora")
    parser.add_argument("--split", required=True, help="one that has several references")
    parser.add_argument(
        "--translations",
        type=Path,
        nargs="+",
        required=True,
        help="of the split, by each candidate in order; the raw text is the last candidate",
    )
    arguments = parser.parse_args()
    configuration = configuration_from(arguments)
    files = reference_files(
        arguments.corpus,
        configuration.corpus(arguments.corpus),
        arguments.split,
        several=references(configuration, arguments.corpus, arguments.split) is not None,
    )
    if files.references is None:
        raise UserError(f"{arguments.corpus}: the split '{arguments.split}' has one reference only")
    raw = list(read_lines(files.reference))
    candidates = [[row["text"] for row in read_in_order(path)] for path in arguments.translations]
    for path, texts in zip(arguments.translations, candidates, strict=True):
        if len(texts) != len(raw):
            raise UserError(
                f"{path} has {len(texts)} translations but {files.reference} has {len(raw)} "
                "sentences; translate it again"
            )
    several = read_references(files.references, len(raw))
    covered = sorted(several)
    found = tune(
        likeness(
            [[version[number] for number in covered] for version in [*candidates, raw]],
            [several[number] for number in covered],
        )
    )
    result = {"sentences": len(covered), "gamma": found.gamma, "mean_bleu": round(found.bleu, 4)}
    sys.stdout.write(json.dumps(result) + "\n")


if __name__ == "__main__":
    run(main)

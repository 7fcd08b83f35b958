"""Make the text folder of a corpus: download, copy local files, or generate."""

import argparse
from pathlib import Path

from nat.configuration import load
from nat.data.splits import text_part
from nat.data.text import make_text
from nat.program import run


def main() -> None:
    """Read the arguments and make the folder."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpus", required=True, help="name of a file of config/corpora")
    parser.add_argument("--scale", help="demo, small or paper (default: that of config.yaml)")
    parser.add_argument("--test", help="name of a test set (default: the training text)")
    parser.add_argument("--output", type=Path, required=True, help="folder to make")
    options = parser.parse_args()
    configuration = load(options.scale)
    make_text(
        options.corpus,
        text_part(configuration.corpus(options.corpus), options.test),
        options.output,
        root=Path(),
        mirror=configuration.mirror,
        downloads=Path("results/downloads"),
    )


if __name__ == "__main__":
    run(main)

"""Prepare a test set: clean, tokenise, split into subwords and binarise its text."""

from pathlib import Path

from nat.configuration import Configuration
from nat.data.test_set import prepare_test_set
from nat.workflow.program import program


@program
def main(
    configuration: Configuration, corpus: str, split: str, folder: Path, learned: Path
) -> None:
    """Prepare a test set."""
    prepare_test_set(configuration.corpus(corpus), split, folder, learned)


if __name__ == "__main__":
    main()

"""Normalise the text of a corpus and drop bad training pairs."""

from pathlib import Path

from nat.configuration import Configuration
from nat.data.clean import clean_folder
from nat.data.splits import training_part
from nat.workflow.program import program


@program
def main(
    configuration: Configuration, corpus: str, text: Path, output: Path, threads: int = 1
) -> None:
    """Clean the training text."""
    clean_folder(training_part(configuration.corpus(corpus)), text, output, threads)


if __name__ == "__main__":
    main()

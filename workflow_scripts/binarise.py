"""Turn the subwords of a corpus into ids."""

from pathlib import Path

from nat.configuration import Configuration
from nat.data.binarised import binarise_folder
from nat.data.splits import training_part
from nat.workflow.program import program


@program
def main(configuration: Configuration, corpus: str, bpe: Path, output: Path) -> None:
    """Binarise the training text."""
    binarise_folder(training_part(configuration.corpus(corpus)), bpe, output)


if __name__ == "__main__":
    main()

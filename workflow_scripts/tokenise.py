"""Split the text of a corpus into tokens."""

from pathlib import Path

from nat.configuration import Configuration
from nat.data.splits import training_part
from nat.data.tokenise import tokenise_folder
from nat.workflow.program import program


@program
def main(
    configuration: Configuration, corpus: str, clean: Path, output: Path, threads: int = 1
) -> None:
    """Tokenise the training text."""
    tokenise_folder(training_part(configuration.corpus(corpus)), clean, output, threads)


if __name__ == "__main__":
    main()

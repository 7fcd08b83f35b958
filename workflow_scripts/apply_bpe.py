"""Learn subwords on the training text of a corpus and apply them to what trainings read."""

from pathlib import Path

from nat.configuration import Configuration
from nat.data.bpe import bpe_folder
from nat.data.splits import training_part
from nat.workflow.program import program


@program
def main(
    configuration: Configuration, corpus: str, tokens: Path, output: Path, threads: int = 1
) -> None:
    """Learn and apply subwords."""
    bpe_folder(training_part(configuration.corpus(corpus)), tokens, output, threads)


if __name__ == "__main__":
    main()

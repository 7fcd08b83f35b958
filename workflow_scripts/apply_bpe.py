"""Learn subwords on the training text of a corpus and apply them to what trainings read."""

from pathlib import Path

from nat.artifacts import CorpusStep
from nat.configuration import Configuration
from nat.data.bpe import bpe_folder
from nat.data.splits import training_part
from nat.data.text import GIVEN
from nat.workflow.program import program


@program
def main(
    configuration: Configuration, corpus: str, tokens: Path, output: Path, threads: int = 1
) -> None:
    """Learn and apply subwords."""
    given = Path(CorpusStep(corpus, "text").path) / GIVEN
    bpe_folder(training_part(configuration.corpus(corpus)), tokens, output, threads, given)


if __name__ == "__main__":
    main()

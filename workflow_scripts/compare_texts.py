"""Compare versions of the training text, sentence by sentence, for dynamic distillation."""

from pathlib import Path

from nat.artifacts import Comparison
from nat.configuration import Configuration
from nat.distillation.pairwise_bleu import compare_texts
from nat.workflow.program import makes


@makes(Comparison)
def main(configuration: Configuration, comparison: Comparison, threads: int = 1) -> None:
    """Compare versions of the training text."""
    compare_texts(
        configuration.corpus(comparison.corpus),
        comparison.candidates.split("+"),
        [Path(text.path) for text in comparison.inputs(configuration).texts],
        Path(comparison.path),
        Path(comparison.report),
        threads,
    )


if __name__ == "__main__":
    main()

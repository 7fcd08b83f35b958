"""Measure the translations of one test set: BLEU and other measures, with their counts."""

from nat.artifacts import Score
from nat.configuration import Configuration
from nat.measures.score import score_translations
from nat.workflow.program import makes


@makes(Score)
def main(configuration: Configuration, score: Score) -> None:
    """Measure the translations of one test set."""
    score_translations(configuration, score)


if __name__ == "__main__":
    main()

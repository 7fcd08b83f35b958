"""Estimate an n-gram language model of a distilled training text."""

from pathlib import Path

from nat.artifacts import Ngrams
from nat.configuration import Configuration
from nat.data.splits import sides
from nat.language_model.ngram import estimate_from
from nat.workflow.program import makes


@makes(Ngrams)
def main(configuration: Configuration, ngrams: Ngrams) -> None:
    """Estimate an n-gram language model of a distilled training text."""
    _, target = sides(configuration.corpus(ngrams.corpus))
    text = ngrams.inputs(configuration).text
    path = Path(ngrams.path)
    estimate_from(Path(text.path), target, ngrams.order, path, path.with_suffix(".json"))


if __name__ == "__main__":
    main()

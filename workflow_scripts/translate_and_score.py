"""Translate a split with a trained system by one or several decodings, and score each."""

from nat.artifacts import Score
from nat.configuration import Configuration
from nat.workflow.program import program


@program
def main(
    configuration: Configuration,
    corpus: str,
    system: str,
    seed: int,
    split: str,
    decodings: list[str],
) -> None:
    """Translate a split and score it."""
    # torch takes a second to import, and a mistake in the arguments should be told before
    from nat.jobs.evaluate import evaluate

    names = configuration.run, corpus, system, seed
    scores = [Score(*names, decoding, split) for decoding in decodings]
    evaluate(configuration.on(corpus), scores)


if __name__ == "__main__":
    main()

"""What the analyses of a known law read: `schedule_bounds` and `step_errors`."""

from nat.artifacts import CorpusStep, Inputs
from nat.configuration import Configuration
from nat.errors import UserError


def reads(configuration: Configuration, corpus: str, system: str, seed: int) -> Inputs:
    """With what words are split into the subwords of the corpus.

    Raises:
        UserError: if the corpus has no known law.
    """
    if configuration.corpus(corpus).generator is None:
        raise UserError(
            f"{configuration.file_of('corpora', corpus)}: no key 'generator', so the law of "
            f"'{corpus}' is not known; remove it from the table or figure"
        )
    return Inputs(subwords=CorpusStep(corpus, "bpe"))

"""What the analysis `latent_assignment` reads, and the systems that it refuses."""

from dataclasses import dataclass

from nat.analyses.needs import latent_components
from nat.artifacts import CorpusStep, Inputs, StepOfSplit, held_out, references
from nat.configuration import Configuration
from nat.errors import UserError

check = latent_components.check


@dataclass(frozen=True)
class Others(Inputs):
    """What is read besides the model and the ids of the corpus.

    Attributes:
        subwords: with what segments a text into them.
        references: of the splits whose sentences have several.
    """

    subwords: CorpusStep
    references: tuple[StepOfSplit, ...]


def reads(configuration: Configuration, corpus: str, system: str, seed: int) -> Others:
    """What the assignment depends on.

    Raises:
        UserError: if the corpus does not have several references.
    """
    steps = (references(configuration, corpus, split) for split in held_out(configuration, corpus))
    # of a generated corpus, train and valid lie in one folder
    several = tuple(dict.fromkeys(step for step in steps if step is not None))
    if not several:
        raise UserError(
            f"{corpus} has one reference per sentence; the assignment of latents needs two of them"
        )
    return Others(subwords=CorpusStep(corpus, "bpe"), references=several)

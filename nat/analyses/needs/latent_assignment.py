"""What the analysis `latent_assignment` reads, and the systems that it refuses."""

from nat.analyses.needs import latent_components
from nat.artifacts import CorpusStep, Inputs, held_out, references
from nat.configuration import Configuration
from nat.errors import UserError

check = latent_components.check


def reads(configuration: Configuration, corpus: str, system: str, seed: int) -> Inputs:
    """With what a text is split into subwords, and the references of the splits with several.

    Raises:
        UserError: if the corpus does not have several references.
    """
    description = configuration.corpus(corpus)
    steps = (references(description, corpus, split) for split in held_out(description))
    # of a generated corpus, train and valid lie in one folder
    several = tuple(dict.fromkeys(step for step in steps if step is not None))
    if not several:
        raise UserError(
            f"{corpus} has one reference per sentence; the assignment of latents needs two of them"
        )
    return Inputs(subwords=CorpusStep(corpus, "bpe"), references=several)

"""What the analysis `state_similarity` reads besides the model, and what it refuses."""

from nat.artifacts import Analysis, Inputs
from nat.configuration import Configuration
from nat.errors import UserError


def reads(configuration: Configuration, corpus: str, system: str, seed: int) -> Inputs:
    """The same analysis of the system whose translations a parallel system learns from, if any."""
    texts = configuration.training(corpus, system).text.candidates
    if configuration.is_autoregressive(system) or len(texts) > 1 or texts[0].system is None:
        return Inputs(teacher=None)
    [text] = texts
    assert text.seed is not None
    name = "state_similarity"
    return Inputs(teacher=Analysis(configuration.run, corpus, str(text.system), text.seed, name))


def check(configuration: Configuration, system: str) -> None:
    """Refuse a system that is neither parallel nor autoregressive.

    Raises:
        UserError: naming the file.
    """
    if configuration.decoding_order(system) not in ("parallel", "autoregressive"):
        where = configuration.file_of("systems", system)
        raise UserError(
            f"{where}: states are compared for parallel and autoregressive "
            "systems only; take this one out of that table or figure"
        )

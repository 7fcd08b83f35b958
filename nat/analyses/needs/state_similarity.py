"""What the analysis `state_similarity` reads besides the model, and what it refuses."""

from dataclasses import dataclass

from nat.artifacts import Analysis, Inputs
from nat.configuration import Configuration
from nat.errors import UserError


@dataclass(frozen=True)
class Others(Inputs):
    """The analysis of the teacher, whose head is shown."""

    teacher: Analysis | None


def reads(configuration: Configuration, corpus: str, system: str, seed: int) -> Others:
    """The same analysis of the system whose translations a parallel system learns from, if any."""
    texts = configuration.training(corpus, system).text.candidates
    if configuration.is_autoregressive(system) or len(texts) > 1 or texts[0].system is None:
        return Others(None)
    [text] = texts
    assert text.seed is not None
    name = "state_similarity"
    return Others(Analysis(configuration.run, corpus, str(text.system), text.seed, name))


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

"""What the analysis `confidence` reads besides the analysed model, and what it refuses."""

from dataclasses import dataclass

from nat.artifacts import Inputs, Model
from nat.configuration import Configuration
from nat.errors import UserError


@dataclass(frozen=True)
class Others(Inputs):
    """The teacher from which the input predictor learned which tokens to show."""

    teacher: Model | None


def reads(configuration: Configuration, corpus: str, system: str, seed: int) -> Others:
    """The models that are used in addition to the analysed one."""
    teacher = None
    if configuration.system(system).decoder.input_predictor:
        teacher = (
            Model(configuration.run, corpus, system, seed).inputs_of_training(configuration).teacher
        )
    return Others(teacher)


def check(configuration: Configuration, system: str) -> None:
    """Refuse a system that is not parallel.

    Raises:
        UserError: naming the file.
    """
    if configuration.decoding_order(system) != "parallel":
        where = configuration.file_of("systems", system)
        raise UserError(
            f"{where}: the confidence of a pass over masks is that of a "
            "parallel system; remove this one from the table or figure"
        )

"""What the analysis `confidence` reads besides the analysed model, and what it refuses."""

from nat.artifacts import Inputs, Model
from nat.configuration import Configuration
from nat.errors import UserError


def reads(configuration: Configuration, corpus: str, system: str, seed: int) -> Inputs:
    """The teacher from which the input predictor learned which tokens to show, if it has one."""
    teacher = None
    if configuration.system(system).decoder.input_predictor:
        teacher = (
            Model(configuration.run, corpus, system, seed).inputs_of_training(configuration).teacher
        )
    return Inputs(teacher=teacher)


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

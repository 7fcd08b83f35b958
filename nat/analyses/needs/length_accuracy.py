"""The systems that the analysis `length_accuracy` refuses."""

from nat.configuration import Configuration
from nat.errors import UserError


def check(configuration: Configuration, system: str) -> None:
    """Refuse a system without a length predictor.

    Raises:
        UserError: naming the file.
    """
    if configuration.system(system).length is None:
        where = configuration.file_of("systems", system)
        raise UserError(
            f"{where}: key 'length' is null, so there is no length predictor "
            "whose accuracy could be measured; remove the system from the table or figure"
        )

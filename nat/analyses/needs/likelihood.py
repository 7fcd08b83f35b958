"""The systems that the analysis `likelihood` refuses."""

from nat.configuration import Configuration
from nat.errors import UserError


def check(configuration: Configuration, system: str) -> None:
    """Refuse one of fairseq's own systems, whose loss is that of a batch.

    Raises:
        UserError: naming the file and the key.
    """
    if configuration.decoding_order(system) == "fairseq":
        where = configuration.file_of("systems", system)
        raise UserError(
            f"{where}: key 'target.method', {configuration.system(system).target.method}: this "
            "loss is one number for a batch, and the likelihood of each sentence is not known; "
            "remove the system from the table or figure"
        )

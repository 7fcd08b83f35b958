"""The systems that the analysis `two_orders` refuses; it reads no model."""

from nat.configuration import Configuration
from nat.errors import UserError

READS_MODEL = False


def check(configuration: Configuration, system: str) -> None:
    """Refuse a system that is neither parallel nor autoregressive.

    Raises:
        UserError: naming the file and the key.
    """
    if configuration.decoding_order(system) not in ("parallel", "autoregressive"):
        where = configuration.file_of("systems", system)
        raise UserError(
            f"{where}: key 'input.method', {configuration.system(system).input.method}: the "
            "probability of two orders is computed for parallel and autoregressive systems only; "
            "remove the system from the table or figure"
        )

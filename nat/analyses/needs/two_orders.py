"""The systems that the analysis `two_orders` refuses; it reads no model."""

from nat.analyses.needs.refusals import refused
from nat.configuration import Configuration

READS_MODEL = False


def check(configuration: Configuration, system: str) -> None:
    """Refuse a system that is neither parallel nor autoregressive.

    Raises:
        UserError: naming the file and the key.
    """
    if configuration.decoding_order(system) not in ("parallel", "autoregressive"):
        method = configuration.system(system).input.method
        raise refused(
            configuration,
            system,
            f"key 'input.method', {method}: the probability of two orders is computed for parallel "
            "and autoregressive systems only",
        )

"""The systems that the analysis `likelihood` refuses."""

from nat.analyses.needs.refusals import refused
from nat.configuration import Configuration


def check(configuration: Configuration, system: str) -> None:
    """Refuse one of fairseq's own systems, whose loss is that of a batch.

    Raises:
        UserError: naming the file and the key.
    """
    if configuration.decoding_order(system) == "fairseq":
        method = configuration.system(system).target.method
        raise refused(
            configuration,
            system,
            f"key 'target.method', {method}: this loss is one number for a batch, and the "
            "likelihood of each sentence is not known",
        )

"""The systems that the analysis `length_accuracy` refuses."""

from nat.analyses.needs.refusals import refused
from nat.configuration import Configuration


def check(configuration: Configuration, system: str) -> None:
    """Refuse a system without a length predictor.

    Raises:
        UserError: naming the file.
    """
    if configuration.system(system).length is None:
        reason = "so there is no length predictor whose accuracy could be measured"
        raise refused(configuration, system, f"key 'length' is null, {reason}")

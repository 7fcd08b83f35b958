"""The systems that the analysis `decoding_steps` can decode."""

from nat.analyses.needs.refusals import check_decoding
from nat.configuration import Configuration

STEPS = (4, 10)
"""Decoder passes of mask-predict."""


def check(configuration: Configuration, system: str) -> None:
    """Refuse a system that cannot be decoded by mask-predict.

    Raises:
        UserError: naming the file.
    """
    for steps in STEPS:
        check_decoding(configuration, system, f"mask-predict-{steps}-lb1")

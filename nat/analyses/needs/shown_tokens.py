"""The systems that the analysis `shown_tokens` can decode."""

from nat.analyses.needs.refusals import check_decoding
from nat.configuration import Configuration

STEPS = 10
"""Decoder passes of mask-predict; number `STEPS // 2`, counted from 0, sees half of the target."""

BEAM = 5


def check(configuration: Configuration, system: str) -> None:
    """Refuse a system that has none of these decodings.

    Raises:
        UserError: naming the file.
    """
    decodings = {"hybrid": f"hybrid{BEAM}-1", "semi-autoregressive": f"group-beam{BEAM}"}
    order = configuration.decoding_order(system)
    decoding = decodings.get(order, f"mask-predict-{STEPS}-lb1")
    check_decoding(configuration, system, decoding)

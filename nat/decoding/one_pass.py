"""One bidirectional pass over masks: vanilla non-autoregressive decoding."""

from nat.decoding.length_parallel import LengthParallel
from nat.decoding.options import OnePassDecodingOptions


class OnePass(LengthParallel, OnePassDecodingOptions):
    """Each position takes its most probable symbol; lengths come from the length predictor.

    The score is the mean log-probability per token.

    With more than one length this is length-parallel decoding (LPD, Wei et al. 2019), and the other
    options are the "decoding tricks" of MPLE (Huang et al. 2022, appendix D).
    """


METHOD = OnePass

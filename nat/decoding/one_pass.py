"""One bidirectional pass over masks: vanilla non-autoregressive decoding."""

from pydantic import ConfigDict, Field
from pydantic.dataclasses import dataclass

from nat.decoding.length_parallel import LengthParallel


@dataclass(frozen=True, config=ConfigDict(extra="forbid"))
class OnePass(LengthParallel):
    """Each position takes its most probable symbol; lengths come from the length predictor.

    The score is the mean log-probability per token.

    With more than one length this is length-parallel decoding (LPD, Wei et al. 2019), and the other
    options are the "decoding tricks" of MPLE (Huang et al. 2022, appendix D).

    Attributes:
        length_factor: factor of the predicted lengths (Ghazvininejad et al. 2020), to be tuned on a
            validation set; see `nat.decoding.canvas` for its rounding.
    """

    length_factor: float = Field(default=1.0, gt=0.0, kw_only=True)


METHOD = OnePass

"""Options and traits of the choices among texts: `MixedOptions` are those of `mixed`."""

from typing import Annotated, Literal

from pydantic import Field

from nat.options import Positive, StrictModel
from nat.traits import TextChoice


class Regulariser(StrictModel):
    """The regulariser, -beta * sum over i of gamma_i S(Gamma_i, T) (MPLE, equation 21).

    It favours candidates T that are similar to all candidates Gamma_i; S is the sentence BLEU, 0 to
    100, see `nat.distillation.pairwise_bleu`.

    Attributes:
        beta: 0.2 for WMT14 En-De and 0.1 for WMT17 Zh-En in the paper.
        gamma: one weight per candidate, in their order, or `tuned`: those whose choice is closest
            to several references, found before the training as the paper found its own, see
            `nat.measures.distortion`.
    """

    beta: Positive
    gamma: Literal["tuned"] | Annotated[list[float], Field(min_length=1)]


class DynamicOptions(TextChoice):
    """Of dynamic KD.

    Attributes:
        regulariser: None to choose by likelihood alone ("w/o Regularizer").
    """

    regulariser: Regulariser | None = None

    decoding_order = "parallel"


class MixedOptions(TextChoice):
    """Of mixed distillation.

    Attributes:
        raw: probability of the reference, the first candidate; otherwise the translation, the
            second one, is learned. The paper uses 0.2 for WMT14 En-De and 0.5 for the other tasks.
    """

    raw: float = Field(default=0.5, gt=0.0, lt=1.0)

"""The language model of a decoding, as configuration gives it."""

from pydantic import Field

from nat.options import StrictModel


class LanguageModelOptions(StrictModel):
    """The language model of a decoding, and its weight.

    Attributes:
        system: the system whose translations of the training text the model is estimated on.
        decoding: the decoding that makes these translations.
        order: number of words of the longest n-grams.
        weight: alpha, factor of its log-probabilities.
    """

    system: str
    decoding: str
    order: int = Field(default=4, ge=1, le=9)
    weight: float = Field(default=0.4, gt=0.0)

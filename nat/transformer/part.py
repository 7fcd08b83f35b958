"""The contract of a further part of the network, beyond encoder, decoder and length predictor."""

from typing import Any, ClassVar, Protocol

from torch import Tensor, nn

from nat.transformer.architecture import Architecture
from nat.transformer.encoded import Encoded


class Part(nn.Module):
    """A part that a system names, such as latents or a transition head (`nat/parts/`).

    Each method can be left as it is: then the part does nothing there. Proxy targets and decodings
    find a part with `model.part(ITS_CLASS)`. What it does in training alone is said by
    `nat.objective.part.TrainedPart`.
    """

    initialised_apart: ClassVar[bool] = False
    """True if the part keeps its own initial weights where others are drawn like BERT's."""

    def encoded(self, encoded: Encoded) -> Encoded:
        """Change what the decoder sees of the source, in training and in decoding."""
        return encoded

    def shown(self, vectors: Tensor, tokens: Tensor, encoded: Encoded) -> Tensor:
        """Change the vectors [B, T, D] that the decoder's positions show, of its input [B, T]."""
        return vectors


class PartMethod(Protocol):
    """A file of `nat/parts` with its options, see `nat.traits.NetworkPart`."""

    @property
    def form(self) -> dict[str, Any]:
        """Options that the shapes of the weights depend on."""

    def __call__(self, architecture: Architecture, dropout: float) -> Part:
        """Build the part."""

"""What a further part of the network may do, beyond encoder, decoder and length predictor."""

from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from torch import Tensor, nn

from nat.transformer.architecture import Architecture
from nat.transformer.encoded import Encoded

if TYPE_CHECKING:
    from nat.objective.context import BatchContext, DecoderInput, Loss
    from nat.transformer.model import Transformer


class Part(nn.Module):
    """A part that a system names, such as latents or a transition head (`nat/parts/`).

    Each method can be left as it is: then the part does nothing there. Proxy targets and decodings
    find a part with `model.part(ITS_CLASS)`.
    """

    initialised_apart: ClassVar[bool] = False
    """Whether the initial weights of BERT are not for this part."""

    def encoded(self, model: "Transformer", encoded: Encoded) -> Encoded:
        """Change what the decoder sees of the source, in training and in decoding."""
        return encoded

    def shown(
        self, model: "Transformer", vectors: Tensor, tokens: Tensor, encoded: Encoded
    ) -> Tensor:
        """Change what each decoder position shows, of decoder input [B, T], [B, T, D]."""
        return vectors

    def in_training(self, context: "BatchContext") -> "BatchContext":
        """Change what an update or a validation sees, before the proxy input is made."""
        return context

    def with_loss(
        self, loss: "Loss", context: "BatchContext", decoder_input: "DecoderInput"
    ) -> "Loss":
        """Add a term to the loss of each sentence."""
        return loss


class PartMethod(Protocol):
    """A file of `nat/parts` with its options, see `nat.traits.NetworkPart`."""

    @property
    def form(self) -> dict[str, Any]:
        """What the shapes of the weights depend on."""

    def __call__(self, architecture: Architecture, dropout: float) -> Part:
        """Build the part."""

"""The contract of a further part of the network, beyond encoder, decoder and length predictor."""

from typing import ClassVar

from torch import Tensor, nn

from nat.transformer.encoded import Encoded


class Part(nn.Module):
    """A part that a system names, such as latents or a transition head (`nat/parts/`).

    A file of `nat/parts` has a class with the options, see `nat.traits.NetworkPart`, which is
    called with the `Architecture` of the model and its dropout, and builds the part. Each method
    can be left as it is: then the part does nothing there. Proxy targets and decodings find a part
    with `model.part(ITS_CLASS)`. What it does in training alone is said by
    `nat.objective.context.TrainedPart`.
    """

    initialised_apart: ClassVar[bool] = False
    """True if the part keeps its own initial weights where others are drawn like BERT's."""

    def encoded(self, encoded: Encoded) -> Encoded:
        """Change what the decoder sees of the source, in training and in decoding."""
        return encoded

    def shown(self, vectors: Tensor, tokens: Tensor, encoded: Encoded) -> Tensor:
        """Change the vectors [B, T, D] that the decoder's positions show, of its input [B, T]."""
        return vectors

"""The size and shape of a Transformer, as configuration gives it."""

from typing import Annotated, Literal

from pydantic import ConfigDict, Field
from pydantic.dataclasses import dataclass

from nat.options import added

LENGTH_CLASSES = 256
"""Classes of a length predictor: lengths 0 to 255, or differences of -128 to 127 tokens."""


@dataclass(frozen=True, config=ConfigDict(extra="forbid"))
class Architecture:
    """An encoder-decoder Transformer (Vaswani et al. 2017).

    Attributes:
        model_dim: width of the states.
        ffn_dim: width inside the feed-forward part.
        encoder_layers: number of encoder layers.
        decoder_layers: number of decoder layers; 0 for a model that has an encoder only, whose
            layers run over the canvas, see `nat.transformer.model`.
        heads: attention heads; divides `model_dim`.
        pre_norm: layer normalisation before each part (deep and small models) or after it.
        activation: of the feed-forward part.
        positions: sinusoidal, or learned up to `max_positions`; `learned_apart` for one table of
            the encoder and another of the decoder, as in fairseq.
        initialisation: of embeddings, learned positions and linear layers: `xavier`, normal with
            deviation D^-0.5 for embeddings and positions, Glorot and Bengio (2010) for linear
            layers; or `bert`, normal with deviation 0.02 for all of them, as in the published code
            of CMLM, CMLMC, DiMS and Fully-NAT (`--apply-bert-init`, with learned positions). The
            papers do not mention it.
        scale_embeddings: whether embeddings are multiplied by sqrt(D) before positions are added
            (Vaswani et al. 2017, section 3.4). The published code of CMLMC, DiMS on CMLMC and
            Fully-NAT does not (`--no-scale-embedding`); the papers do not mention it.
        norm_epsilon: what layer normalisation adds to the variance; the published code of
            Mask-Predict adds 1e-12.
        max_positions: longest source or target, in tokens.
    """

    model_dim: int = Field(gt=0, multiple_of=2)
    ffn_dim: int = Field(gt=0)
    encoder_layers: int = Field(gt=0)
    decoder_layers: int = Field(ge=0)
    heads: int = Field(gt=0)
    pre_norm: bool = False
    activation: Literal["relu", "gelu"] = "relu"
    positions: Literal["sinusoidal", "learned", "learned_apart"] = "sinusoidal"
    initialisation: Literal["xavier", "bert"] = "xavier"
    scale_embeddings: bool = True
    norm_epsilon: Annotated[float, Field(gt=0, le=0.01)] = added(1e-5)
    max_positions: int = Field(default=1024, gt=0)

    def __post_init__(self) -> None:
        if self.model_dim % self.heads:
            raise ValueError(f"heads ({self.heads}) must divide model_dim ({self.model_dim})")

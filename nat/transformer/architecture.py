"""The size and shape of a Transformer and options of its decoder, as configuration gives them."""

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


@dataclass(frozen=True, config=ConfigDict(extra="forbid"))
class DecoderOptions:
    """The input of a non-autoregressive decoder, and changes of its layers.

    They are the same in training and in decoding.

    Attributes:
        copy: what a masked position shows in addition to its position: `none`, the embedding of the
            mask symbol; `uniform` or `repeated`, a source embedding; `soft`, `soft_upsampled` or
            `soft_index`, a mean of the encoder states. `nat.transformer.copying` has the formulas
            and their sources.
        upsample: length of the canvas as a multiple of the number of source tokens, rounded up;
            None for the length of the target.
        count_source_end: whether the source's EOS counts as a source token when the canvas is
            upsampled and when the source is copied, as in the published code of Gu and Kong (2021)
            and of Li et al. (2019). The papers' T_x leaves it open; by default it does not count.
        positional_attention: whether each layer also attends by position: queries and keys are
            the vectors of positions, values are the states (Gu et al. 2018, section 3.2).
        attention_without_self: whether no position attends to itself, in self-attention and in
            positional attention (Gu et al. 2018, section 3.2; the default of hint-nart, though Li
            et al. 2019 do not mention it). The only token of a sentence does attend to itself.
        positions: how the vector of a position is combined with the vector that is shown there.
            CMLMC (Huang, Perez and Volkovs 2022) concatenates and projects them, so that equal
            tokens, above all MASK, differ more. Where the paper is ambiguous: both vectors have the
            same scale. (The published code equalises the scales by leaving out the factor sqrt(D)
            of the embeddings.)
        source_positions: the same in the encoder, with weights of its own. The published code of
            CMLMC concatenates there, too, of which the paper says nothing.
        causal_attention: whether, also for CMLMC, the self-attention of each layer is followed by
            a causal self-attention with weights of its own.
        chunk: k, the number of target tokens that a hybrid or semi-autoregressive system predicts
            at a time; None for other systems.
    """

    copy: Literal["none", "uniform", "repeated", "soft", "soft_upsampled", "soft_index"] = "none"
    upsample: float | None = Field(default=None, ge=1.0)
    count_source_end: bool = False
    positional_attention: bool = False
    attention_without_self: bool = False
    positions: Literal["added", "concatenated"] = "added"
    source_positions: Literal["added", "concatenated"] = added("added")
    causal_attention: bool = False
    chunk: int | None = Field(default=None, ge=2)

    def __post_init__(self) -> None:
        if self.copy == "soft_upsampled" and self.upsample is None:
            raise ValueError("copy 'soft_upsampled' needs 'upsample'; without it, 'soft' fits")
        if self.copy == "soft_index" and self.upsample is not None:
            raise ValueError("copy 'soft_index' needs 'upsample: null'; with it, 'soft' fits")

    @property
    def of_weights(self) -> "DecoderOptions":
        """Those that decide which weights a decoder has, and for the others their defaults."""
        return DecoderOptions(
            positional_attention=self.positional_attention,
            positions=self.positions,
            source_positions=self.source_positions,
            causal_attention=self.causal_attention,
        )

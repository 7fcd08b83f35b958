"""Options of a system's decoder beyond its size; the same in training and in decoding."""

from typing import Literal

from pydantic import ConfigDict, Field
from pydantic.dataclasses import dataclass

from nat.options import added


@dataclass(frozen=True, config=ConfigDict(extra="forbid"))
class DecoderOptions:
    """The input of a non-autoregressive decoder, and changes of its layers.

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

"""Options and traits of the proxy inputs: `FixedMaskOptions` are those of `fixed_mask`."""

from typing import Literal

from pydantic import Field

from nat.traits import ProxyInput


class BlockMaskOptions(ProxyInput):
    """Of block masking.

    The alignment that is revealed is `aligned_by` the model that learns, or the teacher it distils,
    as in the published code of DiMS. In validation, without a teacher, it is the model's.
    """

    aligned_by: Literal["model", "teacher"] = "model"

    trains_on_partial_targets = True
    upsampled = True


class FairseqNoiseOptions(ProxyInput):
    """Of the noise of fairseq: UNK everywhere, or a random part of the target."""

    noise: Literal["full_mask", "random_delete"]

    decoding_order = "fairseq"


class FixedMaskOptions(ProxyInput):
    """Of masking with a constant ratio, of the tokens that are `revealed`."""

    revealed: float = Field(default=0.2, gt=0.0, lt=1.0)

    trains_on_partial_targets = True
    upsampled = False


class FullMaskOptions(ProxyInput):
    """Of the full mask: none."""


class GlancingOptions(ProxyInput):
    """Of glancing.

    Attributes:
        ratio: revealed labels per unit of distance at the start of training.
        final_ratio: the same at the end, reached linearly; None for a constant ratio.
        distance: between the prediction of the first pass and the labels: `hamming`, the number of
            positions that differ, or `levenshtein`, the edit distance of the token sequences.
        count: l is ratio * d (`deterministic`), or drawn from the Poisson distribution with this
            mean.
        chosen: which labels are revealed: drawn uniformly (`evenly`), with probability proportional
            to p, the first pass's probability of the label (`likely`), or to 1 - p (`unlikely`).
    """

    ratio: float = Field(default=0.5, gt=0.0, le=1.0)
    final_ratio: float | None = Field(default=None, gt=0.0, le=1.0)
    distance: Literal["hamming", "levenshtein"] = "hamming"
    count: Literal["deterministic", "poisson"] = "deterministic"
    chosen: Literal["evenly", "likely", "unlikely"] = "evenly"

    trains_on_partial_targets = True


class GroupedTokensOptions(ProxyInput):
    """Of groups of tokens: none."""

    decoding_order = "semi-autoregressive"


class PreviousTokensOptions(ProxyInput):
    """Of teacher forcing: none."""

    decoding_order = "autoregressive"


class RandomMaskOptions(ProxyInput):
    """Of uniform masking: none."""

    trains_on_partial_targets = True
    upsampled = False


class RandomRevealOptions(ProxyInput):
    """Of a random number of revealed labels: none."""

    trains_on_partial_targets = True


class SkipOptions(ProxyInput):
    """Of the four tasks of hybrid-regressive translation.

    `curriculum` is lambda: the larger, the later the primary tasks begin; None for these alone.
    """

    curriculum: float | None = Field(default=1.0, gt=0.0)

    decoding_order = "hybrid"

"""Options and traits of the decoding methods: `CtcDecodingOptions` are those of `ctc`."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field, model_validator

from nat.options import Count, NotNegative, Number, StrictModel, added
from nat.traits import DecodingMethod, Order
from nat.transformer.architecture import LENGTH_CLASSES

LengthBeam = Annotated[int, Field(ge=1, le=LENGTH_CLASSES)]
"""Number of lengths that are decoded, the most probable ones; 1 on an upsampled canvas."""
FixedPrecision = Literal["float32", "float16", "bfloat16"]
"""Of a model in fixed shapes and its products; with float32 it is the model as it is."""
LengthPenalty = Literal["mean", "sum"]
"""Divisor of the log-probability of n tokens, EOS included: n for `mean`, 1 for `sum`."""


class LeftToRight(DecodingMethod):
    """Of all left-to-right searches, see `nat.decoding.beams`.

    Attributes:
        beam: open hypotheses per sentence.
        length_penalty: exponent of the length; 0 ranks by probability, 1 by the mean per token.
        longest_ratio: a target has at most longest_ratio * source tokens + longest_margin tokens
            (rounded down), and fits the model's positions.
    """

    beam: Count = 5
    length_penalty: NotNegative = 1.0
    longest_ratio: NotNegative = 1.5
    longest_margin: Number = 10

    decoding_order: ClassVar[Order] = "autoregressive"


class BeamSearchDecodingOptions(LeftToRight):
    """Of beam search."""

    traced = True


class GroupBeamSearchDecodingOptions(BeamSearchDecodingOptions):
    """Of beam search for groups of tokens."""

    decoding_order = "semi-autoregressive"


class Ctranslate2BeamDecodingOptions(LeftToRight):
    """Of beam search in CTranslate2; weights in float16 are for GPUs only."""

    precision: Literal["float32", "float16", "int8"] = "float32"

    converted = "ctranslate2"


class CapturedBeamDecodingOptions(BeamSearchDecodingOptions):
    """Of beam search in fixed shapes."""

    precision: FixedPrecision = "float32"


class HybridDecodingOptions(LeftToRight):
    """Of hybrid-regressive decoding: `beam` and the rest are of stage I.

    Attributes:
        kept: b_nat, sequences that stage II completes; at most `beam`, which is b_at.
    """

    kept: Count = 1

    decoding_order = "hybrid"
    assistant = "hybrid"
    assistant_optional = True
    traced = True

    @model_validator(mode="after")
    def _kept_of_beam(self) -> "HybridDecodingOptions":
        if self.kept > self.beam:
            raise ValueError(f"kept ({self.kept}) must not be above beam ({self.beam})")
        return self


class RefinementDecodingOptions(DecodingMethod):
    """Of fairseq's iterative refinement.

    Attributes:
        steps: most steps, fairseq's `--iter-decode-max-iter` plus one. A step of LevT is three
            passes of the decoder: deletions, places of insertions, and words.
        end_penalty: subtracted from the score of inserting nothing (Gu et al. 2019, section 4).
    """

    steps: Count = 10
    end_penalty: NotNegative = 0.0

    decoding_order = "fairseq"


class ParallelLengths(DecodingMethod):
    """Of the methods that decode several lengths from masks, see `nat.decoding.length_parallel`.

    `deduplicate` drops a token that equals the token before it (Lee et al. 2018), after empty
    tokens are dropped; the score is that of all positions.
    """

    length_beam: LengthBeam = 1
    deduplicate: bool = False

    traced = True


class OnePassDecodingOptions(ParallelLengths):
    """Of one pass over masks.

    `length_factor` is a factor of the predicted lengths (Ghazvininejad et al. 2020), to be tuned on
    a validation set; see `nat.decoding.canvas` for its rounding.
    """

    length_factor: float = Field(default=1.0, gt=0.0)


class MaskPredictDecodingOptions(ParallelLengths):
    """Of mask-predict in T `steps`; one step is `one_pass`.

    `remask` says whether tokens that were revealed can be masked again.
    """

    steps: Count
    remask: bool = True


class MaskCorrectDecodingOptions(ParallelLengths):
    """Of mask-predict with correction, in T `steps`; one step is `one_pass`."""

    steps: Count

    needs_correction = True


class InputSamplingDecodingOptions(DecodingMethod):
    """Of input sampling, with lengths of the system and a seed of the patterns."""

    length_beam: LengthBeam = 1
    seed: Number = 0

    part = "input_predictor"
    assistant = "parallel"


class MaskedAtOutputsDecodingOptions(DecodingMethod):
    """Of the probe that masks parts of an AT translation.

    Attributes:
        scheme: which tokens are masked.
        share: p_mask of all schemes except `chunk`.
        chunk: k of the scheme `chunk`.
        beam: beam of the assistant.
        seed: seed of the scheme `random`, whose draws also depend on the source sentence.
    """

    scheme: Literal["head", "tail", "random", "chunk"]
    share: float | None = Field(default=None, gt=0.0, le=1.0)
    chunk: int | None = Field(default=None, ge=2)
    beam: Count = 5
    seed: Number = 0

    assistant = "autoregressive"
    needs_partial_targets = True

    @model_validator(mode="after")
    def _share_or_chunk(self) -> "MaskedAtOutputsDecodingOptions":
        needed, other = ("chunk", "share") if self.scheme == "chunk" else ("share", "chunk")
        if getattr(self, needed) is None or getattr(self, other) is not None:
            raise ValueError(f"the scheme '{self.scheme}' needs '{needed}' and has no '{other}'")
        return self


class Rescored(DecodingMethod):
    """Of noisy parallel decoding, see `nat.decoding.rescoring`."""

    length_penalty: LengthPenalty = "mean"

    assistant = "autoregressive"


class LengthRescoringDecodingOptions(Rescored):
    """Of noisy parallel decoding by lengths."""

    length_beam: LengthBeam


class Draws(Rescored):
    """Of the methods that rescore translations with several draws of the latents.

    Attributes:
        samples: number of draws from the prior.
        temperature: factor of the prior's standard deviations.
        seed: seed of the draws, which also depend on the source sentence.
    """

    samples: Count = 5
    temperature: NotNegative = 0.1
    seed: Number = 0

    part = "latent"


class LatentRescoringDecodingOptions(Draws):
    """Of noisy parallel decoding by latents."""

    upsampled = None


class CtcDecodingOptions(DecodingMethod):
    """Of the best alignment.

    For the choice, the log-probability of BLANK is lowered by `blank_penalty`, nats; the score is
    without it.
    """

    blank_penalty: float = added(0.0)

    upsampled: ClassVar[bool | None] = True
    traced = True


class ImputerDecodingOptions(DecodingMethod):
    """Of Imputer decoding; a single step, a decoder pass, gives the best alignment, as `ctc`."""

    steps: Count

    upsampled = True
    traced = True


class Ctranslate2CtcDecodingOptions(CtcDecodingOptions):
    """Of the best alignment in CTranslate2."""

    precision: Literal["float32", "int8"] = "float32"

    encoder_only = True
    converted = "ctranslate2"
    traced = False


class OnnxParallelDecodingOptions(CtcDecodingOptions):
    """Of parallel decoding in ONNX Runtime, with `steps` passes of the decoder.

    A penalty of BLANK is only for an upsampled canvas.
    """

    precision: Literal["float32", "int8"] = "float32"
    steps: Count = 1
    length_beam: LengthBeam = 1

    upsampled = None
    converted = "onnx"
    traced = False


class CapturedDecodingOptions(OnePassDecodingOptions, CtcDecodingOptions):
    """Of one parallel pass in fixed shapes: those of `one_pass` and, for CTC, `ctc`."""

    precision: FixedPrecision = "float32"

    upsampled = None
    traced = False


class LanguageModelOptions(StrictModel):
    """The language model of a decoding.

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


class CtcBeamDecodingOptions(DecodingMethod):
    """Of prefix beam search.

    Attributes:
        beam: prefixes kept for each sentence.
        symbols: most probable tokens of each frame that may extend a prefix.
        language_model: None for no language model.
        word_bonus: beta, nats.
        bonus: `tokens` for beta |y|, as in the published code, or `log_tokens` for beta log |y|, as
            in the paper.
    """

    beam: Count = 20
    symbols: Count = 20
    language_model: LanguageModelOptions | None = None
    word_bonus: float = 0.0
    bonus: Literal["tokens", "log_tokens"] = "tokens"

    upsampled = True


class LatentBeamRescoringDecodingOptions(Draws, CtcBeamDecodingOptions):
    """Of noisy parallel decoding by latents, with prefix beam search."""

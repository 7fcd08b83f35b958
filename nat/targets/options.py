"""Options and traits of the proxy targets: `CmlmcOptions` are those of `cmlmc`."""

import math
from typing import Annotated, Literal

from pydantic import Field, ValidationInfo, field_validator

from nat.options import (
    BelowOne,
    Count,
    NotNegative,
    OrAbsent,
    Positive,
    Share,
    StrictModel,
    added,
    hint,
    options_of,
)
from nat.traits import ProxyTarget
from nat.transformer.fairseq_models import CRF, INAT, INSERTION, LEVT, FairseqModelName


class Smoothed(ProxyTarget):
    """Of targets with label smoothing (Szegedy et al. 2016).

    `label_smoothing` is the share of a label's probability that is spread evenly over the
    vocabulary: of each prediction, for CTC of each frame, for fairseq's models of words.
    """

    label_smoothing: BelowOne = 0.0


class CrossEntropyOptions(Smoothed):
    """Of cross-entropy."""


class AxeOptions(Smoothed):
    """Of aligned cross-entropy.

    `skip_penalty` is delta, the weight of skipped targets (tau of MPLE, table 2: 1, 5 and 10).
    """

    skip_penalty: Positive = 1.0

    decoding_order = "parallel"
    empty_token = True


class CmlmcOptions(Smoothed):
    """Of correction.

    Attributes:
        replace_factor: share of the visible tokens that are replaced.
        mask_source: whether source tokens are masked and predicted, too, in training.
    """

    replace_factor: float = Field(default=0.3, gt=0.0, le=1.0)
    mask_source: bool = added(False)

    decoding_order = "parallel"
    trains_correction = True

    @property
    def fewest_tokens(self) -> dict[str, int]:
        """One token is masked, and of the visible ones at least one is replaced."""
        return {"correction": 1 + math.ceil(round(1 / self.replace_factor, 9))}


class CtcOptions(Smoothed):
    """Of connectionist temporal classification.

    `frame_smoothing` has one choice, see `nat.targets.ctc`, which configurations of models name.
    """

    frame_smoothing: Literal["mean"] = "mean"

    upsampled = True


class DimsOptions(ProxyTarget):
    """Of the distillation of several steps.

    Attributes:
        teacher_steps: number n of the teacher's passes.
        temperature: of the teacher's labels.
        hidden_weight: lambda, weight of the hidden-state distance.
        ema_decay: mu, the decay of the teacher at each update, which the paper calls momentum; None
            keeps the teacher fixed. The value in a configuration is for the length of the paper's
            training, see `nat.configuration.configuration`.
        labels: pass that the label and state of a position are from: the one that reveals it, as in
            the paper, or for all positions the last one, as in the published code.
    """

    teacher_steps: Count = 2
    temperature: Positive = 0.5
    hidden_weight: NotNegative = 0.7
    ema_decay: Share | None = 0.9992
    labels: Literal["revealing", "last"] = added("revealing")

    distils = True


class DimsImputerOptions(ProxyTarget):
    """Of the distillation of several steps of an Imputer; see `DimsOptions`."""

    teacher_steps: Count = 2

    upsampled = True
    distils = True


class HintsOptions(Smoothed):
    """Of hints.

    Attributes:
        hidden_weight: lambda; None to determine it.
        alignment_weight: mu; None to determine it.
        student_threshold: gamma_st.
        teacher_threshold: gamma_tr.
    """

    hidden_weight: NotNegative | None = None
    alignment_weight: NotNegative | None = None
    student_threshold: float = Field(default=0.5, ge=-1.0, le=1.0)
    teacher_threshold: float = Field(default=0.3, ge=-1.0, le=1.0)

    decoding_order = "parallel"
    teacher = "autoregressive"
    same_layers = True

    @property
    def fewest_tokens(self) -> dict[str, int]:
        """Hints of hidden states are of pairs of positions."""
        return {"hidden_states": 2} if self.hidden_weight != 0 else {}


class ImputerOptions(ProxyTarget):
    """Of the Imputer: none."""

    upsampled = True


class OaxeOptions(Smoothed):
    """Of order-agnostic cross-entropy.

    `truncation_margin` is pi, the smallest probability of an assigned token; None keeps them all.
    """

    truncation_margin: float | None = Field(default=0.15, gt=0.0, lt=1.0)

    decoding_order = "parallel"


ALL, OF_LENGTHS = [INAT, CRF, INSERTION, LEVT], [INAT, CRF]
"""The models that have an option, beside its type."""
Exits = Annotated[str, Field(pattern=r"^[0-9]+,[0-9]+,[0-9]+$", examples=["6,6,6"])]


class FairseqOptions(StrictModel):
    """Options of models by fairseq's names, each of which some models have; see fairseq.

    Sizes, dropout and other options that the configuration gives in its own words are not here.
    """

    activation_dropout: Annotated[OrAbsent[BelowOne], ALL] = added(None)
    attention_dropout: Annotated[OrAbsent[BelowOne], ALL] = added(None)
    crf_beam_approx: Annotated[OrAbsent[Count], [CRF]] = added(None)
    crf_lowrank_approx: Annotated[OrAbsent[Count], [CRF]] = added(None)
    dae_ratio: Annotated[OrAbsent[Share], [INAT]] = added(None)
    early_exit: Annotated[OrAbsent[Exits], [LEVT]] = added(None)
    label_tau: Annotated[OrAbsent[Positive], [INSERTION]] = added(None)
    no_share_discriminator: Annotated[OrAbsent[bool], [LEVT]] = added(None)
    no_share_maskpredictor: Annotated[OrAbsent[bool], [LEVT]] = added(None)
    pred_length_offset: Annotated[OrAbsent[bool], OF_LENGTHS] = added(None)
    sampling_for_deletion: Annotated[OrAbsent[bool], [LEVT]] = added(None)
    sg_length_pred: Annotated[OrAbsent[bool], OF_LENGTHS] = added(None)
    share_discriminator_maskpredictor: Annotated[OrAbsent[bool], [LEVT]] = added(None)
    src_embedding_copy: Annotated[OrAbsent[bool], OF_LENGTHS] = added(None)
    stochastic_approx: Annotated[OrAbsent[bool], [INAT]] = added(None)
    train_step: Annotated[OrAbsent[Count], [INAT]] = added(None)
    word_ins_loss_factor: Annotated[OrAbsent[NotNegative], [CRF]] = added(None)

    @classmethod
    def names(cls, model: str | None) -> list[str]:
        """List the options that a model of fairseq has."""
        return [name for name, its in cls.model_fields.items() if model in its.metadata[-1]]


class FairseqLossOptions(Smoothed):
    """Of the losses of a model of fairseq's own.

    Attributes:
        model: name of its architecture in fairseq: iNAT (Lee et al. 2018), NAT-CRF (Sun et al.
            2019), insertion Transformer (Stern et al. 2019) or LevT (Gu et al. 2019).
        options: of the model, by fairseq's names; what they do not say is fairseq's default.
    """

    model: FairseqModelName
    options: FairseqOptions = FairseqOptions()

    decoding_order = "fairseq"

    @field_validator("options")
    @classmethod
    def _of_the_model(cls, options: FairseqOptions, given: ValidationInfo) -> FairseqOptions:
        model = given.data.get("model")  # missing if it is no possible one
        known = FairseqOptions.names(model)
        for option in options_of(options) if known else ():
            if option not in known:
                raise ValueError(f"{model} has no option '{option}'; {hint(option, known)}")
        return options

"""What models of fairseq's own learn, by fairseq's criterion `nat_loss`."""

from typing import Annotated

from pydantic import ConfigDict, Field, ValidationInfo, field_validator
from pydantic.dataclasses import dataclass

from nat.fields import BelowOne, Count, OrAbsent, Positive, Share
from nat.objective.context import BatchContext, DecoderInput, Loss
from nat.options import added, options_of
from nat.spelling import hint
from nat.transformer.fairseq_models import FairseqModelName
from nat.transformer.of_fairseq import OfFairseq

_OF_ALL = ("activation_dropout", "attention_dropout")
_OF_LENGTHS = ("pred_length_offset", "sg_length_pred", "src_embedding_copy")
OPTIONS = {
    "iterative_nonautoregressive_transformer": (
        *_OF_ALL,
        *_OF_LENGTHS,
        "dae_ratio",
        "stochastic_approx",
        "train_step",
    ),
    "nacrf_transformer": (
        *_OF_ALL,
        *_OF_LENGTHS,
        "crf_beam_approx",
        "crf_lowrank_approx",
        "word_ins_loss_factor",
    ),
    "insertion_transformer": (*_OF_ALL, "label_tau"),
    "levenshtein_transformer": (
        *_OF_ALL,
        "early_exit",
        "no_share_discriminator",
        "no_share_maskpredictor",
        "sampling_for_deletion",
        "share_discriminator_maskpredictor",
    ),
}
"""The options that each model has."""


@dataclass(frozen=True, config=ConfigDict(extra="forbid"))
class FairseqOptions:
    """Options of models by fairseq's names, each of which some models have; see fairseq.

    Sizes, dropout and other options that the configuration gives in its own words are not here.
    """

    activation_dropout: OrAbsent[BelowOne] = added(None)
    attention_dropout: OrAbsent[BelowOne] = added(None)
    crf_beam_approx: OrAbsent[Count] = added(None)
    crf_lowrank_approx: OrAbsent[Count] = added(None)
    dae_ratio: OrAbsent[Share] = added(None)
    early_exit: OrAbsent[
        Annotated[str, Field(pattern=r"^[0-9]+,[0-9]+,[0-9]+$", examples=["6,6,6"])]
    ] = added(None)
    label_tau: OrAbsent[Positive] = added(None)
    no_share_discriminator: OrAbsent[bool] = added(None)
    no_share_maskpredictor: OrAbsent[bool] = added(None)
    pred_length_offset: OrAbsent[bool] = added(None)
    sampling_for_deletion: OrAbsent[bool] = added(None)
    sg_length_pred: OrAbsent[bool] = added(None)
    share_discriminator_maskpredictor: OrAbsent[bool] = added(None)
    src_embedding_copy: OrAbsent[bool] = added(None)
    stochastic_approx: OrAbsent[bool] = added(None)
    train_step: OrAbsent[Count] = added(None)
    word_ins_loss_factor: OrAbsent[Annotated[float, Field(ge=0)]] = added(None)


@dataclass(frozen=True, config=ConfigDict(extra="forbid"))
class FairseqLoss:
    """The losses of a model of fairseq's own: words, and lengths, transitions or edits.

    The loss is one number for a batch, the mean over its tokens, and each batch of an update counts
    the same, as in fairseq.

    Attributes:
        model: name of its architecture in fairseq: iNAT (Lee et al. 2018), NAT-CRF (Sun et al.
            2019), insertion Transformer (Stern et al. 2019) or LevT (Gu et al. 2019).
        label_smoothing: of the words.
        options: of the model, by fairseq's names; what they do not say is fairseq's default.
    """

    model: FairseqModelName
    label_smoothing: float = Field(default=0.0, ge=0.0, lt=1.0)
    options: FairseqOptions = FairseqOptions()

    decoding_order = "fairseq"

    @field_validator("options")
    @classmethod
    def _of_the_model(cls, options: FairseqOptions, given: ValidationInfo) -> FairseqOptions:
        model = given.data.get("model")  # missing if it is no possible one
        known = () if model is None else OPTIONS[model]
        for option in options_of(options) if known else ():
            if option not in known:
                raise ValueError(f"{model} has no option '{option}'; {hint(option, known)}")
        return options

    def __call__(self, context: BatchContext, decoder_input: DecoderInput) -> Loss:
        """Loss of a batch as that of one sentence with one position."""
        model, batch = context.model, context.batch
        assert isinstance(model, OfFairseq)
        value, parts = model.loss(batch.source, decoder_input.tokens, batch.target)
        one = {name: part[None] for name, part in parts.items()}
        return Loss(value[None], value.new_ones(1, dtype=int), one)


METHOD = FairseqLoss

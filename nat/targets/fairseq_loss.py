"""What models of fairseq's own learn, by fairseq's criterion `nat_loss`."""

from dataclasses import field
from typing import Any

from pydantic import ConfigDict, Field
from pydantic.dataclasses import dataclass

from nat.objective.context import BatchContext, DecoderInput, Loss
from nat.transformer.fairseq_models import FairseqModelName
from nat.transformer.of_fairseq import OfFairseq


@dataclass(frozen=True, config=ConfigDict(extra="forbid"))
class FairseqLoss:
    """The losses of a model of fairseq's own: words, and lengths, transitions or edits.

    The loss is one number for a batch, the mean over its tokens, and each batch of an update counts
    the same, as in fairseq.

    Attributes:
        model: name of its architecture in fairseq: iNAT (Lee et al. 2018), NAT-CRF (Sun et al.
            2019), insertion Transformer (Stern et al. 2019) or LevT (Gu et al. 2019).
        label_smoothing: of the words.
        options: of the model, by fairseq's names.
    """

    model: FairseqModelName
    label_smoothing: float = Field(default=0.0, ge=0.0, lt=1.0)
    options: dict[str, Any] = field(default_factory=dict)

    decoding_order = "fairseq"

    def __call__(self, context: BatchContext, decoder_input: DecoderInput) -> Loss:
        """Loss of a batch as that of one sentence with one position."""
        model, batch = context.model, context.batch
        assert isinstance(model, OfFairseq)
        value, parts = model.loss(batch.source, decoder_input.tokens, batch.target)
        one = {name: part[None] for name, part in parts.items()}
        return Loss(value[None], value.new_ones(1, dtype=int), one)


METHOD = FairseqLoss

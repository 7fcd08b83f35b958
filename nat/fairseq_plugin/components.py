"""Parts that fairseq's trainer runs for any system: a model, a criterion, and Adam for GPUs."""

import math
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

import torch
from fairseq.criterions import FairseqCriterion, register_criterion
from fairseq.dataclass import FairseqDataclass
from fairseq.logging import metrics
from fairseq.models import BaseFairseqModel, register_model
from fairseq.optim import FairseqOptimizer, register_optimizer
from fairseq.optim.adam import FairseqAdam, FairseqAdamConfig
from torch import Tensor
from torch.nn.utils import clip_grad_norm_

from nat.configuration import differences
from nat.data.batch import Batch
from nat.errors import UserError
from nat.objective.context import Loss
from nat.objective.objective import Objective
from nat.training.model_file import SHOWN, load_model
from nat.transformer.model import Transformer

ON_GPU, ON_CPU = "nat", "adam"
"""Fairseq's names of the optimisers."""


@register_model("nat", dataclass=FairseqDataclass)
class SystemModel(BaseFairseqModel):
    """A system's Transformer, which the task builds."""

    def __init__(self, transformer: Transformer) -> None:
        super().__init__()
        self.transformer = transformer

    def forward(self, objective: torch.nn.Module, batch: Batch, update: int) -> Loss:
        """The objective's loss of each sentence of a batch."""
        loss: Loss = objective(self.transformer, batch, update)
        return loss


def start_from(transformer: Transformer, path: str) -> None:
    """Load the weights of another system's model; dropout stays this system's own.

    Raises:
        UserError: as `load_model`, and if the other model has another form.
    """
    other = load_model(path, sizes=transformer.vocabulary_sizes).model
    mine, its = (
        {
            "architecture": asdict(model.architecture),
            "decoder": asdict(model.decoder.of_weights),
            "length": getattr(model.length_predictor, "predicts", None),
            "parts": {name: part.form for name, part in model.part_options.items()},
        }
        for model in (transformer, other)
    )
    different = differences(mine, its)[:SHOWN]
    if different:
        raise UserError(
            f"cannot start from {path}: it has another form ({'; '.join(different)}); give both "
            "systems the same keys 'size', 'decoder', 'parts' and 'length'"
        )
    transformer.load_state_dict(other.state_dict())


class Diverged(RuntimeError):
    """The loss is not finite; fairseq answers errors of other kinds with a `crash.pt`."""


@register_criterion("nat", dataclass=FairseqDataclass)
class Criterion(FairseqCriterion):
    """Sums an objective's loss over a batch; the task builds it.

    A teacher inside the objective is part of the criterion's state, so it enters the checkpoints.

    Attributes:
        update: number of the update, from 0, that masks are drawn for.
        value: the loss of the last training batch, nats.
    """

    def __init__(self, task: Any, objective: Objective) -> None:
        super().__init__(task)
        self.objective = objective
        self.update = 0
        self.value = math.nan

    def forward(
        self, model: SystemModel, sample: dict[str, Any], reduce: bool = True
    ) -> tuple[Tensor, Tensor, dict[str, Any]]:
        """The summed loss of a batch (nats), the positions that carry it, and sums for the log.

        Raises:
            Diverged: if the loss of a training batch is not finite; of a validation that is not,
                the record keeps no weights.
        """
        batch = sample["batch"].to(next(model.parameters()).device)
        # validation always uses the same masks, so that losses are comparable
        loss = model(self.objective, batch, self.update if self.training else 0)
        value, positions = loss.value.sum(), loss.positions.sum()
        if self.training:
            self.value = float(value)
            if not math.isfinite(self.value):
                raise Diverged
        log = {
            "loss": value.detach(),
            "positions": positions,
            "tokens": batch.target_lengths.sum(),  # a part, where the target was not known before
            **{name: part.sum().detach() for name, part in loss.parts.items()},
        }
        return value, positions, log

    @staticmethod
    def reduce_metrics(logging_outputs: list[dict[str, Any]]) -> dict[str, float]:
        """Sums over the batches and devices of an update; fairseq is told the loss per position."""
        names = dict.fromkeys(name for log in logging_outputs for name in log)
        sums = {name: float(sum(log.get(name, 0) for log in logging_outputs)) for name in names}
        positions = sums["positions"]
        metrics.log_scalar("loss", sums["loss"] / max(positions, 1), positions, round=3)
        return sums

    @staticmethod
    def logging_outputs_can_be_summed() -> bool:
        """Every value of the log is a sum."""
        return True


@register_optimizer(ON_GPU, dataclass=FairseqAdamConfig)
class FusedAdam(FairseqAdam):
    """PyTorch's fused AdamW, with fairseq's options: all parameters in a few kernels.

    Fairseq's own has a dozen kernels for each of the two hundred parameters of a Transformer. To
    start them took a seventh of an update of 65,536 tokens on an H100. It is kept on a CPU, where
    kernels start at once. Both decay weights apart from the gradient (Loshchilov and Hutter 2019);
    this one adds `epsilon` to the corrected deviation, as Kingma and Ba (2015) do in their
    algorithm 1, fairseq's to the uncorrected one.
    """

    def __init__(self, options: FairseqAdamConfig, parameters: Any) -> None:
        FairseqOptimizer.__init__(self, options)
        self._optimizer = torch.optim.AdamW(parameters, fused=True, **self.optimizer_config)

    def clip_grad_norm(
        self, max_norm: float, aggregate_norm_fn: Callable[[Tensor], Tensor] | None = None
    ) -> Tensor:
        """Return the norm of the gradient, and scale it down to `max_norm` unless that is zero."""
        assert aggregate_norm_fn is None  # of trainings whose parameters are divided
        return clip_grad_norm_(self.params, max_norm or math.inf)

"""The one fairseq criterion: a system's objective."""

from dataclasses import dataclass
from typing import Any

import torch
from fairseq.criterions import FairseqCriterion, register_criterion
from fairseq.dataclass import FairseqDataclass
from fairseq.logging import metrics
from torch import Tensor

from nat.fairseq_plugin.model import Model
from nat.objective.objective import Objective
from nat.training.model_file import load_model


class Diverged(RuntimeError):
    """The loss is not finite.

    A runtime error, since fairseq answers other exceptions in an update with a `crash.pt`.
    """


@dataclass
class CriterionOptions(FairseqDataclass):
    """The options of the criterion are in the run file of the task."""


@register_criterion("nat", dataclass=CriterionOptions)
class Criterion(FairseqCriterion):
    """Sums an objective's loss over a batch.

    A teacher inside the objective is part of the criterion's state, so it enters the checkpoints.

    Attributes:
        update: number of the update, from 0, that masks are drawn for.
    """

    def __init__(self, task: Any, objective: Objective) -> None:
        super().__init__(task)
        self.objective = objective
        self.update = 0

    @classmethod
    def build_criterion(cls, _options: CriterionOptions, task: Any) -> "Criterion":
        """Build the objective of the task's run, with the task's model as it is at the start."""
        run = task.run
        teacher = None
        if run.teacher is not None:
            teacher = load_model(run.teacher, sizes=task.transformer.vocabulary_sizes).model
        objective = Objective(
            run.training, task.transformer, run.seed, run.bfloat16, teacher, run.updates
        )
        return cls(task, objective)

    def forward(
        self, model: Model, sample: dict[str, Any], reduce: bool = True
    ) -> tuple[Tensor, Tensor, dict[str, Any]]:
        """Loss of a batch.

        Returns:
            The summed loss (nats), the number of positions that carry it, and for the log: both
            of them, the summed parts, sentences and target tokens.

        Raises:
            Diverged: if the loss of a training batch is not finite; of a validation that is not,
                the record keeps no weights.
        """
        device = model.transformer.output.weight.device
        batch = sample["batch"].to(device)
        # validation always uses the same masks, so that losses are comparable
        loss = model(self.objective, batch, self.update if self.training else 0)
        value, positions = loss.value.sum(), loss.positions.sum()
        if self.training and not torch.isfinite(value):
            raise Diverged
        parts = {name: part.sum().detach() for name, part in loss.parts.items()}
        log = {
            "loss": value.detach(),
            "positions": positions,
            "tokens": sample["ntokens"],
            "sentences": sample["nsentences"],
            **parts,  # with `tokens`, where the target was not known before
        }
        return value, positions, log

    @staticmethod
    def reduce_metrics(logging_outputs: list[dict[str, Any]]) -> None:
        """Tell fairseq the loss per position; the task records the curve."""
        loss = float(sum(log["loss"] for log in logging_outputs))
        positions = float(sum(log["positions"] for log in logging_outputs))
        metrics.log_scalar("loss", loss / max(positions, 1), positions, round=3)

    @staticmethod
    def logging_outputs_can_be_summed() -> bool:
        """Every value of the log is a sum."""
        return True

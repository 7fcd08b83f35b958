"""A system's training objective: proxy input Z, proxy target T and length loss, composed.

The unified view is that of MPLE (Huang et al. 2022): every objective trains on a proxy
distribution Q(T | Z, X).
"""

import copy
from dataclasses import replace

import torch
from torch import nn

from nat import registry
from nat.configuration.models import Training
from nat.data.batch import Batch
from nat.objective.balance import Balance
from nat.objective.context import BatchContext, DecoderInput, Loss, TrainedPart
from nat.transformer.length import LengthPredictor
from nat.transformer.linear import use_bfloat16_products
from nat.transformer.model import Transformer


class Objective(nn.Module):
    """Computes the loss of a model on a batch.

    Args:
        training: a system's effective configuration.
        model: the model at the start of training, with the weights it starts from; a proxy target
            that distils takes its teacher from it.
        seed: of the run.
        bfloat16: whether products take bfloat16 inputs.
        teacher: trained model of the system that the key `teacher` names.
        updates: length of the training; where nothing is trained, it does not matter.
    """

    def __init__(
        self,
        training: Training,
        model: Transformer,
        seed: int,
        bfloat16: bool,
        teacher: Transformer | None = None,
        updates: int = 1,
    ) -> None:
        super().__init__()
        self.input = registry.build("inputs", training.input)
        self.target = registry.build("targets", training.target)
        balanced = getattr(self.target, "balanced", ())
        self.balance = Balance(balanced) if balanced else None
        chosen_by = training.text.choice
        self.text = None if chosen_by is None else registry.build("distillation", chosen_by)
        self.text_names = [text.name for text in training.text.candidates]
        self.length_loss_weight = training.recipe.length_loss_weight
        self.updates = updates
        self.seed = seed
        self.bfloat16_products = bfloat16
        self.teacher = teacher
        if self.target.distils:
            self.teacher = copy.deepcopy(model).requires_grad_(False).eval()
        for each in (model, self.teacher):
            if each is not None:
                use_bfloat16_products(each, bfloat16)

    def train(self, mode: bool = True) -> "Objective":
        """Switch between training and validation; the teacher never trains."""
        super().train(mode)
        if self.teacher is not None:
            self.teacher.eval()
        return self

    def forward(self, model: Transformer, batch: Batch, update: int) -> Loss:
        """Loss of each sentence of a batch; `update` numbers the masks that are drawn."""
        context = self.context(model, batch, update)
        if batch.candidates is None or self.text is None:
            return self._loss(context)
        chosen = self.text(context)
        batch = batch.choose(chosen)
        loss = self._loss(replace(context, batch=batch))
        # in the curve, the share of the loss's positions whose text is this candidate
        shares = {
            f"from_{name}": loss.positions * chosen.eq(number)
            for number, name in enumerate(self.text_names)
        }
        return replace(loss, parts={**loss.parts, **shares, "tokens": batch.target_lengths})

    def context(self, model: Transformer, batch: Batch, update: int) -> BatchContext:
        """The context of an update, before any candidate is chosen."""
        return BatchContext(
            model,
            batch,
            model.encode(batch.source),
            self.seed,
            update,
            progress=min(1.0, update / self.updates) if self.training else 1.0,
            teacher=self.teacher if self.training else None,
            bfloat16=self.bfloat16_products,
            balance=self.balance,
        )

    def proxy_inputs(self, context: BatchContext) -> tuple[BatchContext, tuple[DecoderInput, ...]]:
        """Z for each task of the proxy target, and the context with what trained parts add."""
        for part in context.model.parts:
            if isinstance(part, TrainedPart):
                context = part.in_training(context)
        shown = self.input(context)
        return context, shown if isinstance(shown, tuple) else (shown,)

    def _loss(self, context: BatchContext) -> Loss:
        model = context.model
        context, tasks = self.proxy_inputs(context)
        first, *others = [self.target(context, task) for task in tasks]
        loss = sum(others, first)
        for part in model.parts:
            if isinstance(part, TrainedPart):
                loss = part.with_loss(loss, context, tasks[0])
        if not isinstance(model.length_predictor, LengthPredictor):
            return loss
        # Weighted by the sentence's positions, so that both losses share one denominator and
        # the total is the same however a batch is cut.
        length = loss.positions * model.length_predictor.loss(
            context.encoded.length_states, context.encoded.padding, context.batch.target_lengths
        )
        return loss.plus(self.length_loss_weight * length, length=length)

    @torch.no_grad()
    def after_update(self, model: Transformer) -> None:
        """Let the teacher follow the model: T <- decay T + (1 - decay) S."""
        decay = getattr(self.target, "ema_decay", None)
        if self.teacher is None or decay is None:
            return
        for averaged, weight in zip(self.teacher.parameters(), model.parameters(), strict=True):
            averaged.lerp_(weight.detach(), 1 - decay)

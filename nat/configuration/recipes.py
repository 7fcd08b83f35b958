"""How a system is trained, and for how long: in updates, or in passes over its text (epochs).

Epochs are converted to updates when the training starts, since the number of batches per epoch is
not known earlier.
"""

import math
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field, model_validator

from nat.configuration.merging import UNITS
from nat.configuration.scales import Changes, Inheriting
from nat.errors import UserError
from nat.options import (
    BelowOne,
    Count,
    Name,
    NotNegative,
    Number,
    OrAbsent,
    Positive,
    StrictModel,
    Text,
)


class Validation(StrictModel):
    """Comparison of checkpoints."""

    decoding: str | None  # a file of config/decodings; null if the metric is the loss
    metric: Literal["bleu", "loss"]  # what is compared
    sentences: Count | None  # number of sentences of valid, from its beginning; null: all

    @model_validator(mode="after")
    def _bleu_needs_a_decoding(self) -> "Validation":
        if self.metric == "bleu" and self.decoding is None:
            raise ValueError("'decoding' is null, but 'metric' is bleu")
        return self


class Average(StrictModel):
    """The checkpoints whose mean is the final model."""

    checkpoints: Count  # how many
    by: Literal["best", "last"]  # those with the best validation, or the last


@dataclass(frozen=True)
class Lengths:
    """The lengths of a recipe in updates."""

    updates: int
    warmup_updates: int
    save_every: int
    validate_every: int


class Recipe(StrictModel):
    """How a system is trained."""

    updates: OrAbsent[Count] = None  # length of the training
    epochs: OrAbsent[Positive] = None  # passes over the training text, instead of updates
    # length for which options of methods that act at every update, such as `ema_decay`, are stated;
    # by default the recipe's own updates
    reference_updates: OrAbsent[Count] = None
    # tokens of the longer side in one update, with padding, over all devices
    batch_tokens: Count
    learning_rate: float = Field(gt=0, le=1)  # of Adam, at its peak
    warmup_updates: OrAbsent[Number] = None  # updates until the peak
    warmup_epochs: OrAbsent[NotNegative] = None  # passes over the text, instead of them
    schedule: Literal["inverse_sqrt", "linear", "fixed"]  # of the rate, after the warm-up
    betas: tuple[BelowOne, ...] = Field(min_length=2, max_length=2)  # of Adam
    epsilon: float = Field(gt=0, le=0.01)  # of Adam
    weight_decay: BelowOne  # decoupled, of Adam
    clip_norm: NotNegative  # largest norm of a gradient; 0: no clipping
    dropout: BelowOne  # share of the states that is set to zero
    length_loss_weight: NotNegative  # of the length predictor's loss
    save_every: OrAbsent[Count] = None  # updates between checkpoints
    validate_every: OrAbsent[Count] = None  # updates between validations; divides `save_every`
    # checkpoints and validations in an epoch, instead of `save_every` and `validate_every`
    validations_per_epoch: OrAbsent[Positive] = None
    # updates after which the weights are kept, by name, for other systems that start there
    keep: OrAbsent[Annotated[dict[Name, Count], Field(min_length=1)]] = None
    validation: Validation  # how checkpoints are compared
    patience: Count | None  # validations without improvement before training ends; null: never
    average: Average  # the checkpoints whose mean is the final model

    @property
    def counts_epochs(self) -> bool:
        """True if a length is given in epochs."""
        return any(getattr(self, key) is not None for key in UNITS)

    @model_validator(mode="after")
    def _lengths_fit(self) -> "Recipe":
        """Refuse a length in both units or in none, and lengths that do not fit each other."""
        for epochs, updates in UNITS.items():
            missing = [key for key in updates if getattr(self, key) is None]
            in_epochs = getattr(self, epochs) is not None
            if missing and not in_epochs:
                raise UserError(f"missing key '{missing[0]}' (or '{epochs}')")
            if in_epochs and len(missing) < len(updates):
                raise UserError(f"give either '{updates[0]}' or '{epochs}', not both")
        if not self.counts_epochs:
            self.in_updates(None)
        elif self.epochs is not None and (self.warmup_epochs or 0) >= self.epochs:
            raise UserError(f"key 'warmup_epochs': expected less than {self.epochs:g}")
        return self

    def in_updates(self, updates_per_epoch: float | None) -> Lengths:
        """All lengths in updates, rounded to at least one (a warm-up to none).

        The updates of an epoch, batches of a pass over the training text / batches of an update,
        are None for a recipe that gives no length in epochs. A `UserError` if they do not fit.
        """
        updates, warmup = self.updates, self.warmup_updates
        save, validate = self.save_every, self.validate_every
        if updates_per_epoch is not None:
            if self.epochs is not None:
                updates = max(1, round(self.epochs * updates_per_epoch))
            if self.warmup_epochs is not None:
                warmup = round(self.warmup_epochs * updates_per_epoch)
            if self.validations_per_epoch is not None:
                save = validate = max(1, round(updates_per_epoch / self.validations_per_epoch))
        assert updates and warmup is not None and save and validate
        limits = {"warmup_updates": (warmup, updates - 1)}
        limits |= {f"keep.{name}": (update, updates) for name, update in (self.keep or {}).items()}
        for key, (given, most) in limits.items():
            if given > most:
                expected = f"expected at most {most}: 'updates' is {updates}"
                raise UserError(f"key '{key}': found {given}, {expected}")
        if save % validate:
            expected = f"a divisor of 'save_every', {save}: every checkpoint is validated"
            raise UserError(f"key 'validate_every': found {validate}, expected {expected}")
        if self.keep and self.patience is not None:
            expected = "null: a training that may end early cannot promise those of 'keep'"
            raise UserError(f"key 'patience': found {self.patience}, expected {expected}")
        return Lengths(updates, warmup, save, validate)

    def estimated_tokens(self, tokens_per_epoch: float) -> float:
        """Tokens that a training will see; those of an epoch are 0 where they are not known."""
        if self.epochs is None:
            assert self.updates is not None
            return float(self.updates * self.batch_tokens)
        whole_updates = math.ceil(self.epochs * tokens_per_epoch / self.batch_tokens)
        return float(whole_updates * self.batch_tokens)


class RecipeFile(Inheriting, Recipe):
    """A file of `config/recipes`."""

    description: Text = ""  # for readers
    tasks: Changes = {}  # what is different on the corpus of a task, by task

"""Mistakes of the kind that lets a training run on, planted one at a time.

Each takes the place of a function, whose right version it gets first: within its context, trainings
of one system have the mistake. They show what the reference points of `tests/learning/points.csv`
are worth.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from nat.configuration.models import Training
from nat.data import batch as batches
from nat.data.vocabulary import EOS, PAD, VocabularySizes
from nat.distillation.dynamic import Dynamic, empty_or_repeated, full_mask_nll
from nat.fairseq_plugin import components, dataset, task
from nat.inputs import skip
from nat.inputs.glancing import Glancing
from nat.inputs.masks import mask_at_random
from nat.inputs.previous_tokens import PreviousTokens
from nat.inputs.random_mask import RandomMask
from nat.objective import first_pass
from nat.objective.context import BatchContext, DecoderInput
from nat.objective.objective import Objective
from nat.parts.latent import LatentVariables
from nat.targets import axe, cmlmc, ctc, hints, oaxe
from nat.transformer import layers, model
from nat.transformer.length import LengthPredictor
from nat.transformer.model import Transformer

Patch = pytest.MonkeyPatch
BUGS: dict[str, tuple[str, Callable[[Patch], None]]] = {}
"""The system that trains with each mistake, and what plants it."""


@contextmanager
def planted(name: str) -> Iterator[str]:
    """Plant a mistake; gives the system that trains with it."""
    system, plant = BUGS[name]
    with Patch.context() as patch:
        plant(patch)
        yield system


def _bug(system: str, name: str, *owners: Any) -> Callable[[Callable[..., Any]], None]:
    """Enter a mistake that takes the place of a function of classes or modules."""

    def enter(mistake: Callable[..., Any]) -> None:
        def plant(patch: Patch) -> None:
            for owner in owners:
                patch.setattr(owner, name, replaced(owner))

        def replaced(owner: Any) -> Any:
            right = getattr(owner, name)

            def wrong(*arguments: Any, **options: Any) -> Any:
                return mistake(right, *arguments, **options)

            return staticmethod(wrong) if isinstance(vars(owner)[name], staticmethod) else wrong

        BUGS[mistake.__name__.strip("_").replace("_", " ")] = system, plant

    return enter


# Data


@_bug("mple-nat-kd", "__getitem__", dataset.TrainingPairs)
def _targets_of_the_next_source(
    right: Any, self: dataset.TrainingPairs, index: int
) -> dataset.Pair:
    number, source, _ = right(self, index)
    return number, source, right(self, (index + 1) % len(self))[2]


@_bug("mple-nat-kd", "passes", task)
def _batches_in_the_order_of_their_length(
    right: Any, given: Any, needed: int, seed: int
) -> list[np.ndarray]:
    return [given[number % len(given)] for number in range(needed)]


@_bug("mple-nat-kd", "passes", task)
def _batches_in_the_same_order_for_all_seeds(
    right: Any, given: Any, needed: int, seed: int
) -> list[np.ndarray]:
    found: list[np.ndarray] = right(given, needed, 1)
    return found


@_bug("at-base", "source_tensor", batches)
def _sources_padded_on_the_left(right: Any, sentences: Any) -> Tensor:
    return torch.stack([row.roll(int(row.eq(PAD).sum())) for row in right(sentences)])


@_bug("at-base", "__call__", PreviousTokens)
def _end_of_the_sentence_not_learned(right: Any, self: Any, context: Any) -> DecoderInput:
    found = right(self, context)
    return replace(found, loss_mask=found.loss_mask & found.target.ne(EOS))


# Network


@_bug("at-base", "__call__", PreviousTokens)
def _decoder_that_sees_what_follows(right: Any, self: Any, context: Any) -> DecoderInput:
    return replace(right(self, context), causal=False)


@_bug("fully-nat-nat-kd", "dropout", layers, model)
def _dropout_in_validation(
    right: Any, states: Tensor, probability: float, training: bool
) -> Tensor:
    return right(states, probability, True)


@_bug("fully-nat-nat-kd", "build_model", task)
def _no_dropout(right: Any, training: Training, sizes: VocabularySizes) -> Any:
    recipe = training.recipe.model_copy(update={"dropout": 0.0})
    return right(training.model_copy(update={"recipe": recipe}), sizes)


@_bug("mple-nat-kd", "loss", LengthPredictor)
def _length_off_by_one(
    right: Any, self: Any, states: Tensor, padding: Tensor, lengths: Tensor
) -> Any:
    return right(self, states, padding, lengths + 1)


@_bug("vae-kd", "with_loss", LatentVariables)
def _divergence_not_paid(right: Any, self: Any, loss: Any, *_: Any) -> Any:
    return loss


# Proxy inputs


@_bug("cmlm-kd", "__call__", RandomMask)
def _too_few_masks(right: Any, self: Any, context: Any) -> DecoderInput:
    return mask_at_random(context, (0.15 * context.batch.target_lengths).long() + 1)


@_bug("glat-kd", "_number", Glancing)
def _glances_at_what_is_right_already(right: Any, self: Any, context: Any, first: Any) -> Tensor:
    correct = first.predicted().eq(first.labels) & ~first.canvas.padding
    return (correct.sum(1) * self.ratio).round().long()


@_bug("imputer-kd", "best_alignment", first_pass)
def _alignment_one_frame_late(right: Any, *arguments: Any) -> Any:
    return right(*arguments).roll(1, 1)


@_bug("hrt", "_from_left_to_right", skip)
def _tokens_of_the_wrong_places_first(
    right: Any, ended: Tensor, lengths: Tensor, chunk: int, *rest: Any
) -> Any:
    return right(ended.roll(chunk - 1, 1), lengths, chunk, *rest)


# Proxy targets


@_bug("mple-nat-kd", "fully_masked_input", BatchContext)
def _padding_carries_loss(right: Any, self: BatchContext) -> DecoderInput:
    found = right(self)
    return replace(found, loss_mask=torch.ones_like(found.loss_mask))


@_bug("ctc-kd", "negative_log_likelihood", ctc)
def _last_token_not_aligned(right: Any, found: Tensor, targets: Tensor, padding: Tensor) -> Any:
    last = targets.ne(PAD).sum(1, keepdim=True) - 1
    return right(found, targets.scatter(1, last.clamp(min=0), PAD), padding)


@_bug("axe-kd", "align", axe)
def _targets_skipped_for_nothing(right: Any, *arguments: Any) -> Any:
    return right(*arguments[:-1], 0.01)


@_bug("oaxe-kd", "assign", oaxe)
def _assignment_in_the_wrong_direction(right: Any, *arguments: Any) -> Any:
    return right(*arguments).argsort(1)


@_bug("cmlmc-kd", "replace", cmlmc.Cmlmc)
def _correction_without_mistakes(right: Any, self: Any, context: Any, shown: DecoderInput) -> Any:
    return replace(right(self, context, shown), tokens=shown.tokens)


@_bug("dims-cmlm-kd", "after_update", Objective)
def _teacher_that_follows_at_once(right: Any, self: Objective, model: Transformer) -> None:
    if self.teacher is not None:
        with torch.no_grad():
            for mine, its in zip(self.teacher.parameters(), model.parameters(), strict=True):
                mine.copy_(its)


@_bug("dims-cmlm-kd", "after_update", Objective)
def _teacher_that_never_follows(right: Any, self: Objective, model: Transformer) -> None:
    pass


@_bug("hints-kd", "_teacher", hints.Hints)
def _hints_of_the_next_position(right: Any, self: hints.Hints, context: Any) -> Any:
    trace = right(self, context)
    trace.states[:] = [each.roll(1, 1) for each in trace.states]
    trace.attention[:] = [each.roll(1, 2) for each in trace.attention]
    return trace


# Gradient


@_bug("ctc-kd", "forward", components.Criterion)
def _mean_over_sentences(
    right: Any, self: Any, model: Any, sample: Any, reduce: bool = True
) -> Any:
    value, _, log = right(self, model, sample, reduce)
    return value, len(sample["batch"].ids), log


# Choice of the text


@_bug("dynamic-kd", "__call__", Dynamic)
@torch.no_grad()
def _the_least_likely_candidate(right: Any, self: Dynamic, context: Any) -> Tensor:
    candidates = context.batch.candidates
    cost = full_mask_nll(context, candidates)
    return cost.masked_fill(empty_or_repeated(candidates), -torch.inf).argmax(1)

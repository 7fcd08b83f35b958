"""Twenty mistakes of the kind that lets a training run on, planted one at a time.

Each is a context: within it, trainings of one system have the mistake. They show what the reference
points of `tests/learning/points` are worth.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from nat.data import batch as batches
from nat.data.vocabulary import EOS, PAD
from nat.distillation.dynamic import Dynamic, empty_or_repeated, full_mask_nll
from nat.fairseq_plugin import dataset, task
from nat.inputs import skip
from nat.inputs.glancing import Glancing
from nat.inputs.masks import mask_at_random
from nat.inputs.previous_tokens import PreviousTokens
from nat.inputs.random_mask import RandomMask
from nat.objective import first_pass
from nat.objective.context import BatchContext, DecoderInput
from nat.objective.objective import Objective
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


def _bug(system: str) -> Callable[[Callable[[Patch], None]], Callable[[Patch], None]]:
    def enter(plant: Callable[[Patch], None]) -> Callable[[Patch], None]:
        BUGS[plant.__name__.strip("_").replace("_", " ")] = system, plant
        return plant

    return enter


# Data


@_bug("mple-nat-kd")
def _targets_of_the_next_source(patch: Patch) -> None:
    original = dataset.Pairs.__getitem__

    def shifted(self: dataset.Pairs, index: int) -> dataset.Pair:
        number, source, _ = original(self, index)
        return number, source, original(self, (index + 1) % len(self))[2]

    patch.setattr(dataset.Pairs, "__getitem__", shifted)


@_bug("mple-nat-kd")
def _batches_in_the_order_of_their_length(patch: Patch) -> None:
    def sorted_passes(given: Any, needed: int, seed: int) -> list[np.ndarray]:
        return [given[number % len(given)] for number in range(needed)]

    patch.setattr(task, "passes", sorted_passes)


@_bug("at-base")
def _sources_padded_on_the_left(patch: Patch) -> None:
    original = batches.source_tensor

    def padded(sentences: Any) -> Tensor:
        found = original(sentences)
        return torch.stack([row.roll(int(row.eq(PAD).sum())) for row in found])

    patch.setattr(batches, "source_tensor", padded)


@_bug("at-base")
def _end_of_the_sentence_not_learned(patch: Patch) -> None:
    original = PreviousTokens.__call__

    def without_end(self: PreviousTokens, context: Any) -> Any:
        found = original(self, context)
        return replace(found, loss_mask=found.loss_mask & found.target.ne(EOS))

    patch.setattr(PreviousTokens, "__call__", without_end)


# Network


@_bug("at-base")
def _decoder_that_sees_what_follows(patch: Patch) -> None:
    original = PreviousTokens.__call__
    patch.setattr(
        PreviousTokens,
        "__call__",
        lambda self, context: replace(original(self, context), causal=False),
    )


@_bug("fully-nat-nat-kd")
def _dropout_in_validation(patch: Patch) -> None:
    original = layers.dropout

    def always(states: Tensor, probability: float, training: bool) -> Tensor:
        return original(states, probability, True)

    patch.setattr(layers, "dropout", always)
    patch.setattr(model, "dropout", always)


@_bug("mple-nat-kd")
def _length_off_by_one(patch: Patch) -> None:
    original = LengthPredictor.loss
    patch.setattr(
        LengthPredictor,
        "loss",
        lambda self, states, padding, lengths: original(self, states, padding, lengths + 1),
    )


@_bug("vae-kd")
def _divergence_not_paid(patch: Patch) -> None:
    patch.setattr(Objective, "_with_divergence", staticmethod(lambda loss, *_: loss))


# Proxy inputs


@_bug("cmlm-kd")
def _too_few_masks(patch: Patch) -> None:
    def few(self: RandomMask, context: Any) -> Any:
        lengths = context.batch.target_lengths
        return mask_at_random(context, (0.15 * lengths).long() + 1)

    patch.setattr(RandomMask, "__call__", few)


@_bug("glat-kd")
def _glances_at_what_is_right_already(patch: Patch) -> None:
    def number(self: Glancing, context: Any, first: Any) -> Tensor:
        right = first.predicted().eq(first.labels) & ~first.canvas.padding
        return (right.sum(1) * self.ratio).round().long()

    patch.setattr(Glancing, "_number", number)


@_bug("imputer-kd")
def _alignment_one_frame_late(patch: Patch) -> None:
    original = first_pass.best_alignment

    def late(*arguments: Any) -> Any:
        found = original(*arguments)
        return found._replace(labels=found.labels.roll(1, 1))

    patch.setattr(first_pass, "best_alignment", late)


@_bug("hrt")
def _tokens_of_the_wrong_places_first(patch: Patch) -> None:
    original = skip._from_left_to_right

    def shown(ended: Tensor, lengths: Tensor, chunk: int, primary: Tensor, mask: Tensor) -> Any:
        return original(ended.roll(chunk - 1, 1), lengths, chunk, primary, mask)

    patch.setattr(skip, "_from_left_to_right", shown)


# Proxy targets


@_bug("mple-nat-kd")
def _padding_carries_loss(patch: Patch) -> None:
    original = BatchContext.fully_masked_input

    def everywhere(self: BatchContext) -> DecoderInput:
        found = original(self)
        return replace(found, loss_mask=torch.ones_like(found.loss_mask))

    patch.setattr(BatchContext, "fully_masked_input", everywhere)


@_bug("ctc-kd")
def _last_token_not_aligned(patch: Patch) -> None:
    original = ctc.negative_log_likelihood

    def shorter(found: Tensor, targets: Tensor, padding: Tensor) -> Tensor:
        last = targets.ne(PAD).sum(1, keepdim=True) - 1
        return original(found, targets.scatter(1, last.clamp(min=0), PAD), padding)

    patch.setattr(ctc, "negative_log_likelihood", shorter)


@_bug("axe-kd")
def _targets_skipped_for_nothing(patch: Patch) -> None:
    original = axe.align
    patch.setattr(axe, "align", lambda *arguments: original(*arguments[:-1], 0.01))


@_bug("oaxe-kd")
def _assignment_in_the_wrong_direction(patch: Patch) -> None:
    original = oaxe.assign
    patch.setattr(oaxe, "assign", lambda *arguments: original(*arguments).argsort(1))


@_bug("cmlmc-kd")
def _correction_without_mistakes(patch: Patch) -> None:
    original = cmlmc.Cmlmc.replace

    def unreplaced(self: Any, context: Any, decoder_input: Any) -> Any:
        found = original(self, context, decoder_input)
        return replace(found, tokens=decoder_input.tokens)

    patch.setattr(cmlmc.Cmlmc, "replace", unreplaced)


@_bug("dims-cmlm-kd")
def _teacher_that_follows_at_once(patch: Patch) -> None:
    def follow(self: Objective, model: Transformer) -> None:
        if self.teacher is not None:
            with torch.no_grad():
                for mine, its in zip(self.teacher.parameters(), model.parameters(), strict=True):
                    mine.copy_(its)

    patch.setattr(Objective, "after_update", follow)


@_bug("hints-kd")
def _hints_of_the_next_position(patch: Patch) -> None:
    original = hints.Hints._teacher

    def shifted(self: hints.Hints, context: Any) -> Any:
        trace = original(self, context)
        trace.states[:] = [each.roll(1, 1) for each in trace.states]
        trace.attention[:] = [each.roll(1, 2) for each in trace.attention]
        return trace

    patch.setattr(hints.Hints, "_teacher", shifted)


# Choice of the text


@_bug("dynamic-kd")
def _the_least_likely_candidate(patch: Patch) -> None:
    @torch.no_grad()
    def worst(self: Dynamic, context: Any) -> Tensor:
        candidates = context.batch.candidates
        cost = full_mask_nll(context, candidates)
        return cost.masked_fill(empty_or_repeated(candidates), -torch.inf).argmax(1)

    patch.setattr(Dynamic, "__call__", worst)

"""The frame of an analysis of a trained model: its model, and the pairs of held-out splits.

A module of this package has a function `analyse` of a job, which returns by split what it found;
`nat.jobs.models` writes the file. Numbers are the key `measures` of a split.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from nat.artifacts import Analysis, Model, step_of
from nat.data.batch import Batch, batches, source_tensor
from nat.data.binarised import BinarisedText
from nat.data.vocabulary import Vocabularies
from nat.decoding.corpus import Sentences
from nat.decoding.passes import Pass, Traced
from nat.job import Job, JobSystem
from nat.measures.results import DIGITS
from nat.training.model_file import matching_model
from nat.transformer.model import Transformer

Found = dict[str, Any]
"""The findings of an analysis on a split, JSON-able."""

Terms = Mapping[int, tuple[float, float]]
"""Both terms of a ratio of sums, such as nats and tokens, of each sentence by its number."""


@dataclass(frozen=True)
class Pairs:
    """Sources and raw references in subwords, and the model that is measured on them.

    The model is in evaluation mode; `batch_tokens` are most tokens of a batch, padding included.
    """

    model: Transformer
    sources: Sentences
    targets: Sentences
    batch_tokens: int
    name: str = ""

    @property
    def device(self) -> torch.device:
        """The device of the model."""
        return next(self.model.parameters()).device

    def usable_sources(self) -> dict[int, int]:
        """Tokens of the sources that are not empty and fit the model's positions, by number."""
        lengths = {number: len(self.sources[number]) for number in range(len(self.sources))}
        longest = self.model.longest_source
        return {number: length for number, length in lengths.items() if 0 < length <= longest}

    def usable(self) -> dict[int, int]:
        """Tokens of the longer side of each pair that fits, with two sides, by number."""
        return {
            number: max(length, len(self.targets[number]))
            for number, length in self.usable_sources().items()
            if 0 < len(self.targets[number]) <= self.model.longest_target
        }

    def source_batches(
        self, lengths: Mapping[int, int] | None = None
    ) -> Iterator[tuple[list[int], Tensor]]:
        """Numbers of sources, by default of all usable ones, and these sources [B, S]."""
        chosen = self.usable_sources() if lengths is None else dict(lengths)
        for numbers in batches(chosen, self.batch_tokens):
            source = source_tensor([self.sources[number] for number in numbers])
            yield numbers, source.to(self.device)

    def passes(self, method: Traced) -> dict[int, list[Pass]]:
        """The passes of a decoding of each source that fits the model, by number."""
        passes: dict[int, list[Pass]] = {}
        for numbers, source in self.source_batches():
            passes |= zip(numbers, method.passes(self.model, source), strict=True)
        return passes

    def batches(self) -> Iterator[Batch]:
        """Batches of the usable pairs, on the model's device, the longest first."""
        return map(self.batch, batches(self.usable(), self.batch_tokens))

    def batch(self, numbers: Sequence[int]) -> Batch:
        """A batch of pairs, on the model's device."""
        sides = ([side[number] for number in numbers] for side in (self.sources, self.targets))
        return Batch.collate(numbers, *sides).to(self.device)

    def counts(self, measured: int) -> Found:
        """The number of sentences that were measured, and of the others."""
        return {"sentences": measured, "left_out": len(self.sources) - measured}


@dataclass(frozen=True)
class Subject:
    """The system that a job analyses, its model in evaluation mode, and its held-out splits."""

    job: Job[Analysis]
    system: JobSystem
    model: Transformer
    vocabularies: Vocabularies
    splits: list[Pairs]

    def other(self, model: Model | None) -> Transformer | None:
        """Another model that the job reads, in evaluation mode."""
        if model is None:
            return None
        return matching_model(model, self.job.configuration, self.vocabularies.sizes)


def subject(job: Job[Analysis]) -> Subject:
    """Load a trained model and the pairs to analyse.

    Raises a `UserError` if a file is missing or files do not belong together.
    """
    configuration, languages = job.configuration, job.corpus.sides
    vocabularies = Vocabularies.load(Path(job.inputs.corpus.path))
    model = matching_model(job.inputs.model, configuration, vocabularies.sizes)
    splits = []
    for name in job.corpus.held_out:
        path = step_of(job.artifact.corpus, name, "binarised").path
        sources, targets = (BinarisedText(f"{path}/{name}.{side}") for side in languages)
        tokens = configuration.scale.decoding_tokens
        splits.append(Pairs(model, sources, targets, tokens, name))
    system = configuration.systems[job.artifact.system]
    return Subject(job, system, model, vocabularies, splits)


def of_splits(
    measure: Callable[[Subject, Pairs], Found | None],
) -> Callable[[Job[Analysis]], dict[str, Found]]:
    """Make an analysis of the measurement of a split; one that gives None is left out."""

    @wraps(measure)
    def analyse(job: Job[Analysis]) -> dict[str, Found]:
        system = subject(job)
        measured = {pairs.name: measure(system, pairs) for pairs in system.splits}
        return {name: each for name, each in measured.items() if each is not None}

    return analyse


def measures(values: Mapping[str, float]) -> dict[str, dict[str, Any]]:
    """Values as analyses write them."""
    return {name: {"value": round(float(value), DIGITS)} for name, value in values.items()}


def ratio(terms: Terms) -> dict[str, Any]:
    """A ratio of sums over sentences that can be resampled."""
    sums = [math.fsum(each) for each in zip(*terms.values(), strict=True)]
    return {"value": round(sums[0] / sums[1], DIGITS), "by_sentence": by_sentence(terms)}


def by_sentence(terms: Terms) -> dict[str, list[float]]:
    """Terms as files hold them."""
    numbers = sorted(terms)
    sums, tokens = ([terms[number][side] for number in numbers] for side in (0, 1))
    return {"numbers": [*numbers], "sums": [round(x, DIGITS) for x in sums], "tokens": tokens}

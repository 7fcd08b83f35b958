"""Code shared by analyses of a trained model: the model, and the pairs of held-out splits."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from nat.artifacts import Analysis, step_of
from nat.configuration.models import Training
from nat.data.batch import Batch
from nat.data.binarised import BinarisedText
from nat.data.splits import held_out, sides
from nat.data.vocabulary import Vocabularies
from nat.decoding.corpus import batches
from nat.job import Job
from nat.measures import bleu
from nat.training.model_file import matching_model
from nat.transformer.model import Transformer

Sentences = Sequence[np.ndarray] | BinarisedText
"""Token sequences without EOS."""


@dataclass(frozen=True)
class Split:
    """A held-out split: sources and raw references, in subwords and without EOS."""

    name: str
    sources: BinarisedText
    targets: BinarisedText


@dataclass(frozen=True)
class Subject:
    """The model and data of an analysis.

    Attributes:
        model: in evaluation mode.
        training: the system's effective configuration.
        vocabularies: of the corpus.
        splits: every split but the training text.
        batch_tokens: most tokens of a batch, padding included.
    """

    model: Transformer
    training: Training
    vocabularies: Vocabularies
    splits: list[Split]
    batch_tokens: int


def subject(job: Job[Analysis]) -> Subject:
    """Load a trained model and the pairs to analyse.

    Raises:
        UserError: if a file is missing or files do not belong together.
    """
    corpus, configuration = job.artifact.corpus, job.configuration
    source, target = sides(job.corpus)
    vocabularies = Vocabularies.load(Path(job.inputs.corpus.path))
    return Subject(
        matching_model(job.inputs.model, configuration, vocabularies.sizes),
        configuration.training(job.artifact.system),
        vocabularies,
        [
            Split(name, *(BinarisedText(f"{path}/{name}.{side}") for side in (source, target)))
            for name in held_out(job.corpus)
            for path in [step_of(corpus, name, "binarised").path]
        ],
        configuration.settings.decoding_tokens,
    )


def usable_sources(model: Transformer, sources: Sentences) -> dict[int, int]:
    """Numbers of the sources that are not empty and fit the model's positions.

    Returns:
        The tokens of each.
    """
    return {
        number: len(sources[number])
        for number in range(len(sources))
        if 0 < len(sources[number]) <= model.longest_source
    }


def usable(model: Transformer, sources: Sentences, targets: Sentences) -> dict[int, int]:
    """Numbers of the pairs whose sides are not empty and fit the model's positions.

    Returns:
        The tokens of the longer side of each.
    """
    return {
        number: max(length, len(targets[number]))
        for number, length in usable_sources(model, sources).items()
        if 0 < len(targets[number]) <= model.longest_target
    }


def pair_batches(
    model: Transformer, sources: Sentences, targets: Sentences, batch_tokens: int
) -> Iterator[Batch]:
    """Batches of the `usable` pairs, on the model's device, the longest first."""
    device = next(model.parameters()).device
    for numbers in batches(usable(model, sources, targets), batch_tokens):
        yield Batch.collate(
            numbers,
            [sources[number] for number in numbers],
            [targets[number] for number in numbers],
        ).to(device)


def by_sentence(found: Mapping[int, tuple[float, float]]) -> dict[str, list[float]]:
    """Sums and tokens of each sentence as analyses write them; their ratio can be resampled.

    Their numbers tell whether two systems were measured on the same sentences.

    Args:
        found: a sum and a number of tokens by the number of the sentence; 1 for a mean over
            sentences.
    """
    numbers = sorted(found)
    rows = [found[number] for number in numbers]
    return {
        "numbers": [*numbers],
        "sums": [round(value, bleu.DIGITS) for value, _ in rows],
        "tokens": [tokens for _, tokens in rows],
    }


def measures(values: dict[str, float], units: dict[str, str]) -> dict[str, dict[str, Any]]:
    """Values as analyses write them, each with its unit."""
    return {
        name: {"value": round(float(value), bleu.DIGITS), "unit": units[name]}
        for name, value in values.items()
    }

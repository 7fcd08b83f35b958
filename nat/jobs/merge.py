"""Joining what several jobs have made of the shards of a text."""

from pathlib import Path

from nat.artifacts import Comparison, Translations
from nat.data.binarised import BinarisedText
from nat.data.splits import sides
from nat.data.translations import merge_shards
from nat.distillation.pairwise_bleu import merge_comparisons
from nat.job import Job


def merge_translations(job: Job[Translations]) -> None:
    """Join the shards of a translated text into one file that is complete and in order.

    Raises:
        UserError: if a sentence is missing, repeated or out of order; nothing is written.
    """
    source, _ = sides(job.corpus)
    text = Path(job.inputs.corpus.path) / f"{job.artifact.split}.{source}"
    shards = [Path(shard.path) for shard in job.inputs.shards]
    merge_shards(shards, len(BinarisedText(text)), job.path)


def merge_compared(job: Job[Comparison]) -> None:
    """Join the comparisons of the shards of a training text.

    Raises:
        UserError: if a shard is missing or damaged; nothing is written.
    """
    shards = [Path(shard.path) for shard in job.inputs.shards]
    report = job.path.with_name("pairwise_bleu.json")
    merge_comparisons(shards, job.artifact.candidates.split("+"), job.path, report)

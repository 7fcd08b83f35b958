"""Compare versions of a shard of the training text, for dynamic distillation."""

from functools import partial
from pathlib import Path

from nat.artifacts import ComparisonShard
from nat.distillation.pairwise_bleu import compare_texts
from nat.job import Job, run_job
from nat.measures import bleu


def main(job: Job[ComparisonShard]) -> None:
    """Compare versions of a shard of the training text."""
    shard, texts = job.artifact, [Path(text.path) for text in job.inputs.texts]
    in_units = partial(bleu.split, unit=job.corpus.unit)
    compare_texts(job.corpus, texts, job.path, shard.shard, shard.shards, in_units)


if __name__ == "__main__":
    run_job(main)

"""Compare versions of a shard of the training text, for dynamic distillation."""

from pathlib import Path

from nat.artifacts import ComparisonShard
from nat.distillation.pairwise_bleu import compare_texts
from nat.job import Job, run_job


def main(job: Job[ComparisonShard]) -> None:
    """Compare versions of a shard of the training text."""
    texts = [Path(text.path) for text in job.inputs.texts]
    compare_texts(job.corpus, texts, job.path, job.artifact.shard, job.artifact.shards)


if __name__ == "__main__":
    run_job(main)

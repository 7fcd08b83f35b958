"""Join the comparisons of all shards of the training text."""

from pathlib import Path

from nat.artifacts import Comparison
from nat.distillation.pairwise_bleu import merge_comparisons
from nat.job import Job, run_job


def main(job: Job[Comparison]) -> None:
    """Join the comparisons of all shards of the training text."""
    shards, names = job.inputs.shards, job.artifact.candidates.split("+")
    report = job.path.with_name("pairwise_bleu.json")
    merge_comparisons([Path(shard.path) for shard in shards], names, job.path, report)


if __name__ == "__main__":
    run_job(main)

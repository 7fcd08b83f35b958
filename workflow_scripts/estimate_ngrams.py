"""Estimate an n-gram language model of a distilled training text."""

from pathlib import Path

from nat.artifacts import Ngrams
from nat.data.splits import sides
from nat.job import Job, run_job
from nat.language_model.ngram import estimate_from


def main(job: Job[Ngrams]) -> None:
    """Estimate an n-gram language model of a distilled training text."""
    _, target = sides(job.corpus)
    text, report = Path(job.inputs.text.path), job.path.with_suffix(".json")
    estimate_from(text, target, job.artifact.order, job.path, report)


if __name__ == "__main__":
    run_job(main)

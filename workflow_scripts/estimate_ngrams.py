"""Estimate an n-gram language model of a distilled training text."""

from pathlib import Path

from nat.artifacts import Ngrams
from nat.job import Job, run_job
from nat.language_model.ngram import estimate_from


def main(job: Job[Ngrams]) -> None:
    """Estimate an n-gram language model of a distilled training text."""
    text, order = Path(job.inputs.text.path), job.artifact.order
    estimate_from(text, job.corpus.target, order, job.path)


if __name__ == "__main__":
    run_job(main)

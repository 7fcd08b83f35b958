"""Prepare a test set: clean, tokenise, split into subwords and binarise its text."""

from pathlib import Path

from nat.artifacts import CorpusStep
from nat.data.test_set import prepare_test_set
from nat.job import Job, run_job


def main(job: Job[CorpusStep]) -> None:
    """Prepare a test set."""
    learned = Path(job.inputs.before[-1].path)
    prepare_test_set(job.corpus, job.artifact.split, job.path.parent, learned)


if __name__ == "__main__":
    run_job(main)

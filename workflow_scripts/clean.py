"""Normalise the text of a corpus and drop bad training pairs."""

from pathlib import Path

from nat.artifacts import CorpusStep
from nat.data.clean import clean_folder
from nat.data.splits import training_part
from nat.job import Job, run_job


def main(job: Job[CorpusStep]) -> None:
    """Prepare the training text."""
    before = Path(job.inputs.before[-1].path)
    clean_folder(training_part(job.corpus), before, job.path, job.processes)


if __name__ == "__main__":
    run_job(main)

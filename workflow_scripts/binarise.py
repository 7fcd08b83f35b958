"""Turn the subwords of a corpus into ids."""

from pathlib import Path

from nat.artifacts import CorpusStep
from nat.data.binarised import binarise_folder
from nat.data.splits import training_part
from nat.job import Job, run_job


def main(job: Job[CorpusStep]) -> None:
    """Binarise the training text."""
    binarise_folder(training_part(job.corpus), Path(job.inputs.before[-1].path), job.path)


if __name__ == "__main__":
    run_job(main)

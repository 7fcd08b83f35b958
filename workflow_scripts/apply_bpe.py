"""Learn subwords on the training text of a corpus and apply them to what trainings read."""

from pathlib import Path

from nat.artifacts import CorpusStep
from nat.data.bpe import bpe_folder
from nat.data.splits import training_part
from nat.data.text import GIVEN
from nat.job import Job, run_job


def main(job: Job[CorpusStep]) -> None:
    """Learn and apply subwords."""
    given = Path(CorpusStep(job.artifact.corpus, "text").path) / GIVEN
    tokens = Path(job.inputs.before[-1].path)
    bpe_folder(training_part(job.corpus), tokens, job.path, job.processes, given)


if __name__ == "__main__":
    run_job(main)

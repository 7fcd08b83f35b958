"""Add monolingual sentences and their translations to a distilled text."""

from pathlib import Path

from nat.artifacts import WithMonolingual
from nat.data.monolingual import add_monolingual
from nat.job import Job, run_job


def main(job: Job[WithMonolingual]) -> None:
    """Add monolingual sentences and their translations to a distilled text."""
    inputs = job.inputs
    read = (inputs.corpus, inputs.text, inputs.monolingual, inputs.translations)
    binarised, distilled, monolingual, translations = (Path(each.path) for each in read)
    add_monolingual(job.corpus, binarised, distilled, monolingual, translations, job.path)


if __name__ == "__main__":
    run_job(main)

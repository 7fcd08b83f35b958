"""Train a system on a corpus, or resume an interrupted training."""

import sys

from nat.artifacts import Model
from nat.job import Job, run_job
from nat.jobs.launch import launch
from nat.jobs.train import train_system


def main(job: Job[Model]) -> None:
    """Train a system on a corpus."""
    launch(job.configuration, job.artifact.system, sys.argv)
    train_system(job)


if __name__ == "__main__":
    run_job(main)

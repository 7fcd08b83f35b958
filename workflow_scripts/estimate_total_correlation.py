"""Estimate the conditional total correlation of a text from the likelihoods of two models."""

from pathlib import Path

from nat.artifacts import TotalCorrelation
from nat.files import read_json, write_json
from nat.job import Job, run_job
from nat.measures.total_correlation import estimate


def main(job: Job[TotalCorrelation]) -> None:
    """Estimate it, and write it with its names."""
    contents = (read_json(Path(each.path)) for each in job.inputs.artifacts())
    names = {name: each for name, each in vars(job.artifact).items() if name != "run"}
    write_json(job.path, {**names, **estimate(*contents)})


if __name__ == "__main__":
    run_job(main)

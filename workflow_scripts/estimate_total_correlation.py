"""Estimate the conditional total correlation of a text from the likelihoods of two models."""

from pathlib import Path

from nat.artifacts import TotalCorrelation
from nat.files import read_json, write_json
from nat.job import Job, run_job
from nat.measures import total_correlation


def main(job: Job[TotalCorrelation]) -> None:
    """Estimate the conditional total correlation of a text from the likelihoods of two models."""
    parallel, autoregressive, summary = (
        read_json(Path(each.path)) for each in job.inputs.artifacts()
    )
    estimate = total_correlation.estimate(parallel, autoregressive)
    found = total_correlation.with_exact(estimate, summary)
    write_json(job.path, total_correlation.with_measures(found))


if __name__ == "__main__":
    run_job(main)

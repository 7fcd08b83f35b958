"""Measure a trained model without translating: one analysis, as one JSON file."""

import importlib

import torch

from nat.artifacts import Analysis
from nat.files import write_json
from nat.job import Job, run_job
from nat.jobs.launch import threads


def main(job: Job[Analysis]) -> None:
    """Measure a model, or the toy of an objective, by an analysis of `nat/analyses`."""
    analysis = job.artifact
    torch.set_num_threads(threads(job.configuration))
    splits = importlib.import_module(f"nat.analyses.{analysis.analysis}").analyse(job)
    numbers = {name: split.pop("measures") for name, split in splits.items()}
    names = {name: each for name, each in vars(analysis).items() if name != "run"}
    write_json(job.path, {"measures": numbers, **names, "splits": splits})


if __name__ == "__main__":
    run_job(main)

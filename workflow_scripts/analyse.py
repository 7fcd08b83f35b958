"""Measure a trained model without translating: one analysis, as one JSON file."""

from nat.job import run_job
from nat.jobs.models import analyse_model

if __name__ == "__main__":
    run_job(analyse_model)

"""Convert the model of a system for another engine."""

from nat.job import run_job
from nat.jobs.convert import convert_model

if __name__ == "__main__":
    run_job(convert_model)

"""Convert the model of a system for another engine."""

from nat.export.formats import convert_model
from nat.job import run_job

if __name__ == "__main__":
    run_job(convert_model)

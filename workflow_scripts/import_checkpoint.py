"""Take a published checkpoint over as the model of a system."""

from nat.job import run_job
from nat.jobs.models import import_checkpoint

if __name__ == "__main__":
    run_job(import_checkpoint)

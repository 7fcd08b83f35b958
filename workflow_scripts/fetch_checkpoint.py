"""Download a published checkpoint, or take it from the mirror."""

from nat.job import run_job
from nat.jobs.fetch import fetch_checkpoint

if __name__ == "__main__":
    run_job(fetch_checkpoint)

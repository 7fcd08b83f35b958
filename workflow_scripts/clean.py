"""Normalise the text of a corpus and drop bad training pairs."""

from nat.job import run_job
from nat.jobs.prepare import filter_text

if __name__ == "__main__":
    run_job(filter_text)

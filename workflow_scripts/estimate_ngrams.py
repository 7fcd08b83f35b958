"""Estimate an n-gram language model of a distilled training text."""

from nat.job import run_job
from nat.jobs.prepare import estimate_ngrams

if __name__ == "__main__":
    run_job(estimate_ngrams)

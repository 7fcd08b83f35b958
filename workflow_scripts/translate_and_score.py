"""Translate a split with a trained system by one or several decodings, and score each."""

from nat.job import run_jobs
from nat.jobs.evaluate import evaluate

if __name__ == "__main__":
    run_jobs(evaluate)

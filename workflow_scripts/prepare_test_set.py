"""Prepare a test set: clean, tokenise, split into subwords and binarise its text."""

from nat.job import run_job
from nat.jobs.prepare import prepare_test_set

if __name__ == "__main__":
    run_job(prepare_test_set)

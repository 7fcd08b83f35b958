"""Collect several references of the splits of a corpus that are prepared together."""

from nat.job import run_job
from nat.jobs.fetch import make_references

if __name__ == "__main__":
    run_job(make_references)

"""Collect the further references that a corpus file lists for some of its splits."""

from nat.job import run_job
from nat.jobs.fetch import make_references

if __name__ == "__main__":
    run_job(make_references)

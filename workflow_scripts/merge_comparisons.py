"""Join the comparisons of all shards of the training text."""

from nat.job import run_job
from nat.jobs.prepare import merge_compared

if __name__ == "__main__":
    run_job(merge_compared)

"""Compare versions of a shard of the training text, for dynamic distillation."""

from nat.job import run_job
from nat.jobs.prepare import compare_texts

if __name__ == "__main__":
    run_job(compare_texts)

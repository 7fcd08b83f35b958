"""Translate a shard of a text with a trained system."""

from nat.job import run_job
from nat.jobs.translate import translate_shard

if __name__ == "__main__":
    run_job(translate_shard)

"""Join the shards of a translated text into one file that is complete and in order."""

from nat.job import run_job
from nat.jobs.prepare import merge_translations

if __name__ == "__main__":
    run_job(merge_translations)

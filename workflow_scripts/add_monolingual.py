"""Add monolingual sentences and their translations to a distilled text."""

from nat.job import run_job
from nat.jobs.prepare import extend_text

if __name__ == "__main__":
    run_job(extend_text)

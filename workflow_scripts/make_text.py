"""Make the raw text of a corpus, or of one of its test sets."""

from nat.job import run_job
from nat.jobs.fetch import make_text

if __name__ == "__main__":
    run_job(make_text)

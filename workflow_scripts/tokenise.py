"""Split the text of a corpus into tokens."""

from nat.job import run_job
from nat.jobs.prepare import tokenise

if __name__ == "__main__":
    run_job(tokenise)

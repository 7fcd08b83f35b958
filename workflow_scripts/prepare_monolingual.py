"""Prepare the monolingual text of a corpus."""

from nat.job import run_job
from nat.jobs.prepare import prepare_sentences

if __name__ == "__main__":
    run_job(prepare_sentences)

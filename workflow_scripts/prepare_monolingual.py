"""Prepare the monolingual text of a corpus, with the subwords learned from the training text."""

from nat.job import run_job
from nat.jobs.prepare import prepare_sentences

if __name__ == "__main__":
    run_job(prepare_sentences)

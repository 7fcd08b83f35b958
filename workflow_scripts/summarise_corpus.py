"""Summarise a prepared corpus: pairs, tokens, lengths, what was dropped, exact entropies."""

from nat.job import run_job
from nat.jobs.prepare import summarise_corpus

if __name__ == "__main__":
    run_job(summarise_corpus)

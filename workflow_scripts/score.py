"""Measure the translations of one test set: BLEU and other measures, with their counts."""

from nat.job import run_job
from nat.measures.score import score_translations

if __name__ == "__main__":
    run_job(score_translations)

"""Estimate the conditional total correlation of a text from the likelihoods of two models."""

from nat.job import run_job
from nat.measures.total_correlation import estimate_total_correlation

if __name__ == "__main__":
    run_job(estimate_total_correlation)

"""Tune the weights of dynamic distillation on a split with several references."""

from nat.job import run_job
from nat.jobs.tune_gamma import tune_gamma

if __name__ == "__main__":
    run_job(tune_gamma)

"""Choose options of a decoding on the validation set."""

from nat.job import run_job
from nat.jobs.tune_decoding import tune_decoding

if __name__ == "__main__":
    run_job(tune_decoding)

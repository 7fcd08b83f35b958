"""Turn the subwords of a corpus into ids."""

from nat.job import run_job
from nat.jobs.prepare import prepare_step

if __name__ == "__main__":
    run_job(prepare_step)

"""Learn subwords on the training text of a corpus and apply them to what trainings read."""

from nat.job import run_job
from nat.jobs.prepare import prepare_step

if __name__ == "__main__":
    run_job(prepare_step)

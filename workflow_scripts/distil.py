"""Make distilled training text of a teacher's translations."""

from nat.job import run_job
from nat.jobs.prepare import distil_text

if __name__ == "__main__":
    run_job(distil_text)

"""Judge what a paper claims on the results of this run: one CSV, with Markdown beside it."""

from nat.job import run_job
from nat.jobs.judge_claims import judge_claims

if __name__ == "__main__":
    run_job(judge_claims)

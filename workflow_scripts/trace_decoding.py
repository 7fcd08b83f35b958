"""Write what each pass of a decoding does to the first sentences of a split."""

from nat.job import run_job
from nat.jobs.trace import trace_decoding

if __name__ == "__main__":
    run_job(trace_decoding)

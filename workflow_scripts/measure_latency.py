"""Measure how long the systems of a table or figure take to translate the test set of a corpus.

They are measured by turns, on one device and with batches of one size.
"""

from nat.job import run_jobs
from nat.jobs.measure_latency import measure_latency

if __name__ == "__main__":
    run_jobs(measure_latency)

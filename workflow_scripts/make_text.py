"""Make the text folder of a corpus: download, copy local files, or generate."""

from nat.job import run_job
from nat.jobs.fetch import make_text

if __name__ == "__main__":
    run_job(make_text)

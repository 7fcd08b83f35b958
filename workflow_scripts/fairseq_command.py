"""Prepare a training for fairseq's own program, and print the command that starts it."""

import argparse
import shlex
from pathlib import Path

from nat.job import read_jobs
from nat.jobs.train import fairseq_command
from nat.program import run


def main() -> None:
    """Print the command of the job of a specification, as of `train.py`."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("specification", type=Path)
    (job,) = read_jobs(parser.parse_args().specification)
    print(shlex.join(fairseq_command(job)))


if __name__ == "__main__":
    run(main)

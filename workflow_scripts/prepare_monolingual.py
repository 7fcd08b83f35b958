"""Prepare the monolingual text of a corpus, with the subwords learned from the training text."""

from pathlib import Path

from nat.artifacts import CorpusStep
from nat.data.monolingual import KINDS, prepare_monolingual
from nat.job import Job, run_job
from nat.program import Progress


def main(job: Job[CorpusStep]) -> None:
    """Prepare the monolingual text, and say how much of it is kept."""
    text, learned = (Path(each.path) for each in job.inputs.before)
    report = prepare_monolingual(job.corpus, text, learned, job.path, job.processes)
    left_out = ", ".join(f"{n:,} {KINDS[reason]}" for reason, n in report["dropped"].items())
    said = f"{report['kept']:,} of {report['read']:,} sentences are kept"
    said += f"; left out: {left_out}" if left_out else ""
    Progress(f"{job.artifact.corpus}, monolingual", 0, "lines").say(said)


if __name__ == "__main__":
    run_job(main)

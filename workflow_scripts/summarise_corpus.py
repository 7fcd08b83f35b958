"""Summarise a prepared corpus: pairs, tokens, lengths, what was dropped, exact entropies."""

from nat.artifacts import CorpusStep
from nat.data.summary import summarise, told
from nat.files import write_json
from nat.job import Job, run_job
from nat.program import Progress


def main(job: Job[CorpusStep]) -> None:
    """Summarise a corpus, and say what a reader should know about it."""
    summary = summarise(job.corpus, job.path.parent)
    write_json(job.path, summary)
    for line in told(summary):
        Progress(job.artifact.corpus, 0, "lines").say(line)


if __name__ == "__main__":
    run_job(main)

"""Summarise a prepared corpus: pairs, tokens, lengths, what was dropped, exact entropies."""

from nat.artifacts import CorpusStep
from nat.data.summary import summarise
from nat.files import write_json
from nat.job import Job, run_job


def main(job: Job[CorpusStep]) -> None:
    """Summarise a corpus."""
    write_json(job.path, summarise(job.artifact.corpus, job.corpus, job.path.parent))


if __name__ == "__main__":
    run_job(main)

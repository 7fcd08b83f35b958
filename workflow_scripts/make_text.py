"""Make the raw text of a corpus, or of one of its test sets."""

from nat.artifacts import CorpusStep
from nat.data.corpus_parts import text_part
from nat.data.sources import Place
from nat.data.text import make_text
from nat.job import Job, run_job


def main(job: Job[CorpusStep]) -> None:
    """Make the raw text of a corpus, or of one of its test sets."""
    part = text_part(job.corpus, job.artifact.split)
    place = Place(job.artifact.corpus, mirror=job.configuration.settings.mirror)
    make_text(part, job.path, place)


if __name__ == "__main__":
    run_job(main)

"""Collect several references of the splits of a corpus that are prepared together."""

from pathlib import Path

from nat.artifacts import CorpusStep
from nat.data.corpus_parts import has_references
from nat.data.sources import Place
from nat.data.splits import together_with
from nat.data.text import make_references
from nat.job import Job, run_job


def main(job: Job[CorpusStep]) -> None:
    """Collect the further references of the splits that are prepared together."""
    text = Path(job.inputs.before[0].path)
    place = Place(job.artifact.corpus, mirror=job.configuration.settings.mirror)
    prepared = together_with(job.artifact.split)
    splits = [split for split in prepared if has_references(job.corpus, split)]
    make_references(job.corpus, splits, text, job.path, place)


if __name__ == "__main__":
    run_job(main)

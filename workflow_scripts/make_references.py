"""Collect the further references that a corpus file lists for some of its splits."""

from pathlib import Path

from nat.artifacts import CorpusStep
from nat.checksums import DOWNLOADS, RESULTS
from nat.data.references import has_references, make_references
from nat.data.sources import Place
from nat.data.splits import TRAIN, VALID
from nat.job import Job, run_job


def main(job: Job[CorpusStep]) -> None:
    """Collect references."""
    mirror, name, split = job.configuration.settings.mirror, job.artifact.corpus, job.artifact.split
    downloads = Path(RESULTS, DOWNLOADS)
    place = Place(name, Path(), None if mirror is None else Path(mirror), downloads)
    found = [TRAIN, VALID] if split == TRAIN else [split]
    splits = [each for each in found if has_references(job.corpus, each)]
    make_references(job.corpus, splits, Path(job.inputs.before[0].path), job.path, place)


if __name__ == "__main__":
    run_job(main)

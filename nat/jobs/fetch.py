"""Downloads of jobs: the places where they search, and published checkpoints."""

from pathlib import Path
from typing import Any

from nat.artifacts import PublishedCheckpoint
from nat.checksums import DOWNLOADS, RESULTS
from nat.data.sources import Place, download
from nat.files import link
from nat.job import Job


def place_of(job: Job[Any], name: str) -> Place:
    """The places that files of a corpus, or a checkpoint, are searched in."""
    mirror = job.configuration.settings.mirror
    folder = None if mirror is None else Path(mirror)
    return Place(name, Path(), folder, Path(RESULTS, DOWNLOADS))


def fetch_checkpoint(job: Job[PublishedCheckpoint]) -> None:
    """Download a published checkpoint, or take it from the mirror.

    The checksum that a system expects is compared when the checkpoint is imported.
    """
    place = place_of(job, job.path.name)
    url = f"https://{job.artifact.address}"
    link(download(url, None, place, "key 'imported.checkpoint'"), job.path)

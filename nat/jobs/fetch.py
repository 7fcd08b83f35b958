"""Downloads of models that others publish."""

from nat.artifacts import Checkpoint
from nat.data.corpus import Checksum
from nat.data.download import download
from nat.files import link
from nat.job import Job
from nat.jobs.prepare import place_of


def fetch_checkpoint(job: Job[Checkpoint]) -> None:
    """Download a published checkpoint, or take it from the mirror.

    The checksum that a system expects is compared when the checkpoint is imported.
    """
    place = place_of(job, job.path.name)
    url = f"https://{job.artifact.address}"
    link(download(url, Checksum(), place, "key 'imported.checkpoint'"), job.path)

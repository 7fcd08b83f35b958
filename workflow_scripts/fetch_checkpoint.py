"""Download a published checkpoint, or take it from the mirror."""

from nat.artifacts import PublishedCheckpoint
from nat.data.sources import Place, download
from nat.files import link
from nat.job import Job, run_job


def main(job: Job[PublishedCheckpoint]) -> None:
    """Download a published checkpoint, or take it from the mirror.

    The checksum that a system expects is compared when the checkpoint is imported.
    """
    place = Place(job.path.name, mirror=job.configuration.settings.mirror)
    url = f"https://{job.artifact.address}"
    link(download(url, None, place, "key 'imported.checkpoint'"), job.path)


if __name__ == "__main__":
    run_job(main)

"""Downloads of models that others publish, and the addresses of all downloads."""

from nat.artifacts import PublishedCheckpoint
from nat.configuration import Configuration
from nat.data.corpus import Checksum
from nat.data.download import download
from nat.data.sources import addresses_of_corpus
from nat.files import link
from nat.job import Job
from nat.jobs.prepare import place_of


def fetch_checkpoint(job: Job[PublishedCheckpoint]) -> None:
    """Download a published checkpoint, or take it from the mirror.

    The checksum that a system expects is compared when the checkpoint is imported.
    """
    place = place_of(job, job.path.name)
    url = f"https://{job.artifact.address}"
    link(download(url, Checksum(), place, "key 'imported.checkpoint'"), job.path)


def addresses(configuration: Configuration) -> dict[str, list[str]]:
    """Files and keys that name each address of a corpus or of a checkpoint."""
    keys: dict[str, list[str]] = {}
    for name in configuration.corpora:
        file = configuration.file_of("corpora", name)
        for key, url in addresses_of_corpus(configuration.corpus(name)).items():
            keys.setdefault(url, []).append(f"{file}: key '{key}'")
    for name, content in configuration.files["systems"].items():
        file = configuration.file_of("systems", name)
        for task, its in content.get("tasks", {}).items():
            url = its.get("imported", {}).get("checkpoint", "")
            if url.startswith("https://"):
                keys.setdefault(url, []).append(f"{file}: key 'tasks.{task}.imported.checkpoint'")
    return keys

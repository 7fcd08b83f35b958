"""Jobs that download: text, references, models that others publish, and all their addresses."""

from collections.abc import Iterator
from pathlib import Path

from nat.artifacts import CorpusStep, PublishedCheckpoint
from nat.configuration import Configuration
from nat.data.corpus_parts import addresses_of, has_references, text_part
from nat.data.sources import Place, download
from nat.data.splits import together_with
from nat.data.text import make_references as collect_references
from nat.data.text import make_text as write_text
from nat.files import link
from nat.job import Job


def make_text(job: Job[CorpusStep]) -> None:
    """Make the raw text of a corpus, or of one of its test sets."""
    part = text_part(job.corpus, job.artifact.split)
    place = Place(job.artifact.corpus, mirror=job.configuration.settings.mirror)
    write_text(part, job.path, place)


def make_references(job: Job[CorpusStep]) -> None:
    """Collect the further references of the splits that are prepared together."""
    text = Path(job.inputs.before[0].path)
    place = Place(job.artifact.corpus, mirror=job.configuration.settings.mirror)
    prepared = together_with(job.artifact.split)
    splits = [split for split in prepared if has_references(job.corpus, split)]
    collect_references(job.corpus, splits, text, job.path, place)


def fetch_checkpoint(job: Job[PublishedCheckpoint]) -> None:
    """Download a published checkpoint, or take it from the mirror.

    The checksum that a system expects is compared when the checkpoint is imported.
    """
    place = Place(job.path.name, mirror=job.configuration.settings.mirror)
    url = f"https://{job.artifact.address}"
    link(download(url, None, place, "key 'imported.checkpoint'"), job.path)


def addresses(configuration: Configuration) -> Iterator[tuple[str, str]]:
    """Each address of a corpus or of a checkpoint, and a file and key that name it."""
    for name in configuration.files["corpora"]:
        file = configuration.file_of("corpora", name)
        for key, url in addresses_of(configuration.corpus(name)).items():
            yield url, f"{file}: key '{key}'"
    for name, content in configuration.files["systems"].items():
        file = configuration.file_of("systems", name)
        for task, its in content.get("tasks", {}).items():
            url = its.get("imported", {}).get("checkpoint", "")
            if url.startswith("https://"):
                yield url, f"{file}: key 'tasks.{task}.imported.checkpoint'"

"""Jobs that download: text, references, models that others publish, and all their addresses."""

from pathlib import Path
from typing import Any

from nat.artifacts import CorpusStep, PublishedCheckpoint
from nat.checksums import DOWNLOADS, RESULTS
from nat.configuration import Configuration
from nat.data.corpus_parts import addresses_of, has_references, text_part
from nat.data.sources import Place, download
from nat.data.splits import TRAIN, VALID
from nat.data.text import make_references as collect_references
from nat.data.text import make_text as write_text
from nat.files import link
from nat.job import Job


def place_of(job: Job[Any], name: str) -> Place:
    """The places that files of a corpus, or a checkpoint, are searched in."""
    mirror = job.configuration.settings.mirror
    folder = None if mirror is None else Path(mirror)
    return Place(name, Path(), folder, Path(RESULTS, DOWNLOADS))


def make_text(job: Job[CorpusStep]) -> None:
    """Make the raw text of a corpus, or of one of its test sets."""
    part, place = text_part(job.corpus, job.artifact.split), place_of(job, job.artifact.corpus)
    write_text(part, job.path, place)


def make_references(job: Job[CorpusStep]) -> None:
    """Collect the further references of the splits that are prepared together."""
    split, text = job.artifact.split, Path(job.inputs.before[0].path)
    splits = [TRAIN, VALID] if split == TRAIN else [split]
    splits = [each for each in splits if has_references(job.corpus, each)]
    collect_references(job.corpus, splits, text, job.path, place_of(job, job.artifact.corpus))


def fetch_checkpoint(job: Job[PublishedCheckpoint]) -> None:
    """Download a published checkpoint, or take it from the mirror.

    The checksum that a system expects is compared when the checkpoint is imported.
    """
    place = place_of(job, job.path.name)
    url = f"https://{job.artifact.address}"
    link(download(url, None, place, "key 'imported.checkpoint'"), job.path)


def addresses(configuration: Configuration) -> dict[str, list[str]]:
    """Files and keys that name each address of a corpus or of a checkpoint."""
    keys: dict[str, list[str]] = {}
    for name in configuration.files["corpora"]:
        file = configuration.file_of("corpora", name)
        for key, url in addresses_of(configuration.corpus(name)).items():
            keys.setdefault(url, []).append(f"{file}: key '{key}'")
    for name, content in configuration.files["systems"].items():
        file = configuration.file_of("systems", name)
        for task, its in content.get("tasks", {}).items():
            url = its.get("imported", {}).get("checkpoint", "")
            if url.startswith("https://"):
                keys.setdefault(url, []).append(f"{file}: key 'tasks.{task}.imported.checkpoint'")
    return keys

"""Make the text folder of a corpus: download, copy local files, or generate."""

from pathlib import Path

from nat.artifacts import CorpusStep
from nat.checksums import DOWNLOADS, RESULTS
from nat.data.splits import TRAIN, text_part
from nat.data.text import make_text
from nat.job import Job, run_job


def main(job: Job[CorpusStep]) -> None:
    """Make the raw text of a corpus."""
    mirror, split = job.configuration.settings.mirror, job.artifact.split
    make_text(
        job.artifact.corpus,
        text_part(job.corpus, None if split == TRAIN else split),
        job.path,
        root=Path(),
        mirror=None if mirror is None else Path(mirror),
        downloads=Path(RESULTS, DOWNLOADS),
    )


if __name__ == "__main__":
    run_job(main)

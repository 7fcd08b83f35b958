"""Join the shards of a translated text into one file that is complete and in order."""

from pathlib import Path

from nat.artifacts import Translations
from nat.data.binarised import BinarisedText
from nat.data.translations import merge_shards
from nat.job import Job, run_job


def main(job: Job[Translations]) -> None:
    """Join the shards of a translated text."""
    source = Path(job.inputs.corpus.path) / f"{job.artifact.split}.{job.corpus.source}"
    shards = [Path(shard.path) for shard in job.inputs.shards]
    merge_shards(shards, len(BinarisedText(source)), job.path)


if __name__ == "__main__":
    run_job(main)

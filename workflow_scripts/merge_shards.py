"""Join the shards of a translated text into one file that is complete and in order."""

from pathlib import Path

from nat.artifacts import Translations, step_of
from nat.checksums import record_of
from nat.configuration import Configuration
from nat.data.binarised import BinarisedText
from nat.data.splits import sides
from nat.data.translations import merge_shards
from nat.workflow.program import makes


@makes(Translations)
def main(configuration: Configuration, translations: Translations) -> None:
    """Join the shards of a translated text into one file that is complete and in order."""
    source, _ = sides(configuration.corpus(translations.corpus))
    text = step_of(translations.corpus, translations.split, "binarised")
    sentences = len(BinarisedText(Path(text.path) / f"{translations.split}.{source}"))
    shards = [Path(shard.path) for shard in translations.shards(configuration)]
    merge_shards(shards, sentences, Path(translations.path))
    for shard in shards:  # Snakemake removes the shards themselves
        record_of(shard).unlink(missing_ok=True)


if __name__ == "__main__":
    main()

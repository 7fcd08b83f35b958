"""Joining what several jobs have made of the shards of a text."""

from collections.abc import Iterable
from pathlib import Path

from nat.artifacts import Comparison, Translations, step_of
from nat.checksums import record_of
from nat.configuration import Configuration
from nat.data.binarised import BinarisedText
from nat.data.splits import sides
from nat.data.translations import merge_shards


def merge_translations(configuration: Configuration, translations: Translations) -> None:
    """Join the shards of a translated text into one file that is complete and in order.

    Raises:
        UserError: if a sentence is missing, repeated or out of order; nothing is written.
    """
    source, _ = sides(configuration.corpus(translations.corpus))
    text = step_of(translations.corpus, translations.split, "binarised")
    sentences = len(BinarisedText(Path(text.path) / f"{translations.split}.{source}"))
    shards = [Path(shard.path) for shard in translations.shards(configuration)]
    merge_shards(shards, sentences, Path(translations.path))
    _remove_records(shards)


def merge_compared(configuration: Configuration, comparison: Comparison) -> None:
    """Join the comparisons of the shards of a training text.

    Raises:
        UserError: if a shard is missing or damaged; nothing is written.
    """
    # it imports sacrebleu, which translations are joined without
    from nat.distillation.pairwise_bleu import merge_comparisons

    shards = [Path(shard.path) for shard in comparison.inputs(configuration).shards]
    candidates, path = comparison.candidates.split("+"), Path(comparison.path)
    merge_comparisons(shards, candidates, path, path.with_name("pairwise_bleu.json"))
    _remove_records(shards)


def _remove_records(shards: Iterable[Path]) -> None:
    """Remove the checksums of shards; Snakemake removes the shards themselves."""
    for shard in shards:
        record_of(shard).unlink(missing_ok=True)

"""Compare versions of a shard of the training text, for dynamic distillation."""

from pathlib import Path

from nat.artifacts import ComparisonShard
from nat.configuration import Configuration
from nat.distillation.pairwise_bleu import compare_texts
from nat.workflow.program import makes


@makes(ComparisonShard)
def main(configuration: Configuration, shard: ComparisonShard) -> None:
    """Compare versions of a shard of the training text."""
    compare_texts(
        configuration.corpus(shard.corpus),
        [Path(text.path) for text in shard.inputs(configuration).texts],
        Path(shard.path),
        shard.shard,
        shard.shards,
    )


if __name__ == "__main__":
    main()

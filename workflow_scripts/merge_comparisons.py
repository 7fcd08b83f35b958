"""Join the comparisons of all shards of the training text."""

from pathlib import Path

from nat.artifacts import Comparison
from nat.checksums import record_of
from nat.configuration import Configuration
from nat.distillation.pairwise_bleu import merge_comparisons
from nat.workflow.program import makes


@makes(Comparison)
def main(configuration: Configuration, comparison: Comparison) -> None:
    """Join the comparisons of all shards of the training text."""
    shards = [Path(shard.path) for shard in comparison.inputs(configuration).shards]
    merge_comparisons(
        shards,
        comparison.candidates.split("+"),
        Path(comparison.path),
        Path(comparison.report),
    )
    for shard in shards:  # Snakemake removes the shards themselves
        record_of(shard).unlink(missing_ok=True)


if __name__ == "__main__":
    main()

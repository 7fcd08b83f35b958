"""Join the comparisons of all shards of the training text."""

from pathlib import Path

from nat.artifacts import Comparison
from nat.configuration import Configuration
from nat.distillation.pairwise_bleu import merge_comparisons
from nat.workflow.program import makes


@makes(Comparison)
def main(configuration: Configuration, comparison: Comparison) -> None:
    """Join the comparisons of all shards of the training text."""
    merge_comparisons(
        [Path(shard.path) for shard in comparison.inputs(configuration).shards],
        comparison.candidates.split("+"),
        Path(comparison.path),
        Path(comparison.report),
    )


if __name__ == "__main__":
    main()

"""Join the comparisons of all shards of the training text."""

from nat.artifacts import Comparison
from nat.configuration import Configuration
from nat.jobs.merge import merge_compared
from nat.workflow.program import makes


@makes(Comparison)
def main(configuration: Configuration, comparison: Comparison) -> None:
    """Join the comparisons of all shards of the training text."""
    merge_compared(configuration, comparison)


if __name__ == "__main__":
    main()

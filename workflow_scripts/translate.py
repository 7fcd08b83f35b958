"""Translate a shard of a text with a trained system."""

from nat.artifacts import Shard
from nat.configuration import Configuration
from nat.workflow.program import makes


@makes(Shard)
def main(configuration: Configuration, shard: Shard) -> None:
    """Translate a shard of a text with a trained system."""
    configuration.check_decoding(shard.system, shard.decoding)
    # torch takes a second to import, and a mistake in the arguments should be told before
    from nat.jobs.translate import translate_shard

    translate_shard(configuration, shard)


if __name__ == "__main__":
    main()

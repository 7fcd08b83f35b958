"""Translate a shard of a text with a trained system."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from nat.artifacts import Shard
from nat.configuration import Configuration
from nat.workflow.program import makes


@makes(Shard)
def main(configuration: Configuration, shard: Shard) -> None:
    """Translate a shard of a text with a trained system."""
    configuration.check_decoding(shard.system, shard.decoding)
    # torch takes a second to import, and a mistake in the arguments should be told before
    from nat.decoding.job import translate_shard

    translate_shard(configuration, shard)


if __name__ == "__main__":
    main()

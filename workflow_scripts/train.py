"""Train a system on a corpus, or resume an interrupted training."""

import sys

from nat.artifacts import Model
from nat.configuration import Configuration
from nat.configuration.checks import check_system
from nat.jobs.launch import launch
from nat.workflow.program import makes


@makes(Model)
def main(configuration: Configuration, model: Model) -> None:
    """Train a system on a corpus."""
    launch(configuration, sys.argv)
    # torch takes a second to import, and a mistake in the arguments should be told before
    from nat.jobs.train import train_system

    check_system(configuration, model.system)
    train_system(configuration, model)


if __name__ == "__main__":
    main()

"""Convert the model of a system for another engine."""

from nat.artifacts import Converted
from nat.configuration import Configuration
from nat.workflow.program import makes


@makes(Converted)
def main(configuration: Configuration, converted: Converted) -> None:
    """Convert the model of a system for another engine."""
    # torch takes a second to import, and a mistake in the arguments should be told before
    from nat.jobs.convert import convert_model

    convert_model(configuration, converted)


if __name__ == "__main__":
    main()

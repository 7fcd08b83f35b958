"""Take a published checkpoint over as the model of a system."""

from nat.artifacts import Model
from nat.configuration import Configuration
from nat.workflow.program import makes


@makes(Model)
def main(configuration: Configuration, model: Model) -> None:
    """Take a published checkpoint over as the model of a system."""
    # torch takes a second to import, and a mistake in the arguments should be told before
    from nat.jobs.import_checkpoint import import_checkpoint

    import_checkpoint(configuration, model)


if __name__ == "__main__":
    main()

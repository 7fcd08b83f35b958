"""Choose options of a decoding on the validation set."""

from nat.artifacts import TunedOptions
from nat.configuration import Configuration
from nat.workflow.program import makes


@makes(TunedOptions)
def main(configuration: Configuration, tuned: TunedOptions) -> None:
    """Choose options of a decoding on the validation set."""
    configuration.check_decoding(tuned.system, tuned.decoding)
    # torch takes a second to import, and a mistake in the arguments should be told before
    from nat.jobs.tune_decoding import tune_decoding

    tune_decoding(configuration, tuned)


if __name__ == "__main__":
    main()

"""Choose the weights of a beam search on the validation set."""

from nat.artifacts import TunedWeights
from nat.configuration import Configuration
from nat.workflow.program import makes


@makes(TunedWeights)
def main(configuration: Configuration, weights: TunedWeights) -> None:
    """Choose the weights of a beam search on the validation set."""
    configuration.check_decoding(weights.system, weights.decoding)
    # torch takes a second to import, and a mistake in the arguments should be told before
    from nat.jobs.tune_decoding import tune_decoding

    tune_decoding(configuration, weights)


if __name__ == "__main__":
    main()

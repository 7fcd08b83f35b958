"""Tune the weights of dynamic distillation on a split with several references."""

from nat.artifacts import TunedGamma
from nat.configuration import Configuration
from nat.jobs.tune_gamma import tune_gamma
from nat.workflow.program import makes


@makes(TunedGamma)
def main(configuration: Configuration, gamma: TunedGamma) -> None:
    """Tune the weights of dynamic distillation."""
    tune_gamma(configuration, gamma)


if __name__ == "__main__":
    main()

"""Estimate the conditional total correlation of a text from the likelihoods of two models."""

from pathlib import Path

from nat.artifacts import TotalCorrelation
from nat.configuration import Configuration
from nat.files import read_json, write_json
from nat.measures import total_correlation
from nat.workflow.program import makes


@makes(TotalCorrelation)
def main(configuration: Configuration, wanted: TotalCorrelation) -> None:
    """Estimate the conditional total correlation of a text from the likelihoods of two models."""
    inputs = wanted.inputs(configuration)
    parallel, autoregressive, summary = (
        read_json(Path(each.path))
        for each in (inputs.parallel, inputs.autoregressive, inputs.summary)
    )
    estimate = total_correlation.estimate(parallel, autoregressive)
    found = total_correlation.with_exact(estimate, summary)
    write_json(Path(wanted.path), total_correlation.with_measures(found))


if __name__ == "__main__":
    main()

"""Measure a trained model without translating: one analysis, as one JSON file."""

from nat.artifacts import Analysis
from nat.configuration import Configuration
from nat.jobs.analyse import analyse_model
from nat.workflow.program import makes


@makes(Analysis)
def main(configuration: Configuration, analysis: Analysis) -> None:
    """Measure a trained model without translating."""
    analyse_model(configuration, analysis)


if __name__ == "__main__":
    main()

"""Make distilled training text of a teacher's translations."""

from pathlib import Path

from nat.artifacts import Distilled
from nat.configuration import Configuration
from nat.data.distilled import distil
from nat.workflow.program import makes


@makes(Distilled)
def main(configuration: Configuration, distilled: Distilled) -> None:
    """Make distilled training text of a teacher's translations."""
    inputs = distilled.inputs(configuration)
    distil(
        configuration.corpus(distilled.corpus),
        Path(inputs.corpus.path),
        Path(inputs.translations.path),
        Path(distilled.text.path),
        Path(distilled.path),
        Path(distilled.report),
    )


if __name__ == "__main__":
    main()

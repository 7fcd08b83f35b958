"""Make distilled training text of a teacher's translations."""

from nat.artifacts import Distilled
from nat.configuration import Configuration
from nat.jobs.distil import distil_text
from nat.workflow.program import makes


@makes(Distilled)
def main(configuration: Configuration, distilled: Distilled) -> None:
    """Make distilled training text of a teacher's translations."""
    distil_text(configuration, distilled)


if __name__ == "__main__":
    main()

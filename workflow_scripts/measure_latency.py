"""Measure how long a system takes to translate the test set with a decoding, on one device."""

from nat.artifacts import Latency
from nat.configuration import Configuration
from nat.workflow.program import makes


@makes(Latency)
def main(configuration: Configuration, latency: Latency) -> None:
    """Measure how long a system takes to translate the test set with a decoding."""
    # torch takes a second to import, and a mistake in the arguments should be told before
    from nat.jobs.measure_latency import measure_latency

    measure_latency(configuration, latency)


if __name__ == "__main__":
    main()

"""Measure how long the systems of a table or figure take to translate the test set of a corpus.

They are measured by turns, on one device and with batches of one size.
"""

from nat.configuration import Configuration
from nat.papers.relation import latency as latency_of
from nat.workflow.program import program


@program
def main(configuration: Configuration, corpus: str, group: str, seed: int, setting: str) -> None:
    """Measure how long the systems of a table or figure take to translate the test set."""
    latency = latency_of(configuration, corpus, group, seed, setting)
    # torch takes a second to import, and a mistake in the arguments should be told before
    from nat.jobs.measure_latency import measure_latency

    measure_latency(configuration.on(corpus), latency)


if __name__ == "__main__":
    main()

"""Write what each pass of a decoding does to the first sentences of a split."""

from nat.artifacts import Trace
from nat.configuration import Configuration
from nat.workflow.program import makes


@makes(Trace)
def main(configuration: Configuration, trace: Trace) -> None:
    """Write what each pass of a decoding does to the first sentences of a split."""
    # torch takes a second to import, and a mistake in the arguments should be told before
    from nat.jobs.trace import trace_decoding

    trace_decoding(configuration, trace)


if __name__ == "__main__":
    main()

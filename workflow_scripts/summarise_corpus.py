"""Summarise a prepared corpus: pairs, tokens, lengths, what was dropped, exact entropies."""

from pathlib import Path

from nat.configuration import Configuration
from nat.data.summary import summarise
from nat.files import write_json
from nat.workflow.program import program


@program
def main(configuration: Configuration, corpus: str, output: Path) -> None:
    """Summarise a corpus; `output` lies in its folder."""
    write_json(output, summarise(corpus, configuration.corpus(corpus), output.parent))


if __name__ == "__main__":
    main()

"""Collect the further references that a corpus file lists for some of its splits."""

from pathlib import Path

from nat.checksums import DOWNLOADS, RESULTS
from nat.configuration import Configuration
from nat.data.references import make_references
from nat.data.sources import Place
from nat.workflow.program import program


@program
def main(
    configuration: Configuration, corpus: str, splits: list[str], text: Path, output: Path
) -> None:
    """Collect references."""
    place = Place(corpus, Path(), configuration.mirror, Path(RESULTS, DOWNLOADS))
    make_references(configuration.corpus(corpus), splits, text, output, place)


if __name__ == "__main__":
    main()

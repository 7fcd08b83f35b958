"""Make the text folder of a corpus: download, copy local files, or generate."""

from pathlib import Path

from nat.checksums import DOWNLOADS, RESULTS
from nat.configuration import Configuration
from nat.data.splits import text_part
from nat.data.text import make_text
from nat.workflow.program import program


@program
def main(configuration: Configuration, corpus: str, output: Path, test: str | None = None) -> None:
    """Make the raw text of a corpus."""
    make_text(
        corpus,
        text_part(configuration.corpus(corpus), test),
        output,
        root=Path(),
        mirror=configuration.mirror,
        downloads=Path(RESULTS, DOWNLOADS),
    )


if __name__ == "__main__":
    main()

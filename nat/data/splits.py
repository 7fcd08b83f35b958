"""Splits of a corpus: their names and folders.

The text that trainings read, `train` and `valid`, lies at `results/corpora/{corpus}/train`. Every
test set has a folder of its own, `{split}`, with the same steps, so that one more test set does
not change any file that a training reads.
"""

from pathlib import Path

TRAIN, VALID = "train", "valid"

MONOLINGUAL = "monolingual"
"""The sentences of a corpus without translations."""

CORPORA = Path("results/corpora")  # folder of all corpora

GIVEN = "given"
"""Folder in the text of a corpus with what it has from elsewhere besides text: subwords, and
`{teacher}.{target}`, a published translation of the training text."""

PERFECT = "perfect.json"
"""The file in the folder `tokens` of a test set with the score of a perfect translation."""


def together_with(split: str) -> tuple[str, ...]:
    """The splits that are prepared at once: what trainings read, or a test set alone."""
    return (TRAIN, VALID) if split in (TRAIN, VALID) else (split,)


def folder_of(corpus: str, split: str, corpora: Path = CORPORA) -> Path:
    """The folder with the steps of a split of a corpus."""
    return corpora / corpus / together_with(split)[0]

"""Files of several references of the sentences of a split: one JSON object per sentence.

{"id": 17, "references": ["...", "..."], "weights": [0.65, 0.35]}

`id` counts the sentences of the split from 0. `weights` sum to 1 and are there only where the
probabilities of the references are known, as in generated corpora, whose references are all
noise-free targets.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from nat.checksums import reading
from nat.data.lines import read_lines
from nat.files import atomic_write_text


def references_path(folder: Path, split: str, target: str) -> Path:
    """The file of references of a split in the folder `references`."""
    return folder / f"{split}.{target}.jsonl"


def write_references(
    path: Path, references: Mapping[int, Sequence[str] | Mapping[str, float]]
) -> None:
    """Write the references of sentences by their number; those of a mapping have weights."""
    rows = (
        {"id": number, "references": list(several)}
        | ({"weights": list(several.values())} if isinstance(several, Mapping) else {})
        for number, several in references.items()
    )
    atomic_write_text(path, "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))


def read_references(path: Path, sentences: int) -> dict[int, tuple[list[str], list[float]]]:
    """Several references for some or all sentences, by number, and their weights; 1 without.

    Raises a `UserError` if a line does not hold the references of a sentence, or there is none.
    """
    references: dict[int, tuple[list[str], list[float]]] = {}
    lines = [*read_lines(path)] or [""]
    with reading(path):
        for number, line in enumerate(lines, start=1):
            row = json.loads(line)
            sentence, texts = row["id"], row["references"]
            weights = [float(weight) for weight in row.get("weights", [1.0] * len(texts))]
            is_one = sentence in range(sentences) and sentence not in references
            if not (is_one and 0 < len(texts) == len(weights) and min(weights) > 0):
                raise ValueError(f"line {number} is of none of the {sentences} sentences")
            references[sentence] = texts, weights
    return references

"""The `clean` folder of a corpus: punctuation and case as configured, bad training pairs dropped.

Only training pairs are dropped. Every line of the other splits is kept, empty or not, so that they
stay aligned with their published references; what would have been dropped is counted.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from sacremoses import MosesPunctNormalizer

from nat.data.text import (
    TRAIN,
    check_count,
    read_pairs,
    sides,
    split_names,
)
from nat.errors import UserError
from nat.files import atomic_directory, write_json

# Characters that are no whitespace and stand for nothing: 0 to 8, 14 to 31, and delete.
_CONTROL = dict.fromkeys([*range(9), *range(14, 32), 127])

REASONS = ("empty", "too_long", "ratio")


def fault(source: str, target: str, max_tokens: int, max_ratio: float) -> str | None:
    """Say why a pair is of no use for training, one of `REASONS`, or None if it is of use.

    Args:
        source: source sentence.
        target: target sentence.
        max_tokens: largest number of whitespace-separated tokens on either side.
        max_ratio: largest number of tokens of one side per token of the other.
    """
    lengths = len(source.split()), len(target.split())
    if min(lengths) == 0:
        return "empty"
    if max(lengths) > max_tokens:
        return "too_long"
    if max(lengths) > max_ratio * min(lengths):
        return "ratio"
    return None


def normaliser(
    language: str, *, lowercase: bool, normalise_punctuation: bool
) -> Callable[[str], str]:
    """A function that brings one line of `language` into the form in which it is learned.

    Whitespace of any kind becomes single spaces, and control characters go, since a tokeniser
    would drop them later and could leave a line empty. Punctuation is normalised as by the Moses
    script.
    """
    punctuation = MosesPunctNormalizer(language) if normalise_punctuation else None

    def normalise(line: str) -> str:
        if punctuation is not None:
            line = punctuation.normalize(line)
        line = " ".join(line.translate(_CONTROL).split())
        return line.lower() if lowercase else line

    return normalise


def clean_folder(corpus: Mapping[str, Any], text: Path, output: Path) -> None:
    """Write `{split}.{lang}` and `clean.json` to the folder `output`.

    `clean.json` holds per split the pairs `read`, `kept`, `dropped` by reason (training only) and
    `faulty` by reason but kept (other splits only).

    Raises:
        UserError: if the sides of a split differ in length, or no training pair is left.
    """
    options = corpus["preprocessing"]
    with atomic_directory(output) as folder:
        splits = {split: _clean_split(corpus, split, text, folder) for split in split_names(corpus)}
        if splits[TRAIN]["kept"] == 0:
            raise UserError(
                f"none of the {splits[TRAIN]['read']} training pairs of {text} is kept "
                f"(preprocessing.max_tokens is {options['max_tokens']}, "
                f"preprocessing.max_ratio is {options['max_ratio']}); widen these limits"
            )
        write_json(folder / "clean.json", {"splits": splits})


def _clean_split(corpus: Mapping[str, Any], split: str, text: Path, folder: Path) -> dict[str, Any]:
    options = corpus["preprocessing"]
    normalisers = [
        normaliser(
            language,
            lowercase=options["lowercase"],
            normalise_punctuation=options["normalise_punctuation"],
        )
        for language in sides(corpus)
    ]
    read = kept = 0
    faults: Counter[str] = Counter(dict.fromkeys(REASONS, 0))

    def useful() -> Iterator[tuple[str, str]]:
        nonlocal read, kept
        for pair in read_pairs(text, split, *sides(corpus)):
            read += 1
            source, target = (change(line) for change, line in zip(normalisers, pair, strict=True))
            reason = fault(source, target, options["max_tokens"], options["max_ratio"])
            if reason is not None:
                faults[reason] += 1
                if split == TRAIN:
                    continue
            kept += 1
            yield source, target

    paths = [folder / f"{split}.{language}" for language in sides(corpus)]
    with (
        paths[0].open("w", encoding="utf-8", newline="\n") as sources,
        paths[1].open("w", encoding="utf-8", newline="\n") as targets,
    ):
        for source, target in useful():
            sources.write(source + "\n")
            targets.write(target + "\n")
    for path in paths:
        check_count(path, kept)
    return {"read": read, "kept": kept, "dropped" if split == TRAIN else "faulty": dict(faults)}

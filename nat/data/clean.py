"""The folders `clean` and `tokens` of a corpus: bad training pairs are dropped, text is tokenised.

Only training pairs are dropped. Every line of the other splits is kept, empty or not, so that they
stay aligned with their published references; what would have been dropped is counted.
"""

import hashlib
from array import array
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Literal

from nat.data.corpus import Corpus, Preprocessing
from nat.data.lines import in_order, read_pairs, writing_pairs
from nat.data.splits import TRAIN, check_expected, is_segmented, sides, split_names
from nat.data.tokenise import normaliser, tokenise
from nat.files import atomic_directory, write_json

REASONS = ("empty", "too_long", "ratio")


def fault(source: str, target: str, options: Preprocessing, step: str) -> str | None:
    """Why a pair cannot be used for training, one of `REASONS`; None if it can.

    Lengths in tokens are only known in the step `tokens`, others are judged in the step `clean`.
    """
    if not (source.strip() and target.strip()):
        return "empty"
    if (options.measure == "tokens") != (step == "tokens"):
        return None
    both = [len(x if options.measure == "characters" else x.split()) for x in (source, target)]
    if max(both) > options.max_tokens:
        return "too_long"
    return "ratio" if max(both) > options.max_ratio * min(both) else None


def normalised(
    pairs: list[tuple[str, str]], languages: tuple[str, str], options: Preprocessing
) -> list[tuple[str, str, str | None]]:
    """Pairs with normalised punctuation, and the fault of each."""
    one, other = (
        normaliser(name, normalise_punctuation=options.normalise_punctuation) for name in languages
    )
    both = ((one(source), other(target)) for source, target in pairs)
    return [(*pair, fault(*pair, options, "clean")) for pair in both]


def tokenised(
    pairs: list[tuple[str, str]], languages: tuple[str, str], options: Preprocessing
) -> list[tuple[str, str, str | None]]:
    """Tokens of pairs, and the fault of each."""
    rows: list[tuple[str, str, str | None]] = []
    for pair in pairs:
        source, target = (
            tokenise(line, language, options.tokeniser)
            for line, language in zip(pair, languages, strict=True)
        )
        if options.lowercase:
            source, target = source.lower(), target.lower()
        rows.append((source, target, fault(source, target, options, "tokens")))
    return rows


def usefulness(corpus: Corpus) -> Callable[[str, str], bool]:
    """Return a function that is True for a raw pair that both steps keep, duplicates aside."""
    options, languages = corpus.preparation(is_segmented(corpus, TRAIN)), sides(corpus)

    def useful(source: str, target: str) -> bool:
        [(source, target, reason)] = normalised([(source, target)], languages, options)
        if reason is None and options.measure == "tokens":
            [(_, _, reason)] = tokenised([(source, target)], languages, options)
        return reason is None

    return useful


class Seen:
    """The pairs seen so far, stored as a hash of 64 bits each.

    Twenty million pairs take half a gigabyte; the probability that any two different ones have the
    same hash is one in a hundred thousand.
    """

    def __init__(self) -> None:
        self._table = array("Q", bytes(8 << 10))
        self._count = 0

    def add(self, pair: tuple[str, str]) -> bool:
        """Add a pair; True if it was there."""
        digest = hashlib.blake2b("\n".join(pair).encode(), digest_size=8).digest()
        if not self._insert(int.from_bytes(digest) or 1):
            return True
        self._count += 1
        if 3 * self._count > 2 * len(self._table):
            old, self._table = self._table, array("Q", bytes(16 * len(self._table)))
            for number in filter(None, old):
                self._insert(number)
        return False

    def _insert(self, number: int) -> bool:
        table, last = self._table, len(self._table) - 1
        place = number & last
        while table[place]:
            if table[place] == number:
                return False
            place = (place + 1) & last
        table[place] = number
        return True


def clean_folder(corpus: Corpus, text: Path, output: Path, threads: int = 1) -> None:
    """Write `{split}.{lang}` and `clean.json` to the folder `output`.

    `clean.json` holds per split the pairs `read`, `kept`, `dropped` by reason (training only) and
    `faulty` by reason but kept (other splits only).

    Args:
        corpus: the corpus.
        text: folder of the raw text.
        output: folder to make; it appears whole or not at all.
        threads: processes to share the work.

    Raises:
        UserError: if the sides of a split differ in length, no training pair is left, or their
            number is not the expected one.
    """
    _write_step("clean", corpus, text, output, threads)


def tokenise_folder(corpus: Corpus, clean: Path, output: Path, threads: int = 1) -> None:
    """Write the tokens of all splits, `{split}.{lang}`, and `tokens.json` to the folder `output`.

    If `preprocessing.measure` is `tokens`, training pairs with unsuitable lengths are dropped here,
    and `tokens.json` counts them. Arguments and errors are those of `clean_folder`.
    """
    _write_step("tokens", corpus, clean, output, threads)


def _write_step(
    step: Literal["clean", "tokens"], corpus: Corpus, origin: Path, output: Path, threads: int
) -> None:
    is_first = step == "clean"
    splits: dict[str, Any] = {}
    with atomic_directory(output) as folder:
        for split in split_names(corpus):
            options = corpus.preparation(is_segmented(corpus, split))
            drops = split == TRAIN and (is_first or options.measure == "tokens")
            seen = Seen() if is_first and drops and options.drop_duplicates else None
            faults = dict.fromkeys(REASONS if seen is None else (*REASONS, "duplicate"), 0)
            read = kept = 0
            pairs = read_pairs(origin, split, sides(corpus))
            work = normalised if is_first else tokenised
            worker = partial(work, languages=sides(corpus), options=options)
            with writing_pairs(folder, split, sides(corpus)) as write:
                for source, target, reason in in_order(worker, pairs, threads):
                    read += 1
                    if reason is None and seen is not None and seen.add((source, target)):
                        reason = "duplicate"
                    if reason is not None:
                        faults[reason] += 1
                    if reason is None or not drops:
                        kept += 1
                        write(source, target)
            splits[split] = {"read": read, "kept": kept}
            if drops or not is_first:
                splits[split]["dropped"] = faults if drops else {}
            else:
                splits[split]["faulty"] = faults
        check_expected(corpus, step, {name: each["kept"] for name, each in splits.items()}, output)
        write_json(folder / f"{step}.json", {"splits": splits})

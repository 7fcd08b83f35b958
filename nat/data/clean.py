"""The folders `clean` and `tokens` of a corpus: bad training pairs are dropped, text is tokenised.

Only training pairs are dropped. Every line of the other splits is kept, empty or not, so that they
stay aligned with their published references; what would have been dropped is counted.
"""

import hashlib
from collections import defaultdict
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Literal

from nat.data.corpus import Corpus, Preprocessing, check_expected
from nat.data.flags import TextFlags
from nat.data.lines import in_order, read_pairs, writing_pairs
from nat.data.raw_text import Preparation, is_blank
from nat.data.splits import TRAIN
from nat.files import atomic_directory, write_json

Filter = Literal["clean", "tokens"]  # the steps that drop pairs

KINDS = {
    "empty": "pairs without text on a side",
    "too_long": "pairs longer than 'max_tokens'",
    "ratio": "pairs whose lengths differ by more than 'max_ratio'",
    "duplicate": "repeated pairs",
}
"""The reasons why a pair cannot be used for training, as flags of a text."""

INVISIBLE = "pairs with a side of characters that cannot be seen"

DIGEST = 9
"""Bytes of the hash of a pair: of twenty million pairs, two are taken for the same once in a
million texts."""


def digest_of(source: str, target: str, lowercase: bool = False) -> bytes:
    """The hash of a pair, which may be told from others by its lower-case form."""
    pair = f"{source}\n{target}"
    pair = pair.lower() if lowercase else pair
    return hashlib.blake2b(pair.encode(), digest_size=DIGEST).digest()


class Seen:
    """Hashes of the pairs seen so far; a set of Python would take ten times as much memory.

    Those that begin alike follow each other in one array.
    """

    def __init__(self) -> None:
        self._hashes: defaultdict[bytes, bytearray] = defaultdict(bytearray)

    def add(self, digest: bytes) -> bool:
        """Add a pair; True if it was there."""
        was_there = digest in self
        if not was_there:
            self._hashes[digest[:2]] += digest[2:]
        return was_there

    def __contains__(self, digest: bytes) -> bool:
        return digest[2:] in self._hashes.get(digest[:2], b"")


def fault(source: str, target: str, options: Preprocessing, step: Filter) -> str | None:
    """The reason why a pair cannot be used for training, one of `KINDS`; None if it can.

    Lengths in tokens are only known in the step `tokens`.
    """
    if is_blank(source) or is_blank(target):
        return "empty"
    if (options.measure == "tokens") != (step == "tokens"):
        return None
    both = [len(x if options.measure == "characters" else x.split()) for x in (source, target)]
    if max(both) > options.max_tokens:
        return "too_long"
    return "ratio" if max(both) > options.max_ratio * min(both) else None


def prepared(
    pairs: list[tuple[str, str]],
    how: tuple[Preparation, Preparation],
    options: Preprocessing,
    step: Filter,
) -> list[tuple[str, str, str | None]]:
    """Pairs as a step writes them, and the fault of each."""
    one, other = (each.normalised if step == "clean" else each.tokens for each in how)
    both = ((one(source), other(target)) for source, target in pairs)
    return [(*pair, fault(*pair, options, step)) for pair in both]


def usable_digest(corpus: Corpus) -> Callable[[str, str], bytes | None]:
    """Return a function that tells if both steps keep a raw pair, duplicates aside.

    If so, it is what tells the clean pair from others; otherwise None.
    """
    options, how = corpus.preprocessing, corpus.preparations(TRAIN)

    def digest(source: str, target: str) -> bytes | None:
        [(source, target, reason)] = prepared([(source, target)], how, options, "clean")
        own = digest_of(source, target, how[0].lowercase)
        if reason is None and options.measure == "tokens":
            [(_, _, reason)] = prepared([(source, target)], how, options, "tokens")
        return own if reason is None else None

    return digest


def filter_folder(
    step: Filter, corpus: Corpus, origin: Path, output: Path, threads: int = 1
) -> None:
    """Write `{split}.{lang}` and `{step}.json`, which counts pairs, to the folder `output`.

    If `preprocessing.measure` is `tokens`, the second step drops training pairs with unsuitable
    lengths. Raises a `UserError` if the sides of a split differ in length, no training pair is
    left, or their number is not the expected one.
    """
    options, is_first = corpus.preprocessing, step == "clean"
    splits: dict[str, Any] = {}
    flags = TextFlags()
    with atomic_directory(output) as folder:
        for split in corpus.split_names:
            drops = split == TRAIN and (is_first or options.measure == "tokens")
            seen = Seen() if is_first and drops and options.drop_duplicates else None
            faults = {reason: 0 for reason in KINDS if reason != "duplicate" or seen is not None}
            read = kept = 0
            remedy = "they are left out" if drops else "they stay here, but no training learns such"
            pairs = read_pairs(origin, split, corpus.sides)
            how = corpus.preparations(split)
            work = partial(prepared, how=how, options=options, step=step)
            with writing_pairs(folder, split, corpus.sides) as write:
                for source, target, reason in in_order(work, pairs, threads):
                    read += 1
                    if reason is None and seen is not None and seen.add(digest_of(source, target)):
                        reason = "duplicate"
                    if reason is not None:
                        faults[reason] += 1
                        hidden = reason == "empty" and source.strip() and target.strip()
                        kind = INVISIBLE if hidden else KINDS[reason]
                        if is_first or drops:
                            where = f"line {read} of {origin}"
                            flags.add(kind, split, remedy, where, source, target)
                    if reason is None or not drops:
                        kept += 1
                        write(source, target)
            key = "faulty" if is_first and not drops else "dropped"
            splits[split] = {"read": read, "kept": kept, key: faults if is_first or drops else {}}
        check_expected(corpus, step, {name: each["kept"] for name, each in splits.items()}, output)
        write_json(folder / f"{step}.json", {"splits": splits, **flags.as_written})

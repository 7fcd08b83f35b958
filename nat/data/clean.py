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

from nat.data.corpus import Corpus, Preprocessing
from nat.data.lines import in_order, read_pairs, writing_pairs
from nat.data.splits import TRAIN, check_expected, is_segmented, sides, split_names
from nat.data.tokenise import normaliser, token_maker
from nat.files import atomic_directory, write_json

REASONS = ("empty", "too_long", "ratio")

Filter = Literal["clean", "tokens"]  # the steps that drop pairs


class Seen:
    """The pairs seen so far, as hashes of nine bytes: a set of Python would take ten times as much.

    Those that begin alike follow each other in one array. Of twenty million pairs, two are taken
    for the same once in a million texts.
    """

    def __init__(self) -> None:
        self._hashes: defaultdict[bytes, bytearray] = defaultdict(bytearray)

    def add(self, pair: str) -> bool:
        """Add a pair; True if it was there."""
        digest = hashlib.blake2b(pair.encode(), digest_size=9).digest()
        alike, rest = self._hashes[digest[:2]], digest[2:]
        was_there = rest in alike
        if not was_there:
            alike += rest
        return was_there


def fault(source: str, target: str, options: Preprocessing, step: Filter) -> str | None:
    """The reason why a pair cannot be used for training, one of `REASONS`; None if it can.

    Lengths in tokens are only known in the step `tokens`.
    """
    if not (source.strip() and target.strip()):
        return "empty"
    if (options.measure == "tokens") != (step == "tokens"):
        return None
    both = [len(x if options.measure == "characters" else x.split()) for x in (source, target)]
    if max(both) > options.max_tokens:
        return "too_long"
    return "ratio" if max(both) > options.max_ratio * min(both) else None


def prepared(
    pairs: list[tuple[str, str]], languages: tuple[str, str], options: Preprocessing, step: Filter
) -> list[tuple[str, str, str | None]]:
    """Pairs as a step writes them, and the fault of each."""
    maker = normaliser if step == "clean" else token_maker
    one, other = (maker(language, options) for language in languages)
    both = ((one(source), other(target)) for source, target in pairs)
    return [(*pair, fault(*pair, options, step)) for pair in both]


def usefulness(corpus: Corpus) -> Callable[[str, str], bool]:
    """Return a function that is True for a raw pair that both steps keep, duplicates aside."""
    options, languages = corpus.preparation(is_segmented(corpus, TRAIN)), sides(corpus)
    steps: tuple[Filter, ...] = ("clean", "tokens") if options.measure == "tokens" else ("clean",)

    def useful(source: str, target: str) -> bool:
        for step in steps:
            [(source, target, reason)] = prepared([(source, target)], languages, options, step)
            if reason is not None:
                return False
        return True

    return useful


def filter_folder(
    step: Filter, corpus: Corpus, origin: Path, output: Path, threads: int = 1
) -> None:
    """Write `{split}.{lang}` and `{step}.json`, which counts pairs, to the folder `output`.

    If `preprocessing.measure` is `tokens`, the second step drops training pairs with unsuitable
    lengths. Raises a `UserError` if the sides of a split differ in length, no training pair is
    left, or their number is not the expected one.
    """
    is_first = step == "clean"
    splits: dict[str, Any] = {}
    with atomic_directory(output) as folder:
        for split in split_names(corpus):
            options = corpus.preparation(is_segmented(corpus, split))
            drops = split == TRAIN and (is_first or options.measure == "tokens")
            looks_for_duplicates = is_first and drops and options.drop_duplicates
            seen = Seen()
            faults = dict.fromkeys((*REASONS, *["duplicate"] * looks_for_duplicates), 0)
            read = kept = 0
            pairs = read_pairs(origin, split, sides(corpus))
            work = partial(prepared, languages=sides(corpus), options=options, step=step)
            with writing_pairs(folder, split, sides(corpus)) as write:
                for source, target, reason in in_order(work, pairs, threads):
                    read += 1
                    if reason is None and looks_for_duplicates and seen.add(f"{source}\n{target}"):
                        reason = "duplicate"
                    if reason is not None:
                        faults[reason] += 1
                    if reason is None or not drops:
                        kept += 1
                        write(source, target)
            told = (
                {"dropped": faults if drops else {}}
                if drops or not is_first
                else {"faulty": faults}
            )
            splits[split] = {"read": read, "kept": kept, **told}
        check_expected(corpus, step, {name: each["kept"] for name, each in splits.items()}, output)
        write_json(folder / f"{step}.json", {"splits": splits})

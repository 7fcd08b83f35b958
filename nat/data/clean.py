"""The `clean` folder of a corpus: punctuation as configured, bad training pairs dropped.

Only training pairs are dropped. Every line of the other splits is kept, empty or not, so that they
stay aligned with their published references; what would have been dropped is counted.
"""

import hashlib
import re
from array import array
from collections import Counter
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

from nat.data.corpus import Corpus, Preprocessing
from nat.data.expected import check_expected
from nat.data.lines import read_pairs, writing_pairs
from nat.data.parallel import in_order
from nat.data.splits import TRAIN, is_segmented, sides, split_names
from nat.files import atomic_directory, write_json

# Control characters other than whitespace: 0 to 8, 14 to 31, and delete; and the two
# marks of SentencePiece subwords, which must not occur in a text (see nat.data.bpe).
_REPLACED = dict.fromkeys([*range(9), *range(14, 32), 127]) | {0x2581: "_", 0xFFED: "_"}

# The first characters that rules of the punctuation normaliser can match. A line without them does
# not change, so most lines need none of its fifty regular expressions.
_PUNCTUATION = re.compile("[\r()`\"„“”–—´‘’‚…«»\u00a0]|''|  | [:;%]")

REASONS = ("empty", "too_long", "ratio")


def lengths(source: str, target: str, measure: str) -> tuple[int, int]:
    """Lengths of a pair in `characters`, `words` between spaces, or `tokens` if it is tokenised."""
    if measure == "characters":
        return len(source), len(target)
    return len(source.split()), len(target.split())


def fault(
    source: str, target: str, max_tokens: int, max_ratio: float, measure: str = "words"
) -> str | None:
    """Say why a pair cannot be used for training, one of `REASONS`, or None if it can.

    Args:
        source: source sentence.
        target: target sentence.
        max_tokens: largest length of either side.
        max_ratio: largest length of one side per length of the other.
        measure: unit of length.
    """
    both = lengths(source, target, measure)
    if min(both) == 0:
        return "empty"
    if max(both) > max_tokens:
        return "too_long"
    if max(both) > max_ratio * min(both):
        return "ratio"
    return None


def fault_in(options: Preprocessing, step: str) -> Callable[[str, str], str | None]:
    """`fault` as a corpus configures it, for one of the steps `clean` and `tokens`.

    Lengths in tokens are only known after tokenisation; before it, the only fault is an empty side.
    """
    measure = options.measure
    if (measure == "tokens") == (step == "tokens"):
        return lambda source, target: fault(
            source, target, options.max_tokens, options.max_ratio, measure
        )
    return lambda source, target: "empty" if not (source.strip() and target.strip()) else None


@cache
def moses(tool: str, language: str) -> Any:
    """A tool of sacremoses for a language, such as `MosesTokenizer`."""
    import sacremoses  # takes as long as the rest of the program

    return getattr(sacremoses, tool)(language)


@cache
def normaliser(language: str, *, normalise_punctuation: bool) -> Callable[[str], str]:
    """A function that normalises one line of `language`.

    Whitespace of any kind becomes single spaces, and control characters are removed, since a
    tokeniser would drop them later and could leave a line empty. Punctuation is normalised as in
    the Moses script.
    """
    punctuation = moses("MosesPunctNormalizer", language) if normalise_punctuation else None

    def normalise(line: str) -> str:
        if punctuation is not None and _PUNCTUATION.search(line):
            line = punctuation.normalize(line)
        return " ".join(line.translate(_REPLACED).split())

    return normalise


class Seen:
    """The pairs seen so far, stored as a hash of 64 bits each.

    Twenty million pairs take half a gigabyte; the probability that any two different ones have the
    same hash is one in a hundred thousand.
    """

    def __init__(self) -> None:
        self._table = array("Q", bytes(8 << 10))
        self._count = 0

    def add(self, pair: tuple[str, str]) -> bool:
        """Add a pair; return whether it was seen before."""
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
    with atomic_directory(output) as folder:
        splits = {
            split: _clean_split(corpus, split, text, folder, threads)
            for split in split_names(corpus)
        }
        kept = {split: counts["kept"] for split, counts in splits.items()}
        check_expected(corpus, "clean", kept, output)
        write_json(folder / "clean.json", {"splits": splits})


def normalised(
    pairs: list[tuple[str, str]], languages: tuple[str, str], options: Preprocessing
) -> list[tuple[str, str, str | None]]:
    """Normalise pairs and say what is wrong with each before tokenisation (None: nothing)."""
    one, other = (
        normaliser(name, normalise_punctuation=options.normalise_punctuation) for name in languages
    )
    judge = fault_in(options, "clean")
    both = ((one(source), other(target)) for source, target in pairs)
    return [(source, target, judge(source, target)) for source, target in both]


def _clean_split(
    corpus: Corpus, split: str, text: Path, folder: Path, threads: int
) -> dict[str, Any]:
    drops = split == TRAIN
    seen = Seen() if corpus.preprocessing.drop_duplicates and drops else None
    read, kept, faults = write_kept(
        corpus, split, text, folder, normalised, threads, drops=drops, seen=seen
    )
    reasons = REASONS if seen is None else (*REASONS, "duplicate")
    counts = {reason: faults[reason] for reason in reasons}
    return {"read": read, "kept": kept, "dropped" if drops else "faulty": counts}


def write_kept(
    corpus: Corpus,
    split: str,
    origin: Path,
    folder: Path,
    work: Callable[..., list[tuple[str, str, str | None]]],
    threads: int,
    *,
    drops: bool,
    seen: Seen | None = None,
) -> tuple[int, int, Counter[str]]:
    """Write what a step makes of the pairs of a split.

    Args:
        corpus: the corpus.
        split: name of the split.
        origin: folder of its text before the step.
        folder: of its text after the step, in the making.
        work: from pairs, their languages and the options to pairs and what is wrong with each.
        threads: processes to share the work.
        drops: whether pairs with which something is wrong are left out.
        seen: the pairs so far, if one that comes again is wrong, too.

    Returns:
        The pairs read, those kept, and those with which something is wrong by reason.
    """
    options = corpus.preparation(is_segmented(corpus, split))
    work = partial(work, languages=sides(corpus), options=options)
    read = kept = 0
    faults: Counter[str] = Counter()
    with writing_pairs(folder, split, sides(corpus)) as write:
        pairs = read_pairs(origin, split, *sides(corpus))
        for source, target, reason in in_order(work, pairs, threads):
            read += 1
            if reason is None and seen is not None and seen.add((source, target)):
                reason = "duplicate"
            if reason is not None:
                faults[reason] += 1
            if reason is None or not drops:
                kept += 1
                write(source, target)
    return read, kept, faults

"""The vocabulary of a corpus: special symbols, then subwords by decreasing frequency.

Source and target share one vocabulary, or each has its own (`Corpus.has_separate_vocabularies`).
Special symbols have the same ids in all of them.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import chain
from pathlib import Path
from typing import Literal, NamedTuple, get_args

from nat.checksums import reading
from nat.files import atomic_write_text

PAD, BOS, EOS, UNK, MASK, BLANK = range(6)
SPECIALS = ("<pad>", "<s>", "</s>", "<unk>", "<mask>", "<blank>")

NEVER_WRITTEN = (PAD, BOS, EOS, MASK, BLANK)
"""Symbols that never occur in translations. UNK is a prediction like any other."""

Side = Literal["source", "target"]
SIDES: tuple[Side, ...] = get_args(Side)

VOCABULARY = "vocabulary.txt"  # file of the joint vocabulary

SEPARATE_VOCABULARIES = tuple(f"vocabulary.{side}.txt" for side in SIDES)
"""Files of the vocabularies of source and target, instead."""

BEGIN_OF_CHUNKS = BLANK
"""The symbol [B_k] of hybrid-regressive systems: the begin of a sentence of which every k-th token
is predicted. Nothing else of theirs uses the symbol."""


class Vocabulary:
    """Maps subwords to ids and back."""

    def __init__(self, symbols: Iterable[str], counts: Iterable[int] | None = None) -> None:
        self.symbols = [*SPECIALS, *symbols]
        own = counts or [0] * (len(self.symbols) - len(SPECIALS))
        self.counts = [*[0] * len(SPECIALS), *own]
        self.ids = {symbol: number for number, symbol in enumerate(self.symbols)}
        if len(self.ids) != len(self.symbols):
            raise ValueError("a symbol comes twice, or is a special one")

    def __len__(self) -> int:
        return len(self.symbols)

    @classmethod
    def from_lines(cls, lines: Iterable[str]) -> "Vocabulary":
        """Count the space-separated subwords of `lines`; ties are ordered by symbol."""
        counts = Counter(chain.from_iterable(map(str.split, lines)))
        ordered = sorted(counts.keys() - set(SPECIALS), key=lambda each: (-counts[each], each))
        return cls(ordered, map(counts.__getitem__, ordered))

    @classmethod
    def load(cls, path: Path | str) -> "Vocabulary":
        """Read `symbol count` lines; raises a `UserError` for any other file."""
        with reading(path):
            symbols, counts = [], []
            lines = Path(path).read_text(encoding="utf-8").split("\n")
            for number, line in enumerate(lines, start=1):
                symbol, _, count = line.rpartition(" ")
                if line and not (symbol and count.isdecimal()):
                    raise ValueError(f"line {number}: expected 'symbol count', found '{line}'")
                if line:
                    symbols.append(symbol)
                    counts.append(int(count))
            return cls(symbols, counts)

    def save(self, path: Path | str) -> None:
        """Write `symbol count` lines without the special symbols."""
        rows = list(zip(self.symbols, self.counts, strict=True))[len(SPECIALS) :]
        atomic_write_text(path, "".join(f"{symbol} {count}\n" for symbol, count in rows))

    def encode(self, line: str) -> list[int]:
        """Ids of the subwords of a line; unknown subwords and written specials become UNK."""
        ids = (self.ids.get(symbol, UNK) for symbol in line.split())
        return [number if number >= len(SPECIALS) else UNK for number in ids]

    def decode(self, tokens: Sequence[int]) -> str:
        """Subwords of ids, joined by spaces; padding, begin, end, mask and blank are left out."""
        return " ".join(self.symbols[token] for token in tokens if token not in NEVER_WRITTEN)


class VocabularySizes(NamedTuple):
    """Numbers of symbols, special ones included; the source has none of its own in a joint one."""

    target: int
    source: int | None = None

    def __str__(self) -> str:
        if self.source is None:
            return f"{self.target} symbols"
        return f"{self.source} symbols of the source and {self.target} of the target"


class Vocabularies(NamedTuple):
    """The vocabularies of source and target: one and the same object if it is a joint one."""

    source: Vocabulary
    target: Vocabulary

    @classmethod
    def load(cls, folder: Path) -> "Vocabularies":
        """Read the files of a folder `bpe` or `binarised`, or of a package."""
        source, target = vocabulary_files(folder)
        of_target = Vocabulary.load(target)
        return cls(of_target if source == target else Vocabulary.load(source), of_target)

    @property
    def is_joint(self) -> bool:
        """True if there is only one."""
        return self.source is self.target

    @property
    def sizes(self) -> VocabularySizes:
        """Their numbers of symbols."""
        return VocabularySizes(len(self.target), None if self.is_joint else len(self.source))

    @property
    def by_file(self) -> dict[str, Vocabulary]:
        """Each of them by the name of its file."""
        if self.is_joint:
            return {VOCABULARY: self.target}
        return dict(zip(SEPARATE_VOCABULARIES, self, strict=True))

    def save(self, folder: Path) -> None:
        """Write their files to a folder, for `load`."""
        for name, vocabulary in self.by_file.items():
            vocabulary.save(folder / name)


def vocabulary_files(folder: Path, suffix: str = ".txt") -> tuple[Path, Path]:
    """The files of the vocabularies of source and target in a folder; that of a joint one twice."""
    source, target = ((folder / name).with_suffix(suffix) for name in SEPARATE_VOCABULARIES)
    if source.exists() or target.exists():
        return source, target
    joint = (folder / VOCABULARY).with_suffix(suffix)
    return joint, joint

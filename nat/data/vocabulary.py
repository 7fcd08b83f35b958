"""The joint vocabulary of a corpus: special symbols, then subwords by decreasing frequency."""

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from nat.checksums import remedy, verified
from nat.errors import UserError
from nat.files import atomic_write_text

PAD, BOS, EOS, UNK, MASK, BLANK = range(6)
SPECIALS = ("<pad>", "<s>", "</s>", "<unk>", "<mask>", "<blank>")

NEVER_WRITTEN = (PAD, BOS, EOS, MASK, BLANK)
"""Symbols that never occur in translations. UNK is a prediction like any other."""

BEGIN_OF_CHUNKS = BLANK
"""What hybrid-regressive systems call [B_k]: the begin of a sentence of which every k-th token
is predicted. Nothing else of theirs uses the symbol."""


class Vocabulary:
    """Maps subwords to ids and back. BLANK and MASK are separate symbols."""

    def __init__(self, symbols: Iterable[str], counts: Iterable[int] | None = None) -> None:
        self.symbols = [*SPECIALS, *symbols]
        self.counts = [0] * len(SPECIALS) + (
            list(counts) if counts is not None else [0] * (len(self.symbols) - len(SPECIALS))
        )
        self.ids = {symbol: number for number, symbol in enumerate(self.symbols)}
        if len(self.ids) != len(self.symbols):
            raise UserError("the vocabulary holds a symbol twice; make it again from the corpus")

    def __len__(self) -> int:
        return len(self.symbols)

    @classmethod
    def from_lines(cls, lines: Iterable[str]) -> "Vocabulary":
        """Count the space-separated subwords of `lines`; ties are ordered by symbol."""
        counter: Counter[str] = Counter()
        for line in lines:
            counter.update(line.split())
        for special in SPECIALS:
            counter.pop(special, None)
        ordered = sorted(counter.items(), key=lambda item: (-item[1], item[0]))
        return cls((symbol for symbol, _ in ordered), (count for _, count in ordered))

    @classmethod
    def load(cls, path: Path | str) -> "Vocabulary":
        """Read `symbol count` lines.

        Raises:
            UserError: if the file is missing or a line is malformed.
        """
        try:
            lines = verified(path).read_text(encoding="utf-8").split("\n")
        except FileNotFoundError as error:
            raise UserError(f"vocabulary {path} does not exist; {remedy(path)}") from error
        except UnicodeDecodeError as error:
            raise UserError(f"vocabulary {path} is not UTF-8 text; {remedy(path)}") from error
        symbols, counts = [], []
        for number, line in enumerate(lines, start=1):
            if not line:
                continue
            symbol, _, count = line.rpartition(" ")
            if not symbol or not count.isdecimal():
                raise UserError(f"{path}, line {number}: expected 'symbol count', found '{line}'")
            symbols.append(symbol)
            counts.append(int(count))
        return cls(symbols, counts)

    def save(self, path: Path | str) -> None:
        """Write `symbol count` lines without the special symbols."""
        rows = list(zip(self.symbols, self.counts, strict=True))[len(SPECIALS) :]
        atomic_write_text(path, "".join(f"{symbol} {count}\n" for symbol, count in rows))

    def encode(self, line: str) -> list[int]:
        """Ids of the subwords of a line; unknown subwords and written specials become UNK."""
        found = (self.ids.get(symbol, UNK) for symbol in line.split())
        return [number if number >= len(SPECIALS) else UNK for number in found]

    def decode(self, tokens: Sequence[int]) -> str:
        """Subwords of ids, joined by spaces; padding, begin, end, mask and blank are left out."""
        return " ".join(
            self.symbols[token] for token in tokens if token not in (PAD, BOS, EOS, MASK, BLANK)
        )

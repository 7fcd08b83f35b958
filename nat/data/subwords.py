"""Subwords: byte pair encoding, or SentencePiece.

Byte pair encoding (Sennrich et al. 2016) marks a subword that is not the last of its token with
`@@` at its end. A SentencePiece (Kudo and Richardson 2018) that does not begin a word is marked
with a halfwidth black square (U+FFED) at its beginning instead, since Japanese text has no words to
split; a beginning that belongs to no subword is a lower one eighth block (U+2581). Therefore each
subword shows how it is joined, and `merge` works for both kinds.
"""

import contextlib
import io
import re
from collections import Counter
from collections.abc import Callable, Iterable
from itertools import chain
from pathlib import Path

from sentencepiece import SentencePieceProcessor, SentencePieceTrainer
from subword_nmt.apply_bpe import BPE
from subword_nmt.learn_bpe import learn_bpe

from nat.checksums import remedy, unreadable, verified
from nat.data.vocabulary import SPECIALS, Side, Vocabulary
from nat.errors import UserError

CODES = "codes"
PIECES = "pieces.model"
"""Files of subwords. The codes of one side have its name at their end, as in `codes.source`."""

# Byte pair encoding is learned from the most frequent types; the others occur once or twice, and
# each type costs more than a kilobyte of memory.
MOST_TYPES = 1_000_000
_MOST_CACHED = 200_000  # types whose subwords a segmenter caches

_NO_CODES = "#version: 0.2\n"
_SPACE = "\u2581"
_JOINED = "\uffed"
_CONTINUED = re.compile(f"@@(?: |$)|{_SPACE}(?: {_JOINED})?| ?{_JOINED}")

Splitter = Callable[[str], str]  # splits a line of tokens into subwords, joined by spaces


def bpe_splitter(codes: str) -> Splitter:
    """Byte pair encoding; codes without any merge (`bpe_merges: 0`) leave the tokens whole."""
    if codes == _NO_CODES:
        return str
    bpe = BPE(io.StringIO(codes))

    def split(line: str) -> str:
        if len(bpe.cache) > _MOST_CACHED:
            bpe.cache.clear()
        return str(bpe.segment(line))

    return split


def piece_splitter(model: bytes) -> Splitter:
    """SentencePieces, with the marks described above."""
    pieces = SentencePieceProcessor()
    pieces.LoadFromSerializedProto(model)  # unlike the constructor, refuses an empty one
    return lambda line: " ".join(map(_marked, pieces.encode(line, out_type=str)))


def _marked(piece: str) -> str:
    """A piece as SentencePiece writes it, with the marks that it has here."""
    if piece.startswith(_SPACE):
        return piece.removeprefix(_SPACE) or _SPACE
    return _JOINED + piece


def merge(line: str) -> str:
    """Join subwords to tokens: the inverse of a `Splitter`.

    A model may end a sentence with a subword that should be continued; its mark is removed too.
    """
    return _CONTINUED.sub("", line)


def joined(line: str, in_pieces: bool) -> str:
    """The words of a line of subwords that others have written, by the marks of their programs."""
    if in_pieces:
        return "".join(line.split()).replace(_SPACE, " ").strip()
    return merge(line)


def read_dictionary(path: Path, in_pieces: bool) -> Vocabulary:
    """Read a dictionary of others, with the marks that subwords have here."""
    theirs = Vocabulary.load(path)
    names, counts = theirs.symbols[len(SPECIALS) :], theirs.counts[len(SPECIALS) :]
    return Vocabulary(map(_marked, names) if in_pieces else names, counts)


def learn(lines: Iterable[str], merges: int) -> str:
    """Learn codes of subword-nmt with so many merges; fewer if no pair is left that occurs twice.

    Raises a `UserError` if there is nothing to merge.
    """
    if merges == 0:
        return _NO_CODES
    types = Counter(chain.from_iterable(map(str.split, lines)))
    counted = (f"{word} {count}" for word, count in types.most_common(MOST_TYPES))
    codes = io.StringIO()
    # subword-nmt draws its own progress bar on standard error, and fails where there is no pair
    with contextlib.redirect_stderr(io.StringIO()), contextlib.suppress(ValueError):
        learn_bpe(counted, codes, merges, is_dict=True)
    if codes.getvalue() in ("", _NO_CODES):
        raise UserError("no pair of letters occurs twice in the training text; give more text")
    return codes.getvalue()


def learn_pieces(lines: Iterable[str], size: int, normalisation: str = "identity") -> bytes:
    """Train a SentencePiece model (unigram, else its own defaults) of so many pieces, or fewer.

    The normalisation is one of SentencePiece's rules, which also changes the text that is split.
    """
    model = io.BytesIO()
    try:
        SentencePieceTrainer.train(
            sentence_iterator=iter(lines),
            model_writer=model,
            vocab_size=size,
            hard_vocab_limit=False,
            normalization_rule_name=normalisation,
            bos_id=-1,
            eos_id=-1,
            minloglevel=2,
        )
    except RuntimeError as error:
        raise UserError(f"SentencePiece learns nothing from the training text: {error}") from error
    return model.getvalue()


def subwords_file(folder: Path, side: Side) -> Path:
    """The file of a folder `bpe` with which the text of a side is split into subwords."""
    own, pieces = folder / f"{CODES}.{side}", folder / PIECES
    return next((path for path in (own, pieces) if path.exists()), folder / CODES)


def splitter_at(path: Path) -> Splitter:
    """Read a splitter from its file, see `subwords_file`; a `UserError` for any other file."""
    told = io.StringIO()
    try:
        content = verified(path).read_bytes()
        # subword-nmt ends the program at a line that it does not like
        with contextlib.redirect_stderr(told):
            if path.name == PIECES:
                return piece_splitter(content)
            return bpe_splitter(content.decode())
    except OSError as error:
        raise unreadable(path, error) from error
    except (ValueError, RuntimeError, SystemExit) as error:
        kind = "a model of SentencePiece" if path.name == PIECES else "BPE codes"
        reason = told.getvalue().partition("\n")[0].removeprefix("Error: ") or error
        raise UserError(f"{path} does not hold {kind} ({reason}); {remedy(path)}") from error

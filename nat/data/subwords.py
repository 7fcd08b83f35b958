"""Subwords: byte pair encoding, or SentencePiece; `nat.data.raw_text` describes their marks."""

import contextlib
import io
from collections import Counter
from collections.abc import Iterable
from itertools import chain
from pathlib import Path

from sentencepiece import SentencePieceTrainer
from subword_nmt.learn_bpe import learn_bpe

from nat.checksums import remedy, unreadable, verified
from nat.data.raw_text import (
    CODES,
    NO_CODES,
    PIECES,
    SPACE,
    Splitter,
    marked,
    merge,
    splitter_of,
)
from nat.data.vocabulary import SPECIALS, Side, Vocabulary
from nat.errors import UserError

# Byte pair encoding is learned from the most frequent types; the others occur once or twice, and
# each type costs more than a kilobyte of memory.
MOST_TYPES = 1_000_000


def joined(line: str, in_pieces: bool) -> str:
    """The words of a line of subwords that others have written, by the marks of their programs."""
    if in_pieces:
        return "".join(line.split()).replace(SPACE, " ").strip()
    return merge(line)


def read_dictionary(path: Path, in_pieces: bool) -> Vocabulary:
    """Read a dictionary of others, with the marks that subwords have here."""
    theirs = Vocabulary.load(path)
    names, counts = theirs.symbols[len(SPECIALS) :], theirs.counts[len(SPECIALS) :]
    return Vocabulary(map(marked, names) if in_pieces else names, counts)


def learn(lines: Iterable[str], merges: int) -> str:
    """Learn codes of subword-nmt with so many merges; fewer if no pair is left that occurs twice.

    Raises a `UserError` if there is nothing to merge.
    """
    if merges == 0:
        return NO_CODES
    types = Counter(chain.from_iterable(map(str.split, lines)))
    counted = (f"{word} {count}" for word, count in types.most_common(MOST_TYPES))
    codes = io.StringIO()
    # subword-nmt draws its own progress bar on standard error, and fails where there is no pair
    with contextlib.redirect_stderr(io.StringIO()), contextlib.suppress(ValueError):
        learn_bpe(counted, codes, merges, is_dict=True)
    if codes.getvalue() in ("", NO_CODES):
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
            return splitter_of(path.name, content)
    except OSError as error:
        raise unreadable(path, error) from error
    except (ValueError, RuntimeError, SystemExit) as error:
        kind = "a model of SentencePiece" if path.name == PIECES else "BPE codes"
        reason = told.getvalue().partition("\n")[0].removeprefix("Error: ") or error
        raise UserError(f"{path} does not hold {kind} ({reason}); {remedy(path)}") from error

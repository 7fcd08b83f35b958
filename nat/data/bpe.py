"""Subwords and vocabularies: byte pair encoding, or SentencePiece.

Byte pair encoding (Sennrich et al. 2016), of both languages together or of each by itself, marks a
subword that is not the last of its token with `@@` at its end. A SentencePiece (Kudo and Richardson
2018) that does not begin a word is marked with a halfwidth black square (U+FFED) at its beginning
instead, since Japanese text has no words to split; a beginning that belongs to no subword is a
lower one eighth block (U+2581). Therefore each subword shows how it is joined, and `merge` works
for both kinds.
"""

import contextlib
import io
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import cache, partial
from itertools import chain, islice
from pathlib import Path
from typing import Protocol

from sentencepiece import SentencePieceProcessor, SentencePieceTrainer
from subword_nmt.apply_bpe import BPE
from subword_nmt.learn_bpe import learn_bpe

from nat.checksums import remedy, unreadable, verified
from nat.data.corpus import Corpus
from nat.data.corruption import corrupt_lines
from nat.data.expected import check_expected
from nat.data.lines import count_lines, read_lines, write_lines
from nat.data.parallel import in_order
from nat.data.splits import TRAIN, sides, split_names
from nat.data.vocabulary import (
    SIDES,
    SPECIALS,
    Side,
    Vocabularies,
    Vocabulary,
    copy_vocabularies,
)
from nat.errors import UserError
from nat.files import atomic_directory, copy

CODES = "codes"
PIECES = "pieces.model"
DICTIONARY = "dictionary.txt"
"""Files of subwords. The codes of one side have its name at their end, as in `codes.source`."""

MOST_UNKNOWN = 0.01
"""Share of the training text's subwords that a dictionary from elsewhere may lack."""

_NO_CODES = "#version: 0.2\n"
_SPACE = "\u2581"
_JOINED = "\uffed"
_CONTINUED = re.compile(f"@@(?: |$)|{_SPACE}(?: {_JOINED})?| ?{_JOINED}")

# Byte pair encoding is learned from the most frequent types; the others occur once or twice, and
# each type costs more than a kilobyte of memory.
MOST_TYPES = 1_000_000
_MOST_LINES = 500_000  # of both languages, for SentencePiece: each costs 2.6 kB of memory
_MOST_CACHED = 200_000  # types whose subwords a segmenter caches


class Segments(Protocol):
    """Splits lines of tokens into lines of subwords."""

    def split(self, line: str) -> str:
        """Subwords of a tokenised line, joined by spaces."""


def learn(lines: Iterable[str], merges: int) -> str:
    """Learn `merges` merge operations (fewer if no pair is left that occurs twice; 0: none).

    Args:
        lines: tokenised text of the languages that share the codes. Of more than `MOST_TYPES`
            types the most frequent count.
        merges: number of merge operations.

    Returns:
        The codes in the format of subword-nmt.

    Raises:
        UserError: if there is nothing to merge.
    """
    if merges == 0:
        return _NO_CODES
    types: Counter[str] = Counter()
    for line in lines:
        types.update(line.split())
    counted = (f"{word} {count}" for word, count in types.most_common(MOST_TYPES))
    codes = io.StringIO()
    # subword-nmt draws its own progress bar on standard error, and fails where there is no pair
    with contextlib.redirect_stderr(io.StringIO()), contextlib.suppress(ValueError):
        learn_bpe(counted, codes, merges, is_dict=True)
    if codes.getvalue() in ("", _NO_CODES):
        raise UserError("no pair of letters occurs twice in the training text; give more text")
    return codes.getvalue()


class Segmenter:
    """Splits tokens into subwords; a subword that is not the last of its token ends in `@@`.

    Codes without any merge (`bpe_merges: 0`) leave the tokens whole.
    """

    def __init__(self, codes: str) -> None:
        self._bpe = BPE(io.StringIO(codes)) if codes != _NO_CODES else None

    def split(self, line: str) -> str:
        """Subwords of a tokenised line, joined by spaces."""
        if self._bpe is None:
            return line
        if len(self._bpe.cache) > _MOST_CACHED:
            self._bpe.cache.clear()
        return str(self._bpe.segment(line))


class Pieces:
    """Splits text into SentencePieces; see above for how they are written."""

    def __init__(self, model: bytes) -> None:
        self._model = SentencePieceProcessor()
        self._model.LoadFromSerializedProto(model)  # unlike the constructor, refuses an empty one

    def split(self, line: str) -> str:
        """Pieces of a line, joined by spaces."""
        return " ".join(map(marked, self._model.encode(line, out_type=str)))


def marked(piece: str) -> str:
    """A piece as SentencePiece writes it, with the marks that it has here (see above)."""
    if piece.startswith(_SPACE):
        return piece.removeprefix(_SPACE) or _SPACE
    return _JOINED + piece


def joined(line: str, in_pieces: bool) -> str:
    """The words of a line of subwords that others have written.

    Args:
        line: subwords separated by spaces.
        in_pieces: whether they are SentencePieces, whose words begin with U+2581; otherwise those
            of byte pair encoding, whose words go on after `@@`.
    """
    if in_pieces:
        return "".join(line.split()).replace(_SPACE, " ").strip()
    return merge(line)


def read_dictionary(path: Path, in_pieces: bool) -> Vocabulary:
    """A dictionary of others, with the marks that subwords have here.

    Raises:
        UserError: if it is missing or damaged.
    """
    found = Vocabulary.load(path)
    rows = list(zip(found.symbols, found.counts, strict=True))[len(SPECIALS) :]
    names = [marked(symbol) if in_pieces else symbol for symbol, _ in rows]
    return Vocabulary(names, [count for _, count in rows])


def learn_pieces(lines: Iterable[str], size: int) -> bytes:
    """Train a SentencePiece model (unigram, its own defaults) on text of both languages.

    Args:
        lines: the text; no more than half a million lines, to save memory.
        size: number of pieces, including that for unknown characters; fewer if the text is too
            small.

    Returns:
        The model as SentencePiece writes it to a file.

    Raises:
        UserError: if there is nothing to learn from.
    """
    model = io.BytesIO()
    try:
        SentencePieceTrainer.train(
            sentence_iterator=iter(lines),
            model_writer=model,
            vocab_size=size,
            hard_vocab_limit=False,
            bos_id=-1,
            eos_id=-1,
            minloglevel=2,
        )
    except RuntimeError as error:
        raise UserError(f"SentencePiece learns nothing from the training text: {error}") from error
    return model.getvalue()


def merge(line: str) -> str:
    """Join subwords to tokens: the inverse of `Segmenter.split` and `Pieces.split`.

    A model may end a sentence with a subword that should be continued; its mark is removed too.
    """
    return _CONTINUED.sub("", line)


def bpe_folder(
    corpus: Corpus, tokens: Path, output: Path, threads: int = 1, given: Path | None = None
) -> None:
    """Learn subwords on both sides of the training text and apply them to all splits given.

    Those that the corpus has from elsewhere (key `subwords`) are not learned. Writes `codes` (or
    `pieces.model`), `{split}.{lang}` and `vocabulary.txt` (of the training text, both languages) to
    the folder `output`; with separate vocabularies `codes.source`, `codes.target`,
    `vocabulary.source.txt` and `vocabulary.target.txt`, each of one language.

    Args:
        corpus: the corpus.
        tokens: folder of the tokenised text.
        output: folder to make; it appears whole or not at all.
        threads: processes to share the work.
        given: folder of what the corpus has from elsewhere, see `nat.data.text`.

    Raises:
        UserError: if nothing can be learned from the training text, or the vocabulary has not the
            expected size.
    """
    with atomic_directory(output) as folder:
        if corpus.subwords is None:
            _learn(corpus, tokens, folder)
        else:
            assert given is not None
            name = PIECES if corpus.in_pieces else CODES
            with _given():
                segments_at(given / name)
            copy(given / name, folder / name)
        _apply(corpus, tokens, folder, folder, threads)
        vocabularies = _vocabularies(corpus, folder, given)
        size, source = vocabularies.sizes
        found = {"size": size} if source is None else {"source": source, "target": size}
        check_expected(corpus, "vocabulary", found, output)
        vocabularies.save(folder)


def _learn(corpus: Corpus, tokens: Path, folder: Path) -> None:
    """Write the files of subwords that are learned from the training text."""
    options = corpus.preprocessing
    if options.sentencepiece is not None:
        every = 1 + 2 * count_lines(tokens / f"{TRAIN}.{corpus.source}") // _MOST_LINES
        sample = islice(_training(tokens, *sides(corpus)), 0, None, every)
        (folder / PIECES).write_bytes(learn_pieces(sample, options.sentencepiece))
        return
    merges = options.bpe_merges
    for ending, languages in _sharing(corpus).items():
        number = merges[languages[0]] if isinstance(merges, Mapping) else merges
        assert number is not None
        codes = learn(_training(tokens, *languages), number)
        (folder / f"{CODES}{ending}").write_text(codes, encoding="utf-8", newline="\n")


def _sharing(corpus: Corpus) -> dict[str, tuple[str, ...]]:
    """The languages that share subwords, by the ending of the files of these."""
    if not corpus.has_separate_vocabularies:
        return {"": sides(corpus)}
    return {f".{side}": (each,) for side, each in zip(SIDES, sides(corpus), strict=True)}


def _training(folder: Path, *languages: str) -> Iterator[str]:
    """Lines of the training text, one language after the other."""
    return chain.from_iterable(read_lines(folder / f"{TRAIN}.{each}") for each in languages)


@contextlib.contextmanager
def _given() -> Iterator[None]:
    """Say of files that a corpus has from elsewhere that they may have been wrong there."""
    try:
        yield
    except UserError as error:
        raise UserError(
            f"{error}, or correct the file that the key 'subwords' of the corpus names"
        ) from error


def _vocabularies(corpus: Corpus, folder: Path, given: Path | None) -> Vocabularies:
    """The vocabularies of the subwords in a folder."""
    texts = [_training(folder, *languages) for languages in _sharing(corpus).values()]
    if corpus.subwords is None:
        found = [Vocabulary.from_lines(text) for text in texts]
    else:
        assert given is not None
        with _given():
            found = [read_dictionary(given / DICTIONARY, corpus.in_pieces)]
        _check_known(found[0], texts[0], given)
    return Vocabularies(found[0], found[-1])


def apply_bpe(corpus: Corpus, tokens: Path, learned: Path, output: Path) -> None:
    """Apply the subwords of the training text to other splits.

    Writes `{split}.{lang}` and copies of the vocabularies to the folder `output`.

    Args:
        corpus: the part of the corpus with these splits.
        tokens: folder of their tokenised text.
        learned: folder that `bpe_folder` made of the training text.
        output: folder to make; it appears whole or not at all.
    """
    with atomic_directory(output) as folder:
        _apply(corpus, tokens, learned, folder, threads=1)
        copy_vocabularies(learned, folder)


def _check_known(vocabulary: Vocabulary, lines: Iterable[str], given: Path) -> None:
    """Refuse a dictionary that does not belong to the subwords."""
    total = 0
    unknown: Counter[str] = Counter()
    for line in lines:
        found = line.split()
        total += len(found)
        unknown.update(symbol for symbol in found if symbol not in vocabulary.ids)
    if unknown.total() > MOST_UNKNOWN * total:
        raise UserError(
            f"{given / DICTIONARY} lacks {unknown.total():,} of the {total:,} subwords of the "
            f"training text, such as '{unknown.most_common(1)[0][0]}'; the files of the key "
            "'subwords' must belong to each other and to the tokeniser"
        )


def _apply(corpus: Corpus, tokens: Path, learned: Path, folder: Path, threads: int) -> None:
    source, target = sides(corpus)
    corruption = corpus.preprocessing.corruption
    _known_segments.cache_clear()  # the file may be another one of the same name
    side_of: dict[str, Side] = {source: "source", target: "target"}
    # the clean side first: its vocabulary is what the other one is corrupted with
    for split in split_names(corpus):
        for language in (target,) if corruption else (source, target):
            name = f"{split}.{language}"
            work = partial(_split_lines, path=subwords_file(learned, side_of[language]))
            write_lines(folder / name, in_order(work, read_lines(tokens / name), threads))
    if not corruption:
        return
    symbols = Vocabulary.from_lines(read_lines(learned / f"{TRAIN}.{target}")).symbols
    for split in split_names(corpus):
        lines = read_lines(folder / f"{split}.{target}")
        corrupted = corrupt_lines(lines, symbols[len(SPECIALS) :], corruption, split)
        write_lines(folder / f"{split}.{source}", corrupted)


def subwords_file(folder: Path, side: Side) -> Path:
    """The file of a folder `bpe` with which the text of a side is split into subwords."""
    own, pieces = folder / f"{CODES}.{side}", folder / PIECES
    return next((path for path in (own, pieces) if path.exists()), folder / CODES)


def segments_of(folder: Path, side: Side) -> Segments:
    """Return the splitter of the text of a side of a corpus, by its folder `bpe`."""
    return segments_at(subwords_file(folder, side))


def segments_at(path: Path) -> Segments:
    """Return the splitter whose subwords are in a file, see `subwords_file`.

    Raises:
        UserError: if the file is missing, cannot be read, or holds something else.
    """
    told = io.StringIO()
    try:
        content = verified(path).read_bytes()
        # subword-nmt ends the program at a line that it does not like
        with contextlib.redirect_stderr(told):
            return Pieces(content) if path.name == PIECES else Segmenter(content.decode())
    except OSError as error:
        raise unreadable(path, error) from error
    except (ValueError, RuntimeError, SystemExit) as error:
        kind = "a model of SentencePiece" if path.name == PIECES else "BPE codes"
        reason = told.getvalue().partition("\n")[0].removeprefix("Error: ") or error
        raise UserError(f"{path} does not hold {kind} ({reason}); {remedy(path)}") from error


_known_segments = cache(segments_at)


def _split_lines(lines: list[str], path: Path) -> list[str]:
    split = _known_segments(path).split
    return [split(line) for line in lines]

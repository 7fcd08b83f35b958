"""The folder `bpe` of a corpus: text as subwords, what splits it, and the vocabularies.

Subwords are those of byte pair encoding or SentencePiece; `nat.data.raw_text` describes their
marks. The source of a corpus with the key `corruption` is made of corrupted subwords of the target:
the synthetic corpora A and B of Huang et al. 2022 (MPLE, appendix B). The target is clean text and
the source the same text with some of its tokens replaced by random ones, and, in B, some dropped.
Where the paper is ambiguous: tokens are subwords, the unit that the models see; a replacement is
uniform over the vocabulary of the clean training text; and each token is replaced, and then
dropped, independently of the others.
"""

import contextlib
import hashlib
import io
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from itertools import chain, islice
from pathlib import Path

import numpy as np
from sentencepiece import SentencePieceTrainer
from subword_nmt.learn_bpe import learn_bpe

from nat.checksums import reading
from nat.data.corpus import Corpus, Corruption, check_expected
from nat.data.likeness import MOST_UNKNOWN, look_of, write_report
from nat.data.lines import count_lines, in_order, read_lines, write_lines
from nat.data.raw_text import CODES, NO_CODES, PIECES, SPACE, Splitter, marked, merge, splitter_of
from nat.data.splits import GIVEN, TRAIN
from nat.data.vocabulary import SIDES, SPECIALS, Side, Vocabularies, Vocabulary
from nat.errors import UserError, told_of
from nat.files import atomic_directory, copy

DICTIONARY = "dictionary.txt"
"""A vocabulary from elsewhere, in the folder of what a corpus is given."""

SUBWORDS = {"codes": CODES, "pieces": PIECES, "vocabulary": DICTIONARY}
"""Files of subwords from elsewhere by their label in a corpus file."""

# Byte pair encoding is learned from the most frequent types; the others occur once or twice, and
# each type costs more than a kilobyte of memory.
MOST_TYPES = 1_000_000

_MOST_LINES = 500_000  # of both languages, for SentencePiece
_CHUNK = 2000  # lines that share one call of the generator


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
    with reading(path), contextlib.redirect_stderr(told):
        try:
            return splitter_of(path.name, path.read_bytes())
        except SystemExit as error:  # subword-nmt ends the program at a line that it does not like
            raise ValueError(told.getvalue().removeprefix("Error: ")) from error


def bpe_folder(corpus: Corpus, tokens: Path, output: Path, threads: int = 1) -> None:
    """Learn subwords on both sides of the training text and apply them to all splits.

    Those that the corpus has from elsewhere (key `subwords`) are not learned, but lie in the text
    beside the folder `tokens`. Writes `{split}.{lang}`, what splits them, and the vocabularies of
    the training text to the folder `output`. Raises a `UserError` if nothing can be learned, or if
    the vocabulary has not the expected size.
    """
    # languages that share subwords, by the ending of their files
    shared: dict[str, tuple[str, ...]] = {"": corpus.sides}
    if corpus.has_separate_vocabularies:
        shared = {f".{side}": (each,) for side, each in zip(SIDES, corpus.sides, strict=True)}
    with atomic_directory(output) as folder:
        if corpus.subwords is None:
            _learn(corpus, tokens, folder, shared)
            _apply(corpus, tokens, folder, folder, threads)
            own = [Vocabulary.from_lines(_training(folder, each)) for each in shared.values()]
        else:
            given = tokens.with_name("text") / GIVEN
            name = PIECES if corpus.in_pieces else CODES
            with told_of("the files of the key 'subwords' of the corpus: "):
                splitter_at(given / name)
                own = [read_dictionary(given / DICTIONARY, corpus.in_pieces)]
                copy(given / name, folder / name)
                _apply(corpus, tokens, folder, folder, threads)
                _check_known(own[0], _training(folder, corpus.sides))
        vocabularies = Vocabularies(own[0], own[-1])
        size, source = vocabularies.sizes
        sizes = {"size": size} if source is None else {"source": source, "target": size}
        check_expected(corpus, "vocabulary", sizes, output)
        vocabularies.save(folder)
        write_report(corpus, folder, vocabularies)


def apply_bpe(corpus: Corpus, tokens: Path, learned: Path, output: Path) -> None:
    """Write the splits of a part of a corpus with the subwords that `bpe_folder` has `learned`."""
    with atomic_directory(output) as folder:
        _apply(corpus, tokens, learned, folder, threads=1)
        vocabularies = Vocabularies.load(learned)
        vocabularies.save(folder)
        write_report(corpus, folder, vocabularies, look_of(learned))


def _learn(
    corpus: Corpus, tokens: Path, folder: Path, shared: Mapping[str, tuple[str, ...]]
) -> None:
    """Write the files of subwords that are learned from the training text."""
    options = corpus.preprocessing
    if options.sentencepiece is not None:
        every = 1 + 2 * count_lines(tokens / f"{TRAIN}.{corpus.source}") // _MOST_LINES
        sample = islice(_training(tokens, corpus.sides), 0, None, every)
        model = learn_pieces(sample, options.sentencepiece, options.sentencepiece_normalisation)
        (folder / PIECES).write_bytes(model)
        return
    merges = options.bpe_merges or 0
    for ending, languages in shared.items():
        number = merges[languages[0]] if isinstance(merges, Mapping) else merges
        codes = learn(_training(tokens, languages), number)
        (folder / f"{CODES}{ending}").write_text(codes, encoding="utf-8")


def _training(folder: Path, languages: Iterable[str]) -> Iterator[str]:
    """Lines of the training text, one language after the other."""
    return chain.from_iterable(read_lines(folder / f"{TRAIN}.{each}") for each in languages)


def _check_known(vocabulary: Vocabulary, lines: Iterable[str]) -> None:
    """Refuse a dictionary that does not belong to the subwords."""
    counts = Counter(chain.from_iterable(map(str.split, lines)))
    unknown = Counter({each: counts[each] for each in counts if each not in vocabulary.ids})
    if unknown.total() > MOST_UNKNOWN * counts.total():
        raise UserError(
            f"{DICTIONARY} lacks {unknown.total():,} of the {counts.total():,} subwords of the "
            f"training text, such as '{unknown.most_common(1)[0][0]}'; they must belong to each "
            "other and to the keys 'tokeniser' and 'escaped' of 'preprocessing'"
        )


def _apply(corpus: Corpus, tokens: Path, learned: Path, folder: Path, threads: int) -> None:
    """Split the text of all splits into subwords, and corrupt those of the target if asked to."""
    corruption = corpus.preprocessing.corruption
    _known_splitter.cache_clear()  # the file may be another one of the same name
    # the clean side first: its vocabulary is what the other one is corrupted with
    for split in corpus.split_names:
        for side, language in zip(SIDES, corpus.sides, strict=True):
            if side == "target" or not corruption:
                name = f"{split}.{language}"
                work = partial(split_lines, path=subwords_file(learned, side))
                write_lines(folder / name, in_order(work, read_lines(tokens / name), threads))
    if corruption:
        vocabulary = Vocabulary.from_lines(read_lines(learned / f"{TRAIN}.{corpus.target}"))
        symbols = vocabulary.symbols[len(SPECIALS) :]
        for split in corpus.split_names:
            lines = read_lines(folder / f"{split}.{corpus.target}")
            corrupted = corrupt_lines(lines, symbols, corruption, split)
            write_lines(folder / f"{split}.{corpus.source}", corrupted)


_known_splitter = cache(splitter_at)


def split_lines(lines: list[str], path: Path) -> list[str]:
    """Split lines of tokens into subwords by a file of `subwords_file`, which is read once."""
    return list(map(_known_splitter(path), lines))


def corrupt_lines(
    lines: Iterable[str], symbols: Sequence[str], options: Corruption, split: str
) -> Iterator[str]:
    """Yield lines of subwords with some replaced by others of these symbols, and some dropped.

    A line keeps one token at least, if it has any. Splits use different random numbers.
    """
    numbers = np.random.default_rng([*hashlib.sha256(f"{options.seed} {split}".encode()).digest()])
    source = iter(lines)
    for chunk in iter(lambda: [line.split() for line in islice(source, _CHUNK)], []):
        total = sum(map(len, chunk))
        replaced = (numbers.random(total) < options.replace).tolist()
        dropped = (numbers.random(total) < options.drop).tolist()
        drawn = numbers.integers(len(symbols), size=total).tolist()
        changes = zip(replaced, dropped, drawn, strict=True)
        for tokens in chunk:
            corrupted, kept = [], []
            for token in tokens:
                is_replaced, is_dropped, number = next(changes)
                corrupted.append(symbols[number] if is_replaced else token)
                if not is_dropped:
                    kept.append(corrupted[-1])
            yield " ".join(kept or corrupted[:1])

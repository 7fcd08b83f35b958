"""The `tokens` folder of a corpus, and detokenisation.

Moses tokens are not escaped for XML (`&`, `<`, `|`, quotes and brackets are not replaced), so that
detokenised output is compared with the original references. Text is lower-cased here, after the
tokeniser, whose rules depend on case.
"""

import logging
import re
import tempfile
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

import jieba

from nat.data.bpe import joined
from nat.data.clean import REASONS, fault_in, moses, normalised, normaliser, write_kept
from nat.data.corpus import Corpus, Preprocessing
from nat.data.diacritics import line_change
from nat.data.expected import check_expected
from nat.data.splits import TRAIN, is_segmented, sides, split_names
from nat.files import atomic_directory, write_json

# A space beside a character that is not a letter or digit of a Western script.
_NO_SPACE = re.compile(r"(?<![A-Za-z0-9]) | (?![A-Za-z0-9])")


@cache
def _jieba() -> jieba.Tokenizer:
    jieba.setLogLevel(logging.WARNING)
    tokeniser = jieba.Tokenizer()
    # By default it loads its cache from a folder that all users of the machine can write to.
    with tempfile.TemporaryDirectory() as folder:
        tokeniser.tmp_dir = folder
        tokeniser.initialize()
    return tokeniser


def tokeniser_of(tokeniser: str | Mapping[str, str], language: str) -> str:
    """The tokeniser of a language: one for both, or one for each."""
    return tokeniser if isinstance(tokeniser, str) else tokeniser[language]


def tokenise(line: str, language: str, tokeniser: str | Mapping[str, str]) -> str:
    """Split a line into tokens joined by single spaces.

    Args:
        line: one line of text.
        language: code of its language.
        tokeniser: `moses`; `moses_dashes`, which also splits words at dashes (`@-@`), as most
            recipes for WMT14 do; `jieba` for Chinese; or `none` for text whose words are already
            separate, or that is split into subwords as it is. It may be given per language."""
    tokeniser = tokeniser_of(tokeniser, language)
    if tokeniser in ("moses", "moses_dashes"):
        dashes = tokeniser == "moses_dashes"
        moses_tokeniser = moses("MosesTokenizer", language)
        tokens = moses_tokeniser.tokenize(line, aggressive_dash_splits=dashes, escape=False)
    elif tokeniser == "jieba":
        tokens = _jieba().lcut(line)
    else:
        tokens = [line]
    return " ".join(" ".join(tokens).split())


def tokens_of(corpus: Corpus, language: str, segmented: bool = False) -> Callable[[str], str]:
    """A function that makes tokens of a raw line of a language, as the steps of a corpus do.

    Args:
        corpus: its diacritics and preprocessing.
        language: one of its languages.
        segmented: whether lines consist of subwords, see `nat.data.corpus.Split`.
    """
    options = corpus.preparation(segmented)
    change = line_change(corpus, language)
    normalise = normaliser(language, normalise_punctuation=options.normalise_punctuation)

    def prepared(line: str) -> str:
        words = joined(line, corpus.in_pieces) if segmented else line
        tokens = tokenise(normalise(change(words)), language, options.tokeniser)
        return tokens.lower() if options.lowercase else tokens

    return prepared


def target_tokens(lines: Sequence[str], corpus: Corpus) -> list[str]:
    """Tokens of raw lines of the target language, as they are in the `tokens` of a corpus."""
    return list(map(tokens_of(corpus, corpus.target), lines))


def detokenise(line: str, language: str, tokeniser: str | Mapping[str, str]) -> str:
    """Join the tokens of a line to text: the inverse of `tokenise`.

    It is exact where the tokens determine the text (99.7% of the lines of Multi30k, English and
    German; the others have stray spaces or single quotes; in Chinese, spaces beside Western words).
    """
    tokeniser = tokeniser_of(tokeniser, language)
    if tokeniser in ("moses", "moses_dashes"):
        return str(moses("MosesDetokenizer", language).detokenize(line.split(), unescape=False))
    if tokeniser == "jieba":
        return _NO_SPACE.sub("", " ".join(line.split()))
    return " ".join(line.split())


def tokenise_folder(corpus: Corpus, clean: Path, output: Path, threads: int = 1) -> None:
    """Write the tokens of all splits, `{split}.{lang}`, and `tokens.json` to the folder `output`.

    If `preprocessing.measure` is `tokens`, training pairs with unsuitable lengths are dropped here;
    `tokens.json` counts them in the same way as `clean.json`.

    Args:
        corpus: the corpus.
        clean: folder of the cleaned text.
        output: folder to make; it appears whole or not at all.
        threads: processes to share the work.

    Raises:
        UserError: if no training pair is left, or their number is not the expected one.
    """
    by_tokens = corpus.preprocessing.measure == "tokens"
    splits: dict[str, dict[str, Any]] = {}
    with atomic_directory(output) as folder:
        for split in split_names(corpus):
            drops = split == TRAIN and by_tokens
            read, kept, faults = write_kept(
                corpus, split, clean, folder, _tokenise_pairs, threads, drops=drops
            )
            dropped = {reason: faults[reason] for reason in REASONS} if drops else {}
            splits[split] = {"read": read, "kept": kept, "dropped": dropped}
        kept_pairs = {split: counts["kept"] for split, counts in splits.items()}
        check_expected(corpus, "tokens", kept_pairs, output)
        write_json(folder / "tokens.json", {"splits": splits})


def usefulness(corpus: Corpus) -> Callable[[str, str], bool]:
    """A function that says whether cleaning and tokenisation will keep a raw pair.

    Duplicates are not detected.
    """
    options, languages = corpus.preparation(is_segmented(corpus, TRAIN)), sides(corpus)
    if options.measure == "tokens":
        work = partial(_tokenise_pairs, languages=languages, options=options)
    else:
        work = None

    def useful(source: str, target: str) -> bool:
        ((source, target, reason),) = normalised([(source, target)], languages, options)
        if reason is None and work is not None:
            ((_, _, reason),) = work([(source, target)])
        return reason is None

    return useful


def _tokenise_pairs(
    pairs: list[tuple[str, str]], languages: tuple[str, str], options: Preprocessing
) -> list[tuple[str, str, str | None]]:
    """Tokens of pairs, and what is wrong with their lengths (None: nothing)."""
    judge = fault_in(options, "tokens")
    lowercase, tokeniser = options.lowercase, options.tokeniser
    done = []
    for pair in pairs:
        source, target = (
            tokenise(line, language, tokeniser)
            for line, language in zip(pair, languages, strict=True)
        )
        if lowercase:
            source, target = source.lower(), target.lower()
        done.append((source, target, judge(source, target)))
    return done

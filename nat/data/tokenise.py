"""The `tokens` folder of a corpus, and detokenisation.

Moses tokens are not escaped for XML (`&`, `<`, `|`, quotes and brackets are not replaced), so that
detokenised output is compared with the original references. Text is lower-cased here, after the
tokeniser, whose rules depend on case.
"""

import logging
import re
import tempfile
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nat.data.clean import REASONS, fault_in, normalised
from nat.data.corpus import Corpus, Preprocessing
from nat.data.expected import check_expected
from nat.data.lines import check_count, count_lines, read_pairs
from nat.data.parallel import in_order
from nat.data.splits import TRAIN, is_segmented, sides, split_names
from nat.errors import UserError
from nat.files import atomic_directory, write_json

if TYPE_CHECKING:
    from sacremoses import MosesDetokenizer, MosesTokenizer

# A space beside a character that is not a letter or digit of a Western script.
_NO_SPACE = re.compile(r"(?<![A-Za-z0-9]) | (?![A-Za-z0-9])")


@cache
def _moses(language: str) -> "MosesTokenizer":
    from sacremoses import MosesTokenizer  # takes as long as the rest of the program

    return MosesTokenizer(language)


@cache
def _moses_back(language: str) -> "MosesDetokenizer":
    from sacremoses import MosesDetokenizer

    return MosesDetokenizer(language)


@cache
def _jieba() -> Any:
    import jieba  # its dictionary takes a second and 100 MB

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
        tokens = _moses(language).tokenize(line, aggressive_dash_splits=dashes, escape=False)
    elif tokeniser == "jieba":
        tokens = _jieba().lcut(line)
    else:
        tokens = [line]
    return " ".join(" ".join(tokens).split())


def target_tokens(lines: Sequence[str], corpus: Corpus) -> list[str]:
    """Tokens of raw lines of the target language, as they are in the `tokens` of a corpus."""
    languages, options = sides(corpus), corpus.preprocessing
    found = []
    for _, line, _ in normalised([("", line) for line in lines], languages, options):
        tokens = tokenise(line, languages[1], options.tokeniser)
        found.append(tokens.lower() if options.lowercase else tokens)
    return found


def detokenise(line: str, language: str, tokeniser: str | Mapping[str, str]) -> str:
    """Join the tokens of a line to text: the inverse of `tokenise`.

    It is exact where the tokens determine the text (99.7% of the lines of Multi30k, English and
    German; the others have stray spaces or single quotes; in Chinese, spaces beside Western words).
    """
    tokeniser = tokeniser_of(tokeniser, language)
    if tokeniser in ("moses", "moses_dashes"):
        return str(_moses_back(language).detokenize(line.split(), unescape=False))
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
    with atomic_directory(output) as folder:
        splits = {
            split: _tokenise_split(corpus, split, clean, folder, threads)
            for split in split_names(corpus)
        }
        if TRAIN in splits and splits[TRAIN]["kept"] == 0:
            raise UserError(
                f"no training pair of {clean} has the right lengths in tokens; widen "
                "preprocessing.max_tokens and preprocessing.max_ratio"
            )
        kept = {split: counts["kept"] for split, counts in splits.items()}
        check_expected(corpus, "tokens", kept, output)
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


def _tokenise_split(
    corpus: Corpus, split: str, clean: Path, folder: Path, threads: int
) -> dict[str, Any]:
    options = corpus.preprocessing
    drops = split == TRAIN and options.measure == "tokens"
    prepared = corpus.preparation(is_segmented(corpus, split))
    work = partial(_tokenise_pairs, languages=sides(corpus), options=prepared)
    paths = [folder / f"{split}.{language}" for language in sides(corpus)]
    dropped: Counter[str] = Counter(dict.fromkeys(REASONS, 0) if drops else {})
    kept = 0
    with (
        paths[0].open("w", encoding="utf-8", newline="\n") as sources,
        paths[1].open("w", encoding="utf-8", newline="\n") as targets,
    ):
        pairs = read_pairs(clean, split, *sides(corpus))
        for source, target, reason in in_order(work, pairs, threads):
            if drops and reason is not None:
                dropped[reason] += 1
                continue
            kept += 1
            sources.write(source + "\n")
            targets.write(target + "\n")
    read = count_lines(clean / paths[0].name)
    for path in paths:
        check_count(path, read - dropped.total())
    return {"read": read, "kept": kept, "dropped": dict(dropped)}


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

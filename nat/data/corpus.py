"""The contents of files of `config/corpora` as typed models; docs/corpora.md explains the keys.

They are validated strictly. Relations between keys are checked in `nat.configuration.checks`.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from nat.data.origins import GivenSubwords, GivenTranslations, Monolingual, Split
from nat.data.raw_text import Preparation
from nat.data.splits import TRAIN, VALID
from nat.errors import UserError
from nat.options import Count, Number, OrAbsent, Share, StrictModel, Text

LanguageCode = Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_-]*$")]
Tokeniser = Literal["moses", "moses_dashes", "unicode", "jieba", "none"]
BleuTokeniser = Literal["13a", "intl", "zh", "ja-mecab", "ko-mecab", "char"]
_BLEU_TOKENISERS: dict[str, BleuTokeniser] = {"zh": "zh", "ja": "ja-mecab", "ko": "ko-mecab"}
_UNSPACED = ("zh", "ja-mecab", "char")  # tokenisers of text without spaces between words
PieceNormalisation = Literal["identity", "nfkc", "nmt_nfkc", "nfkc_cf", "nmt_nfkc_cf"]
Merges = Annotated[int, Field(ge=0, lt=2**31)]
_SPLITS = ["train", "valid", "test", "test_NAME"]
SplitName = Annotated[str, Field(pattern=r"^(train|valid|test|test_[a-z0-9_]+)$", examples=_SPLITS)]


class DerivedText(StrictModel):
    """Both sides are one side of another corpus, with its splits (no key of a file)."""

    source: str = Field(alias="from")
    side: LanguageCode
    splits: list[SplitName] = []


class SizeAbout(StrictModel):
    """A number of pairs or symbols, and a tolerance."""

    about: Count
    tolerance: float = Field(gt=0, le=1)


Step = Literal["text", "clean", "tokens", "vocabulary"]
Expected = dict[Step, dict[str, SizeAbout | Count]]
"""Sizes after each step, by split; of the vocabulary `size`, or `source` and `target`."""


class Corruption(StrictModel):
    """Shares of the target's subwords that are replaced by random ones, and dropped."""

    replace: Share
    drop: Share
    seed: Number


class Preprocessing(StrictModel):
    """The preparation of the text; a tokeniser or merges may be given by language.

    Tokens that are `escaped` have XML escapes, as Moses writes them.
    """

    lowercase: bool
    normalise_punctuation: bool
    tokeniser: Annotated[dict[str, Tokeniser], Field(min_length=2)] | Tokeniser
    escaped: bool = False
    drop_duplicates: bool = False
    measure: Literal["words", "tokens", "characters"] = "words"
    max_tokens: Count
    max_ratio: float = Field(ge=1)
    bpe_merges: OrAbsent[Annotated[dict[str, Merges], Field(min_length=2)] | Merges] = None
    sentencepiece: OrAbsent[Annotated[int, Field(ge=8, lt=2**31)]] = None
    sentencepiece_normalisation: PieceNormalisation = "identity"
    corruption: OrAbsent[Corruption] = None


class GeneratorOptions(StrictModel, extra="allow"):
    """Pairs of each split of invented text; other keys are fields of
    `nat.data.invented.language.Language`."""

    pairs: dict[SplitName, Count]


class Corpus(StrictModel):
    """A directed language pair, as a file of `config/corpora` describes it.

    `licence` is that of models which learn from it, and `dataset` its name, as a hub has them.
    """

    description: Text = ""
    licensed_by: Text = ""
    licence: OrAbsent[Text] = None
    dataset: OrAbsent[Text] = None
    source: LanguageCode
    target: LanguageCode
    splits: dict[SplitName, Split] = {}
    generator: OrAbsent[GeneratorOptions] = None
    derived: OrAbsent[DerivedText] = None
    subwords: OrAbsent[GivenSubwords] = None
    distilled: dict[str, GivenTranslations] = {}
    monolingual: OrAbsent[Monolingual] = None
    diacritics: dict[str, Literal["normalise", "remove"]] = {}
    expected: Expected = {}
    bleu_tokeniser: OrAbsent[BleuTokeniser] = None
    least_perfect_score: float = Field(50.0, ge=0, le=100)
    preprocessing: Preprocessing

    @property
    def of_lines(self) -> "Corpus":
        """The keys that a program needs to translate lines, and that an export shows."""
        needed = ("source", "target", "diacritics", "preprocessing")
        shown = self.model_fields_set & {"licence", "dataset"}
        return Corpus(**{key: getattr(self, key) for key in (*needed, *shown)})

    @property
    def in_pieces(self) -> bool:
        """True if its subwords are SentencePieces."""
        if self.subwords is not None:
            return "pieces" in self.subwords.labelled
        return self.preprocessing.sentencepiece is not None

    @property
    def counted_as(self) -> BleuTokeniser:
        """The tokeniser of sacreBLEU: that of the target language unless it is given."""
        language = self.target.lower().replace("_", "-").partition("-")[0]
        return self.bleu_tokeniser or _BLEU_TOKENISERS.get(language, "13a")

    @property
    def has_spaces(self) -> bool:
        """True if the words of the target language have spaces between them."""
        return self.counted_as not in _UNSPACED

    @property
    def unit(self) -> BleuTokeniser | Literal["none"]:
        """What tokens are split into to be counted: nothing but where they are not words."""
        name = self.preparation(self.target).tokeniser
        return "none" if self.has_spaces or name != "none" else self.counted_as

    @property
    def has_separate_vocabularies(self) -> bool:
        """True if source and target have subwords and vocabularies of their own."""
        return isinstance(self.preprocessing.bpe_merges, dict)

    def preparation(self, language: str, segmented: bool = False) -> Preparation:
        """The preparation of lines of a language that are `segmented`, see `Split`, or are not."""
        own = Preparation.of(self.as_written(), language)
        return Preparation(language, "none", diacritics=own.diacritics) if segmented else own

    @property
    def sides(self) -> tuple[str, str]:
        """Source and target language."""
        return self.source, self.target

    @property
    def split_names(self) -> list[str]:
        """Names of the splits: train, valid, test, then others in the order of the file."""
        if self.generator is not None:
            names = list(self.generator.pairs)
        else:
            names = list(self.splits if self.derived is None else self.derived.splits)
        return sorted(names, key=[TRAIN, VALID, "test", *names].index)

    @property
    def test_names(self) -> list[str]:
        """Names of the test sets: the splits that no training reads."""
        return [split for split in self.split_names if split not in (TRAIN, VALID)]

    @property
    def held_out(self) -> list[str]:
        """The splits besides the training text."""
        return [split for split in self.split_names if split != TRAIN]

    def is_cut_out(self, split: str) -> bool:
        """Return True for a split that is cut out of the training text."""
        return split in self.splits and self.splits[split].every is not None

    def is_segmented(self, split: str) -> bool:
        """Return True if the lines of a split consist of subwords, see `Split`."""
        origin = TRAIN if self.is_cut_out(split) else split
        return origin in self.splits and self.splits[origin].segmented

    def preparations(self, split: str) -> tuple[Preparation, Preparation]:
        """How the lines of both sides of a split are prepared."""
        one, other = (self.preparation(each, self.is_segmented(split)) for each in self.sides)
        return one, other


def check_expected(corpus: Corpus, step: Step, counts: Mapping[str, int], folder: Path) -> None:
    """Compare the counts of a step, made in a folder, with those of the corpus file.

    Raises a `UserError` for the first outside its tolerance, or if no training pair is left.
    """
    if counts.get(TRAIN) == 0:
        options = corpus.preprocessing
        raise UserError(
            f"{folder}: no training pair is left with preprocessing.max_tokens "
            f"{options.max_tokens} and preprocessing.max_ratio {options.max_ratio:g}; widen them"
        )
    due = corpus.expected.get(step, {})
    for name in (name for name in due if name in counts):
        size = due[name]
        number, tolerance = (
            (size.about, size.tolerance) if isinstance(size, SizeAbout) else (size, 0)
        )
        if abs(counts[name] - number) > tolerance * number:
            margin = f" plus or minus {100 * tolerance:g} %" if tolerance else ""
            raise UserError(
                f"{folder}: {name} is {counts[name]:,} where 'expected.{step}.{name}' of the "
                f"corpus file says {number:,}{margin}; look for a mistake in the preprocessing or "
                "the downloads, or correct the key"
            )

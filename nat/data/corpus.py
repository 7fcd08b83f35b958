"""The contents of files of `config/corpora` as typed models; docs/corpora.md explains the keys.

They are validated strictly. Relations between keys are checked in `nat.configuration.checks`.
"""

from typing import Annotated, Literal, NamedTuple, TypeAlias, TypeVar

from pydantic import Field

from nat.data.raw_text import Preparation
from nat.options import Count, LocalPath, Number, OrAbsent, Share, StrictModel, Text

LanguageCode = Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_-]*$")]
Url = Annotated[str, Field(pattern=r"^https?://")]
Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
Tokeniser = Literal["moses", "moses_dashes", "unicode", "jieba", "none"]
BleuTokeniser = Literal["13a", "intl", "zh", "ja-mecab", "ko-mecab", "char"]
_BLEU_TOKENISERS: dict[str, BleuTokeniser] = {"zh": "zh", "ja": "ja-mecab", "ko": "ko-mecab"}
_UNSPACED = ("zh", "ja-mecab", "char")  # tokenisers of text without spaces between words
PieceNormalisation = Literal["identity", "nfkc", "nmt_nfkc", "nfkc_cf", "nmt_nfkc_cf"]
Merges = Annotated[int, Field(ge=0, lt=2**31)]
_SPLITS = ["train", "valid", "test", "test_NAME"]
SplitName = Annotated[str, Field(pattern=r"^(train|valid|test|test_[a-z0-9_]+)$", examples=_SPLITS)]
Name = TypeVar("Name")
Names: TypeAlias = Annotated[list[Name], Field(min_length=1)] | Name
"""One name, or several to be read one after the other."""


class Minimum(StrictModel):
    """Leaves out lines of a tsv with a smaller number in a column."""

    column: Number
    value: float


class Checksum(NamedTuple):
    """The checksum of a published file; the digest is None if none is published."""

    algorithm: Literal["sha256", "md5"] = "sha256"
    digest: str | None = None


class Source(StrictModel):
    """Files of text, and where they come from: local `files`, `urls`, or `members` of an archive.

    They are labelled by language; a file with both languages is `pairs`. Members may be shell
    patterns. If `sha256` is null, later downloads must match the first.
    """

    files: Annotated[dict[str, Names[LocalPath]], Field(min_length=1)] = {}
    urls: Annotated[dict[str, Url], Field(min_length=1)] = {}
    archive: OrAbsent[Url] = None
    members: Annotated[dict[str, Names[Text]], Field(min_length=1)] = {}
    sha256: dict[str, Sha256 | None] | Sha256 | None = None
    md5: OrAbsent[Annotated[str, Field(pattern=r"^[0-9a-f]{32}$")]] = None

    def checksum_of(self, label: str) -> Checksum:
        """The checksum of a download by its label, or of the archive."""
        if self.md5:
            return Checksum("md5", self.md5)
        sums = self.sha256
        return Checksum(digest=sums[label] if isinstance(sums, dict) else sums)

    @property
    def origins(self) -> list[str]:
        """The keys that say where the text comes from; a valid file has one."""
        keys = ("urls", "files", "archive", "sacrebleu", "every", "parts")
        return [key for key in keys if getattr(self, key, None)]

    @property
    def labelled(self) -> dict[str, list[str]]:
        """The files, wherever they come from, by label."""
        names = self.members or self.urls or self.files
        return {label: [each] if isinstance(each, str) else each for label, each in names.items()}

    @property
    def addresses(self) -> dict[str, str]:
        """The addresses of downloads by their keys here."""
        urls = {f"urls.{label}": url for label, url in self.urls.items()}
        return urls | ({"archive": self.archive} if self.archive else {})


class PairSource(Source):
    """An origin of pairs, which may also be a test set that sacreBLEU knows.

    `columns` (from 0, by language), `minimum` and `undecodable` are of a tsv.
    """

    sacrebleu: OrAbsent[str] = None
    format: Literal["lines", "tsv", "tmx", "ted", "segments", "ted_segments"] = "lines"
    columns: Annotated[dict[str, Number], Field(min_length=2)] = {}
    minimum: OrAbsent[Minimum] = None
    undecodable: Literal["refuse", "empty"] = "refuse"


class FurtherReferences(Source):
    """References of a split besides its own target.

    Line n is one of sentence n, or of all sentences whose source is line n of a second file.
    """

    format: Literal["lines", "segments", "extra_refs"] = "lines"


class GivenSubwords(Source):
    """Subwords that were learned elsewhere: files `codes` (of subword-nmt) or `pieces` (a model of
    SentencePiece), and `vocabulary` (lines `symbol count`, such as a dictionary of fairseq)."""


class GivenTranslations(Source):
    """A teacher's translations of the training text, line by line; `segmented` as in `Split`."""

    segmented: bool = False


class Split(PairSource):
    """One origin of pairs, or several (`parts`), or every nth usable pair of `train` (`every`).

    Pairs of `train` that equal one that is cut out are left out, unless `keep_repeated`.

    Lines that are `segmented` consist of subwords. They are joined, and the words are taken as they
    are: no punctuation is normalised, nothing is tokenised or lower-cased.
    """

    parts: Annotated[list[PairSource], Field(min_length=1)] = []
    every: OrAbsent[Annotated[int, Field(ge=2)]] = None
    keep_repeated: bool = False
    segmented: bool = False
    pairs: OrAbsent[Count] = None
    references: Annotated[list[FurtherReferences], Field(min_length=1)] = []


class DerivedText(StrictModel):
    """Both sides are one side of another corpus, with its splits (no key of a file)."""

    source: str = Field(alias="from")
    side: LanguageCode
    splits: list[SplitName] = []


class SizeAbout(StrictModel):
    """A number of pairs or symbols, and a tolerance."""

    about: Count
    tolerance: float = Field(gt=0, le=1)


def number_of(size: SizeAbout | int) -> int:
    """A number that is expected, exactly or about."""
    return size.about if isinstance(size, SizeAbout) else size


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

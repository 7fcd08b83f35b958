"""The contents of files of `config/corpora` as typed models.

They are validated strictly. Relations between keys are checked in `nat.configuration.corpora`.
"""

from typing import Annotated, Literal, NamedTuple, TypeAlias, TypeVar, get_args

from pydantic import Field

from nat.options import Count, LocalPath, Number, OrAbsent, Share, StrictModel, Text

LanguageCode = Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_-]*$")]
Url = Annotated[str, Field(pattern=r"^https?://")]
Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
Tokeniser = Literal["moses", "moses_dashes", "jieba", "none"]
MOST_SUBWORDS = 10_000_000
"""Far more than any text has, and within what the programs that learn them count with."""
Merges = Annotated[int, Field(ge=0, le=MOST_SUBWORDS)]
SplitName = Annotated[
    str,
    Field(
        pattern=r"^(train|valid|test|test_[a-z0-9_]+)$",
        examples=["train", "valid", "test", "test_NAME"],
    ),
]
Name = TypeVar("Name")
Names: TypeAlias = Annotated[list[Name], Field(min_length=1)] | Name
"""One name, or several to be read one after the other."""
Files = Annotated[dict[str, Names[Text]], Field(min_length=1)]
LocalFiles = Annotated[dict[str, Names[LocalPath]], Field(min_length=1)]


class Minimum(StrictModel):
    """Leaves out lines of a tsv with a smaller number in a column."""

    column: Number
    value: float


class Checksum(NamedTuple):
    """The checksum of a published file.

    Attributes:
        algorithm: `sha256` or `md5`.
        digest: hexadecimal; None if none is published.
    """

    algorithm: str = "sha256"
    digest: str | None = None


class Source(StrictModel):
    """Files of text, and where they come from.

    Attributes:
        files: local files, by language.
        urls: files to download, likewise.
        archive: a tar or zip file to download.
        members: its files, likewise; shell patterns.
        sha256: of the download; null: that of the first download is stored, and later downloads
            must match it.
        md5: of the download.
    """

    files: LocalFiles = {}
    urls: Annotated[dict[str, Url], Field(min_length=1)] = {}
    archive: OrAbsent[Url] = None
    members: Files = {}
    sha256: dict[str, Sha256 | None] | Sha256 | None = None
    md5: OrAbsent[Annotated[str, Field(pattern=r"^[0-9a-f]{32}$")]] = None

    def checksum_of(self, label: str | None) -> Checksum:
        """The checksum of a download by its label, or of the archive (None)."""
        if self.md5:
            return Checksum("md5", self.md5)
        if isinstance(self.sha256, dict):
            return Checksum(digest=None if label is None else self.sha256[label])
        return Checksum(digest=self.sha256)

    @property
    def origins(self) -> list[str]:
        """The keys that say where the text comes from; a valid file has one."""
        return _given(urls=self.urls, files=self.files, archive=self.archive)

    @property
    def labelled(self) -> dict[str, str] | dict[str, str | list[str]]:
        """The files, wherever they come from, by language."""
        return self.members or self.urls or self.files


class Part(Source):
    """An origin of pairs; a file with both languages is given under 'pairs'.

    Attributes:
        sacrebleu: a test set that sacreBLEU knows.
        format: of the files.
        columns: of tsv, from 0, by language.
        minimum: of tsv: leave out lines with a smaller number in a column.
        undecodable: whether to refuse lines of a tsv that are not UTF-8, or to treat them as empty.
    """

    sacrebleu: OrAbsent[str] = None
    format: Literal["lines", "tsv", "tmx", "ted", "segments", "ted_segments"] = "lines"
    columns: Annotated[dict[str, Number], Field(min_length=2)] = {}
    minimum: OrAbsent[Minimum] = None
    undecodable: Literal["refuse", "empty"] = "refuse"

    @property
    def origins(self) -> list[str]:
        """As of `Source`."""
        return super().origins + _given(sacrebleu=self.sacrebleu)


class FurtherReferences(Source):
    """References of a split besides its own target.

    Files are labelled by language: with the target alone if line n is a reference of sentence n,
    with both languages if lines belong to the sentences with the same source.

    Attributes:
        format: of the files; extra_refs: of Ott et al. (2018), sources and references in one.
    """

    format: Literal["lines", "segments", "extra_refs"] = "lines"


class Subwords(Source):
    """Subwords that were learned elsewhere.

    Files are labelled `codes` (of subword-nmt) or `pieces` (a model of SentencePiece), and
    `vocabulary` (lines `symbol count`, such as a dictionary of fairseq).
    """


class DistilledText(Source):
    """A teacher's translations of the training text: a file of the target language, line by line.

    Attributes:
        segmented: as of a split.
    """

    segmented: bool = False


class Split(Part):
    """One origin: urls, files, archive, sacrebleu, parts, or every.

    Attributes:
        parts: several origins, one after the other.
        every: hold out every nth usable pair of train.
        segmented: lines consist of subwords. They are joined, and the words are taken as they are:
            no punctuation is normalised, nothing is tokenised or lower-cased.
        pairs: line pairs; checked.
        references: further references, in order; of published sets those that papers measure with.
    """

    parts: Annotated[list[Part], Field(min_length=1)] = []
    every: OrAbsent[Annotated[int, Field(ge=2)]] = None
    segmented: bool = False
    pairs: OrAbsent[Count] = None
    references: Annotated[list[FurtherReferences], Field(min_length=1)] = []

    @property
    def origins(self) -> list[str]:
        """As of `Source`."""
        return super().origins + _given(every=self.every, parts=self.parts)


class Derived(StrictModel):
    """Both sides are one side of another corpus; see preprocessing.corruption.

    Attributes:
        source: the other corpus.
        side: its language that is taken.
        splits: those of the other corpus; no key of a file.
    """

    source: str = Field(alias="from")
    side: LanguageCode
    splits: list[SplitName] = []


class About(StrictModel):
    """A number of pairs or symbols, and a tolerance."""

    about: Count
    tolerance: float = Field(gt=0, le=1)


def number_of(size: About | int) -> int:
    """A number that is expected, exactly or about."""
    return size.about if isinstance(size, About) else size


Step = Literal["text", "clean", "tokens", "vocabulary"]
STEPS: tuple[Step, ...] = get_args(Step)
Sizes = dict[str, About | Count]


class Expected(StrictModel):
    """Sizes after each step; a step with a different size fails."""

    text: Sizes = {}
    clean: Sizes = {}
    tokens: Sizes = {}
    vocabulary: Sizes = {}

    def after(self, step: Step) -> dict[str, About | int]:
        """The sizes after a step, by split; that of the vocabulary under `size`, or those of
        separate ones under `source` and `target`."""
        sizes: dict[str, About | int] = getattr(self, step)
        return sizes


class Corruption(StrictModel):
    """Makes the source from corrupted subwords of the target.

    Attributes:
        replace: share of subwords replaced by random ones.
        drop: share of subwords left out.
        seed: of the random numbers.
    """

    replace: Share
    drop: Share
    seed: Number


class Preprocessing(StrictModel):
    """The preparation of the text.

    Attributes:
        lowercase: whether the text is lower-cased.
        normalise_punctuation: whether quotes, dashes and spaces are normalised.
        tokeniser: one for both languages, or one for each.
        drop_duplicates: whether repeated pairs of train are removed.
        measure: what max_tokens and max_ratio count: words between spaces (default), tokens of
            the tokeniser, or characters.
        max_tokens: greatest length of a sentence of train.
        max_ratio: greatest ratio of the lengths of a pair of train.
        bpe_merges: number of merges of the joint byte pair encoding; or of each language's own, by
            language, and then source and target have separate vocabularies.
        sentencepiece: number of pieces, instead of bpe_merges; neither where the corpus has the key
            subwords.
        corruption: make the source from corrupted subwords of the target.
    """

    lowercase: bool
    normalise_punctuation: bool
    tokeniser: Annotated[dict[str, Tokeniser], Field(min_length=2)] | Tokeniser
    drop_duplicates: bool = False
    measure: Literal["words", "tokens", "characters"] = "words"
    max_tokens: Count
    max_ratio: float = Field(ge=1)
    bpe_merges: OrAbsent[Annotated[dict[str, Merges], Field(min_length=2)] | Merges] = None
    sentencepiece: OrAbsent[Annotated[int, Field(ge=8, le=MOST_SUBWORDS)]] = None
    corruption: OrAbsent[Corruption] = None


class Generator(StrictModel, extra="allow"):
    """Invented text; its other keys are the fields of `nat.data.invented.parameters`.

    Attributes:
        pairs: of each split.
    """

    pairs: dict[SplitName, Count]


class Corpus(StrictModel):
    """A directed language pair, as a file of `config/corpora` describes it.

    Attributes:
        description: for readers.
        licensed_by: whom a user has to ask for the text. Where its files are not there, tables say
            that nothing was run on it, and nothing stops.
        source: source language.
        target: target language.
        splits: train, valid, test and test_NAME.
        generator: pairs of each split, and fields of nat.data.invented.parameters.
        derived: both sides are one side of another corpus.
        subwords: learned elsewhere, instead of bpe_merges or sentencepiece.
        distilled: published translations of train, by the system whose own are not made then.
        diacritics: of Romanian text, by language: comma below instead of cedilla, or none.
        expected: sizes after each step.
        preprocessing: how the text is prepared.
    """

    description: Text = ""
    licensed_by: Text = ""
    source: LanguageCode
    target: LanguageCode
    splits: dict[SplitName, Split] = {}
    generator: OrAbsent[Generator] = None
    derived: OrAbsent[Derived] = None
    subwords: OrAbsent[Subwords] = None
    distilled: dict[str, DistilledText] = {}
    diacritics: dict[str, Literal["normalise", "remove"]] = {}
    expected: Expected = Expected()
    preprocessing: Preprocessing

    @property
    def in_pieces(self) -> bool:
        """True if its subwords are SentencePieces."""
        if self.subwords is not None:
            return "pieces" in self.subwords.labelled
        return self.preprocessing.sentencepiece is not None

    @property
    def has_separate_vocabularies(self) -> bool:
        """True if source and target have subwords and vocabularies of their own."""
        return isinstance(self.preprocessing.bpe_merges, dict)

    def preparation(self, segmented: bool) -> Preprocessing:
        """The preparation of lines that are `segmented`, see `Split`, or are not."""
        if not segmented:
            return self.preprocessing
        as_they_are = {"normalise_punctuation": False, "tokeniser": "none", "lowercase": False}
        return self.preprocessing.model_copy(update=as_they_are)


def _given(**values: object) -> list[str]:
    return [key for key, value in values.items() if value]

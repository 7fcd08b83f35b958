"""Where the text of a corpus comes from, as its file says; docs/corpora.md explains the keys."""

from typing import Annotated, Literal, TypeAlias, TypeVar

from pydantic import Field

from nat.errors import UserError
from nat.options import Count, LocalPath, Number, OrAbsent, StrictModel, Text, hint

Url = Annotated[str, Field(pattern=r"^https?://")]
Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
Name = TypeVar("Name")
Names: TypeAlias = Annotated[list[Name], Field(min_length=1)] | Name
"""One name, or several to be read one after the other."""


class Minimum(StrictModel):
    """Leaves out lines of a tsv with a smaller number in a column."""

    column: Number
    value: float


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

    def checksum_of(self, label: str) -> str | None:
        """The SHA-256 or MD5 of a download by its label, or of the archive; None: unpublished."""
        sums = self.sha256
        return self.md5 or (sums[label] if isinstance(sums, dict) else sums)

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

    def parts_by_key(self, key: str) -> dict[str, "Source"]:
        """The `parts` by their keys in the corpus file, which has this key; itself without any."""
        parts = enumerate(getattr(self, "parts", ()))
        return {f"{key}.parts[{number}]": part for number, part in parts} or {key: self}


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


class Monolingual(Source):
    """Sentences of the source language without translations, from one origin or several `parts`.

    A generated corpus draws its own, as many as `sentences` says.
    """

    parts: Annotated[list[Source], Field(min_length=1)] = []
    sentences: OrAbsent[Count] = None


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


def with_archive(source: Source, sides: tuple[str, str]) -> Source:
    """A source with a test set of sacreBLEU described by its archive, checksum and members.

    Raises a `UserError` if there is no such test set.
    """
    if not isinstance(source, PairSource) or source.sacrebleu is None:
        return source
    from sacrebleu.dataset import DATASETS  # takes half a second

    name, pair = source.sacrebleu, "-".join(sides)
    known = DATASETS.get(name)
    if known is None or not (known.data and known.md5):
        raise UserError(f"sacreBLEU has no test set '{name}'; {hint(name, DATASETS)}")
    if pair not in known.langpairs:
        pairs = ", ".join(sorted(known.langpairs))
        raise UserError(f"sacreBLEU's test set '{name}' is not for {pair}; it has {pairs}")
    members = dict(zip(sides, known.langpairs[pair][:2], strict=True))
    (archive, *_), (md5, *_) = known.data, known.md5
    return PairSource(archive=archive, md5=md5, members=members, format="segments")

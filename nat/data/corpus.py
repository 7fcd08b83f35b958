"""The contents of files of `config/corpora` as typed models; docs/corpora.md explains the keys.

They are validated strictly. Relations between keys are checked in `nat.configuration.checks`.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from pydantic import Field

from nat.data.origins import (
    FurtherReferences,
    GivenSubwords,
    GivenTranslations,
    Source,
    Split,
    with_archive,
)
from nat.data.raw_text import Preparation
from nat.data.splits import TRAIN, VALID
from nat.errors import UserError
from nat.options import Count, Number, OrAbsent, Share, StrictModel, Text

Value = TypeVar("Value")

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

    def part(self, splits: Iterable[str]) -> "Corpus":
        """The corpus, restricted to some of its splits."""
        kept, generator, derived = set(splits), self.generator, self.derived
        changed: dict[str, Any] = {"splits": _only(self.splits, kept)}
        if generator is not None:
            pairs = {"pairs": _only(generator.pairs, kept)}
            changed = {"generator": generator.model_copy(update=pairs)}
        elif derived is not None:
            names = {"splits": [name for name in derived.splits if name in kept]}
            changed = {"derived": derived.model_copy(update=names)}
        return self.model_copy(update=changed)

    @property
    def training_part(self) -> "Corpus":
        """The part that trainings read."""
        return self.part((TRAIN, VALID))

    def text_part(self, split: str = TRAIN) -> "Corpus":
        """The part whose raw text is made in one step.

        It is a test set, or the training text, `valid`, and what is cut out of it.
        """
        if split in (TRAIN, VALID):
            cut = [test for test in self.test_names if self.is_cut_out(test)]
            return self.part([TRAIN, VALID, *cut])
        of_training: dict[str, Any] = {"subwords": None, "distilled": {}}
        return self.part([split]).model_copy(update=_only(of_training, self.model_fields_set))

    def prepared_as(self, split: str) -> dict[str, Any]:
        """The keys by which the text of a split is made and prepared, JSON-able, as written."""
        written = self.text_part(split).as_written()
        for description in written.get("splits", {}).values():
            description.pop("pairs", None)
        left_out = {"description", "licensed_by", "licence", "dataset"}
        left_out |= {"expected", "bleu_tokeniser", "least_perfect_score"}
        return {key: value for key, value in written.items() if key not in left_out}

    @property
    def sources_by_key(self) -> dict[str, Source]:
        """All descriptions of files by their key in the corpus file."""
        sources: dict[str, Source] = {} if self.subwords is None else {"subwords": self.subwords}
        sources |= {f"distilled.{teacher}": text for teacher, text in self.distilled.items()}
        for name, split in self.splits.items():
            sources |= split.parts_by_key(name)
            for number, part in enumerate(split.references):
                sources[f"splits.{name}.references[{number}]"] = part
        return sources

    @property
    def addresses(self) -> dict[str, str]:
        """The addresses that all files come from, by key."""
        return {
            f"{key}.{of_url}": url
            for key, source in self.sources_by_key.items()
            for of_url, url in with_archive(source, self.sides).addresses.items()
        }

    def local_files(self, *, references: bool = False) -> dict[str, Path]:
        """The local files of the text, or of its further references, by their keys."""
        files = {}
        for key, source in self.sources_by_key.items():
            if isinstance(source, FurtherReferences) == references:
                for label, names in source.files.items():
                    if isinstance(names, str):
                        files[f"{key}.files.{label}"] = Path(names)
                    else:
                        several = enumerate(names)
                        files |= {f"{key}.files.{label}[{n}]": Path(name) for n, name in several}
        return files

    def listed_references(self, split: str) -> list[tuple[int, FurtherReferences]]:
        """The references of a split in the corpus file, with their numbers there.

        Those in the other language are left out: a corpus may reverse the direction of another one.
        """
        numbered = enumerate(self.splits[split].references if split in self.splits else [])
        return [(number, part) for number, part in numbered if self.target in part.labelled]

    def has_references(self, split: str) -> bool:
        """Return True for a split with references: listed ones, or those of a generator."""
        return self.has_all_references(split) or bool(self.listed_references(split))

    def has_all_references(self, split: str) -> bool:
        """Return True if the references of a split are all correct translations of its sentences.

        Those of a generator are: every noise-free target is among them.
        """
        return self.generator is not None and split != TRAIN

    def check_expected(self, step: Step, counts: Mapping[str, int], folder: Path) -> None:
        """Compare the counts of a step, made in a folder, with those of the corpus file.

        Raises a `UserError` for the first outside its tolerance, or if no training pair is left.
        """
        if counts.get(TRAIN) == 0:
            options = self.preprocessing
            raise UserError(
                f"{folder}: no training pair is left with preprocessing.max_tokens "
                f"{options.max_tokens} and preprocessing.max_ratio {options.max_ratio:g}; widen "
                "them"
            )
        for name, due in _only(self.expected.get(step, {}), {*counts}).items():
            number, tolerance = (
                (due.about, due.tolerance) if isinstance(due, SizeAbout) else (due, 0)
            )
            if abs(counts[name] - number) > tolerance * number:
                margin = f" plus or minus {100 * tolerance:g} %" if tolerance else ""
                raise UserError(
                    f"{folder}: {name} is {counts[name]:,} where 'expected.{step}.{name}' of the "
                    f"corpus file says {number:,}{margin}; look for a mistake in the preprocessing "
                    "or the downloads, or correct the key"
                )


def _only(values: Mapping[str, Value], names: set[str]) -> dict[str, Value]:
    return {name: value for name, value in values.items() if name in names}

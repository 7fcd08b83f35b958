"""An artefact, a result whose path and inputs follow from its names; the steps of a corpus.

All other kinds: `nat.artifacts`.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, ClassVar, Self, dataclass_transform

from nat.configuration import Configuration
from nat.configuration.files import file_of
from nat.data.corpus import Corpus
from nat.data.corpus_parts import has_references, local_files, monolingual_files, part_of, text_part
from nat.data.splits import CORPORA, MONOLINGUAL, TRAIN, VALID, folder_of, together_with
from nat.errors import UserError


class Inputs(dict[str, "Artifact | tuple[Artifact, ...] | None"]):
    """Inputs of a job, by their names, which are also attributes.

    An input is an artefact, several of them in order, or None where there is nothing to read.
    """

    def __getattr__(self, name: str) -> Any:
        if name not in self:
            raise AttributeError(f"no input is named '{name}', only {', '.join(self)}")
        return self[name]

    def artifacts(self) -> Iterator["Artifact"]:
        """The artefacts that are read, in order."""
        for value in self.values():
            yield from (value,) if isinstance(value, Artifact) else value or ()

    @property
    def files(self) -> list["File"]:
        """Those that a user keeps."""
        return [each for each in self.artifacts() if isinstance(each, File)]

    def paths(self) -> dict[str, list[str]]:
        """Paths of the results among them by the name of the input, as a rule wants them."""
        named = {name: Inputs({name: value}) for name, value in self.items() if value is not None}
        return {
            name: [each.path for each in own.artifacts() if not isinstance(each, File)]
            for name, own in named.items()
        }


@dataclass_transform(frozen_default=True)
@dataclass(frozen=True)
class Artifact:
    """A result. The fields of a subclass are the names that tell it from others of its kind.

    A subclass is a frozen dataclass; its argument `path` is the template of the paths.
    """

    template: ClassVar[str] = ""
    kinds: ClassVar[dict[str, type["Artifact"]]] = {}

    def __init_subclass__(cls, path: str | None = None) -> None:
        cls.template = cls.template if path is None else path
        cls.kinds[cls.__name__] = dataclass(frozen=True)(cls)

    @classmethod
    def of(cls, names: Mapping[str, Any], **changes: Any) -> Self:
        """The artefact of these names, with some changed or added; others are ignored."""
        given = {**names, **changes}
        own = {field.name: field.type for field in fields(cls) if field.name in given}
        return cls(**{name: int(given[name]) if own[name] is int else given[name] for name in own})

    @property
    def path(self) -> str:
        """The file or folder that stands for it."""
        return self.template.format_map(vars(self))

    def as_json(self) -> dict[str, Any]:
        """The kind, the path and the names, JSON-able."""
        return {"kind": type(self).__name__, "path": self.path, **vars(self)}

    def inputs(self, configuration: Configuration) -> Inputs:
        """Inputs of the job that makes it; an error if the configuration does not allow it."""
        return self._read(configuration)

    def _read(self, configuration: Configuration) -> Inputs:
        return Inputs()


def artifact_of(written: Mapping[str, Any]) -> Artifact:
    """The artefact that `Artifact.as_json` describes."""
    names = {key: tuple(each) if isinstance(each, list) else each for key, each in written.items()}
    return Artifact.kinds[written["kind"]].of(names)


class File(Artifact, path="{name}"):
    """A file that a user keeps, and the key of the configuration that names it."""

    name: str
    named_by: str


STEPS = ("text", "clean", "tokens", "bpe", "binarised", "corpus.json")
"""The steps of the preparation of a corpus, in order; beside the text are its `references`."""


class CorpusStep(Artifact):
    """A step of the preparation of all that trainings read, or of a test set, prepared at once.

    A test set has the steps of the training text; monolingual text only the first and `binarised`.
    """

    corpus: str
    step: str
    split: str = TRAIN

    @property
    def path(self) -> str:
        """Its file or folder, which depends on the split."""
        if self.step == "corpus.json":
            return str(CORPORA / self.corpus / self.step)
        return str(folder_of(self.corpus, self.split) / self.step)

    def _read(self, configuration: Configuration) -> Inputs:
        return Inputs(before=tuple(self._before(configuration.corpus(self.corpus))))

    def _before(self, corpus: Corpus) -> Iterable[Artifact]:
        text, derived = replace(self, step="text"), corpus.derived
        more = corpus.monolingual and (corpus.generator or monolingual_files(corpus))
        if self.split == MONOLINGUAL and not more:
            raise UserError(
                f"{file_of('corpora', self.corpus)}: no key 'monolingual' with text in "
                f"'{corpus.source}', but a system learns from it; add it, or remove 'monolingual' "
                "from the key 'text' of the system"
            )
        if self.step == "references":
            part = part_of(corpus, together_with(self.split))
            return text, *self._kept(local_files(part, references=True))
        if self.step == "text" and derived is not None:
            return [replace(self, corpus=derived.source)]
        if self.step == "text" and self.split != TRAIN and corpus.is_cut_out(self.split):
            return [CorpusStep(self.corpus, "text")]
        if self.step == "text":
            return self._kept(local_files(text_part(corpus, self.split)))
        if self.split != TRAIN:
            return text, CorpusStep(self.corpus, "bpe")
        before = STEPS[: STEPS.index(self.step)]
        if self.step == "corpus.json":
            splits = TRAIN, *corpus.test_names
            return [CorpusStep(self.corpus, step, split) for split in splits for step in before]
        last = replace(self, step=before[-1])
        # subwords that were learned elsewhere lie in the folder of the text
        return [text, last] if self.step == "bpe" and corpus.subwords is not None else [last]

    def _kept(self, files: Iterable[tuple[str, Path]]) -> list[File]:
        where = file_of("corpora", self.corpus)
        return [File(str(path), f"{where}: key '{key}'") for key, path in files]


def step_of(corpus: str, split: str, step: str) -> CorpusStep:
    """A step of the preparation of a split; `valid` is prepared with the training text."""
    return CorpusStep(corpus, step, TRAIN if split == VALID else split)


def references(description: Corpus, corpus: str, split: str) -> CorpusStep | None:
    """Several references of sentences of a split; None for a split without them."""
    return step_of(corpus, split, "references") if has_references(description, split) else None

"""Every result of a run: where it lies, and what is read to make it.

A result is an artefact, a frozen value that is made of names. Its path and its inputs follow from
these names and the configuration, and from nothing else, so the rules, the programs and the
reports all ask here: a rule for the inputs of a job, a program for the files that it opens, a
report for the files that hold its numbers.

    Score("demo", "toy-ka-lu", "nat-kd", 1, "one-pass", "test").path
    Model("demo", "toy-ka-lu", "nat-kd", 1).inputs(configuration).teacher

Corpora do not depend on the scale and lie at `results/corpora`. Everything else lies at
`results/{run}`, see `Configuration.run`.
"""

import importlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from typing import Any, ClassVar, Self

from nat.configuration import Configuration
from nat.configuration.file_names import file_of
from nat.configuration.models import Start
from nat.data.candidates import Candidate, joined_names
from nat.data.corpus import Corpus
from nat.data.references import has_references
from nat.data.splits import (
    TRAIN,
    VALID,
    derived_from,
    is_cut_out,
    local_files,
    local_references,
    part_of,
    split_names,
    test_names,
    text_part,
)
from nat.errors import UserError
from nat.spelling import hint


@dataclass(frozen=True)
class Inputs:
    """What a job reads; the fields of a subclass are the names of its inputs.

    A field holds an artefact, several of them in order, or None where there is nothing to read.
    """

    def artifacts(self) -> Iterator["Artifact"]:
        """The artefacts that are read, in the order of the fields."""
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, Artifact):
                yield value
            elif value is not None:
                yield from value

    def paths(self) -> dict[str, str | list[str]]:
        """Their paths by the name of the input, as a rule wants them."""
        found: dict[str, str | list[str]] = {}
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, Artifact):
                found[field.name] = value.path
            elif value is not None:
                found[field.name] = [each.path for each in value]
        return found


@dataclass(frozen=True)
class Artifact:
    """A result. The fields of a subclass are the names that tell it from others of its kind."""

    template: ClassVar[str]

    @classmethod
    def of(cls, names: Mapping[str, Any]) -> Self:
        """The artefact of these names, such as the wildcards of a job; it ignores further names."""
        return cls(
            **{
                field.name: int(names[field.name]) if field.type is int else names[field.name]
                for field in fields(cls)
            }
        )

    @property
    def path(self) -> str:
        """The file or folder that stands for it."""
        return self.template.format(
            **{each.name: getattr(self, each.name) for each in fields(self)}
        )

    def inputs(self, configuration: Configuration) -> Inputs:
        """What is read to make it.

        Raises:
            UserError: if the configuration does not allow it.
        """
        raise NotImplementedError


@dataclass(frozen=True)
class File(Artifact):
    """A file that a user keeps: text of a corpus, published values.

    Attributes:
        name: its path.
        named_by: file of the configuration that names it.
    """

    template = "{name}"
    name: str
    named_by: str

    def inputs(self, configuration: Configuration) -> Inputs:
        """Nothing, since no job makes it."""
        return Inputs()


# Corpora

STEPS = ("text", "references", "clean", "tokens", "bpe", "binarised", "corpus.json")


@dataclass(frozen=True)
class InputsOfCorpusStep(Inputs):
    """The steps before, or the files that a text is made from."""

    before: tuple[Artifact, ...]


@dataclass(frozen=True)
class CorpusStep(Artifact):
    """A step of the preparation of what trainings read of a corpus, one of `STEPS`."""

    template = "results/corpora/{corpus}/{step}"
    corpus: str
    step: str

    def inputs(self, configuration: Configuration) -> InputsOfCorpusStep:
        """The step before; for the summary all steps, for the text the files of the user."""
        description = configuration.corpus(self.corpus)
        if self.step == "text":
            return InputsOfCorpusStep(tuple(_sources(description, self.corpus)))
        if self.step == "references":
            files = _reference_files(description, self.corpus, (TRAIN, VALID))
            return InputsOfCorpusStep((CorpusStep(self.corpus, "text"), *files))
        steps = [step for step in STEPS if step != "references"]
        before = steps[: steps.index(self.step)]
        if self.step != "corpus.json":
            given = self.step == "bpe" and description.subwords is not None
            steps = ["text", before[-1]] if given else before[-1:]
            return InputsOfCorpusStep(tuple(CorpusStep(self.corpus, step) for step in steps))
        splits = [TRAIN, *test_names(description)]
        return InputsOfCorpusStep(
            tuple(step_of(self.corpus, split, step) for split in splits for step in before)
        )


@dataclass(frozen=True)
class StepOfTest(Artifact):
    """A step of the preparation of a test set, one of `STEPS`."""

    template = "results/corpora/{corpus}/tests/{split}/{step}"
    corpus: str
    split: str
    step: str

    def inputs(self, configuration: Configuration) -> InputsOfCorpusStep:
        """The text is made from the user's files, and references from the text and their own files.

        The other steps are made together, from the text and the subwords of the training text.

        Raises:
            UserError: if the corpus has no such test set.
        """
        description = configuration.corpus(self.corpus)
        if self.split not in test_names(description):
            raise UserError(
                f"{file_of('corpora', self.corpus)}: no test set '{self.split}'; "
                f"{hint(self.split, test_names(description))}"
            )
        if self.step == "text":
            return InputsOfCorpusStep(tuple(_sources(description, self.corpus, self.split)))
        text = StepOfTest(self.corpus, self.split, "text")
        if self.step == "references":
            files = _reference_files(description, self.corpus, [self.split])
            return InputsOfCorpusStep((text, *files))
        return InputsOfCorpusStep((text, CorpusStep(self.corpus, "bpe")))


StepOfSplit = CorpusStep | StepOfTest
"""A step of any split."""


def step_of(corpus: str, split: str, step: str) -> StepOfSplit:
    """A step of the preparation of a split."""
    if split in (TRAIN, VALID):
        return CorpusStep(corpus, step)
    return StepOfTest(corpus, split, step)


def _sources(description: Corpus, corpus: str, test: str | None = None) -> Iterator[Artifact]:
    parent = derived_from(description)
    if parent is not None:
        yield step_of(parent, test or TRAIN, "text")
    elif test is not None and is_cut_out(description, test):
        yield CorpusStep(corpus, "text")
    else:
        for key, path in local_files(text_part(description, test), Path()).items():
            yield File(str(path), f"{file_of('corpora', corpus)}: key '{key}'")


def _reference_files(description: Corpus, corpus: str, splits: Iterable[str]) -> Iterator[Artifact]:
    for key, path in local_references(part_of(description, splits), Path()).items():
        yield File(str(path), f"{file_of('corpora', corpus)}: key '{key}'")


def is_generated(configuration: Configuration, corpus: str) -> bool:
    """Whether a corpus is invented by this project rather than fetched."""
    return configuration.corpus(corpus).generator is not None


def references(configuration: Configuration, corpus: str, split: str) -> StepOfSplit | None:
    """Several references of sentences of a split; None for a split without them."""
    if not has_references(configuration.corpus(corpus), split):
        return None
    return step_of(corpus, split, "references")


def held_out(configuration: Configuration, corpus: str) -> list[str]:
    """The splits of a corpus besides the training text."""
    return [split for split in split_names(configuration.corpus(corpus)) if split != TRAIN]


# Texts made of translations


@dataclass(frozen=True)
class InputsOfDistilled(Inputs):
    """The raw text, and the teacher's translations of it."""

    corpus: CorpusStep
    translations: "Translations"


@dataclass(frozen=True)
class InputsOfPublished(Inputs):
    """The subwords of the raw text, and the folder of its text with a published translation."""

    corpus: CorpusStep
    text: CorpusStep


@dataclass(frozen=True)
class Distillation(Artifact):
    """Something made of the training text as a teacher translates it."""

    run: str
    corpus: str
    system: str
    seed: int
    decoding: str

    def inputs(self, configuration: Configuration) -> InputsOfDistilled | InputsOfPublished:
        """The subwords of the corpus and translations of its training text.

        The engine that translates is that of the run, see `Configuration.decoding_to_distil`.
        """
        if published_by(configuration, self.corpus, self.system) is not None:
            steps = (CorpusStep(self.corpus, step) for step in ("bpe", "text"))
            return InputsOfPublished(*steps)
        decoding = configuration.on(self.corpus).decoding_to_distil(self.decoding)
        return InputsOfDistilled(
            corpus=CorpusStep(self.corpus, "bpe"),
            translations=Translations(
                self.run, self.corpus, self.system, self.seed, decoding, "train"
            ),
        )


@dataclass(frozen=True)
class Distilled(Distillation):
    """The ids of a distilled text."""

    template = "results/{run}/distilled/{corpus}/{system}/seed{seed}/{decoding}/binarised"

    @property
    def text(self) -> "DistilledText":
        """Its subwords."""
        return DistilledText(**vars(self))

    @property
    def report(self) -> str:
        """The file that says what was distilled, and what was not."""
        return str(Path(self.path).with_name("distillation.json"))


@dataclass(frozen=True)
class DistilledText(Distillation):
    """The subwords of a distilled text."""

    template = "results/{run}/distilled/{corpus}/{system}/seed{seed}/{decoding}/text"


def published_by(configuration: Configuration, corpus: str, system: str) -> str | None:
    """The teacher whose published translations a corpus has in place of a system's own."""
    return next(
        (
            teacher
            for teacher in configuration.corpus(corpus).distilled
            if configuration.canonical(corpus, teacher) == system
        ),
        None,
    )


def target_text(run: str, corpus: str, text: Candidate) -> CorpusStep | Distilled:
    """The ids of a target side of the training text; that of a teacher has its seed."""
    if text.system is None:
        return CorpusStep(corpus, "binarised")
    assert text.seed is not None and text.decoding is not None
    return Distilled(run, corpus, text.system, text.seed, text.decoding)


@dataclass(frozen=True)
class InputsOfComparison(Inputs):
    """The subwords of the texts that are compared, in order."""

    texts: tuple["CorpusStep | DistilledText", ...]


@dataclass(frozen=True)
class _Compared(Artifact):
    run: str
    corpus: str
    candidates: str
    seed: int

    def texts(self, configuration: Configuration) -> tuple["CorpusStep | DistilledText", ...]:
        """Their subwords, in order.

        Raises:
            UserError: if no system compares texts of these names.
        """
        return tuple(
            CorpusStep(self.corpus, "bpe")
            if text.system is None
            else DistilledText(self.run, self.corpus, text.system, self.seed, str(text.decoding))
            for text in compared(configuration, self.corpus, self.candidates)
        )


@dataclass(frozen=True)
class ComparisonShard(_Compared):
    """A part of a comparison, from 1; it is removed when the parts are joined."""

    template = (
        "results/{run}/distilled/{corpus}/pairwise_bleu/{candidates}/seed{seed}/"
        "shards/{shard}of{shards}.npy"
    )
    shard: int
    shards: int

    def inputs(self, configuration: Configuration) -> InputsOfComparison:
        """The texts."""
        return InputsOfComparison(self.texts(configuration))


@dataclass(frozen=True)
class InputsOfComparisonMerge(InputsOfComparison):
    """The parts, in order, and the texts that they were made from.

    The parts are removed afterwards, so the comparison depends on these texts itself.
    """

    shards: tuple[ComparisonShard, ...]


@dataclass(frozen=True)
class Comparison(_Compared):
    """How alike several target sides of the training text are, sentence by sentence.

    `candidates` is made of their names with + between them, as in `at-base.beam5+raw`.
    """

    template = "results/{run}/distilled/{corpus}/pairwise_bleu/{candidates}/seed{seed}/bleu.npy"

    @property
    def report(self) -> str:
        """Means over the sentences."""
        return str(Path(self.path).with_name("pairwise_bleu.json"))

    def inputs(self, configuration: Configuration) -> InputsOfComparisonMerge:
        """The shards, in order, and the texts."""
        count = configuration.shards[TRAIN]
        shards = (
            ComparisonShard(**vars(self), shard=number, shards=count)
            for number in range(1, count + 1)
        )
        return InputsOfComparisonMerge(self.texts(configuration), tuple(shards))


def compared(configuration: Configuration, corpus: str, candidates: str) -> tuple[Candidate, ...]:
    """The texts of a comparison.

    Raises:
        UserError: if no system compares texts of these names.
    """
    known = comparisons(configuration.on(corpus))
    if candidates not in known:
        raise UserError(
            f"no system of config/systems compares the texts '{candidates}'; "
            f"{hint(candidates, known)}"
        )
    return known[candidates]


@cache
def comparisons(configuration: Configuration) -> dict[str, tuple[Candidate, ...]]:
    """The sets of texts that some system wants to be compared, by their names.

    Args:
        configuration: as it holds on a corpus, see `Configuration.on`.
    """
    found = {}
    for name in configuration.systems:
        texts = configuration.text(name).with_seed(configuration.teacher_seed).compared
        if texts:
            found[joined_names(texts)] = texts
    return found


@dataclass(frozen=True)
class InputsOfGamma(Inputs):
    """A split with several references, and its translations by the teachers, in order."""

    text: StepOfSplit
    references: StepOfSplit
    translations: tuple["Translations", ...]


@dataclass(frozen=True)
class TunedGamma(Artifact):
    """Weights of the candidates of dynamic distillation, tuned on several references."""

    template = "results/{run}/distilled/{corpus}/pairwise_bleu/{candidates}/seed{seed}/gamma.json"
    run: str
    corpus: str
    candidates: str
    seed: int

    def split(self, configuration: Configuration) -> str:
        """The split that they are tuned on: the first with several references, of valid and tests.

        Raises:
            UserError: if the corpus has none.
        """
        splits = held_out(configuration, self.corpus)
        for split in sorted(splits, key=lambda name: name != VALID):
            if references(configuration, self.corpus, split) is not None:
                return split
        raise UserError(
            f"{file_of('corpora', self.corpus)}: no split has several references, on which the "
            "weights of dynamic distillation could be tuned; add the key 'references' to one, or "
            "give numbers instead of 'gamma: tuned'"
        )

    def inputs(self, configuration: Configuration) -> InputsOfGamma:
        """Raw text and references of the split, and translations of it."""
        split = self.split(configuration)
        several = references(configuration, self.corpus, split)
        assert several is not None
        return InputsOfGamma(
            text=step_of(self.corpus, split, "text"),
            references=several,
            translations=tuple(
                Translations(
                    self.run, self.corpus, text.system, self.seed, str(text.decoding), split
                )
                for text in compared(configuration, self.corpus, self.candidates)
                if text.system is not None
            ),
        )


@dataclass(frozen=True)
class InputsOfNgrams(Inputs):
    """The text that n-grams are counted in."""

    text: Distilled


@dataclass(frozen=True)
class Ngrams(Artifact):
    """An n-gram language model of a distilled text."""

    template = "results/{run}/ngram/{corpus}/{system}/seed{seed}/{decoding}/order{order}.npz"
    run: str
    corpus: str
    system: str
    seed: int
    decoding: str
    order: int

    @property
    def report(self) -> str:
        """The file that describes each order of its n-grams."""
        return str(Path(self.path).with_suffix(".json"))

    def inputs(self, configuration: Configuration) -> InputsOfNgrams:
        """The distilled text."""
        return InputsOfNgrams(
            Distilled(self.run, self.corpus, self.system, self.seed, self.decoding)
        )


# Trainings


@dataclass(frozen=True)
class InputsOfTraining(Inputs):
    """What a training reads.

    Attributes:
        corpus: ids of the raw text.
        texts: ids of the target sides that it learns from, in the order of the key `text`.
        comparison: how alike these are, where the choice among them asks for it.
        gamma: weights of these in the choice, where they are tuned.
        start: the model whose weights it starts from, or the folder with one that was kept.
        teacher: the model that its objective consults.
    """

    corpus: CorpusStep
    texts: tuple[CorpusStep | Distilled, ...]
    comparison: Comparison | None
    gamma: TunedGamma | None
    start: "Model | KeptModel | None"
    teacher: "Model | None"


@dataclass(frozen=True)
class InputsOfImport(Inputs):
    """What a model is taken over from: a checkpoint, its dictionary and the vocabulary."""

    corpus: CorpusStep
    checkpoint: File
    dictionary: File


@dataclass(frozen=True)
class Training(Artifact):
    """A file that a training makes, or that stands for one of a model that is taken over."""

    run: str
    corpus: str
    system: str
    seed: int

    def inputs(self, configuration: Configuration) -> InputsOfTraining | InputsOfImport:
        """Texts and models, as the effective configuration names them, or a checkpoint.

        Raises:
            UserError: for a checkpoint on a corpus with separate vocabularies.
        """
        there = configuration.on(self.corpus)
        imported = there.system(self.system).imported
        if imported is None:
            return self.inputs_of_training(configuration)
        place = f"{there.file_of('systems', self.system)}: key 'imported"
        if configuration.corpus(self.corpus).has_separate_vocabularies:
            raise UserError(
                f"{place}': a published checkpoint has one dictionary for both languages, but "
                f"'{self.corpus}' has separate vocabularies; use a corpus with one number as "
                "'bpe_merges', or with 'subwords'"
            )
        return InputsOfImport(
            corpus=CorpusStep(self.corpus, "binarised"),
            checkpoint=File(imported.checkpoint, f"{place}.checkpoint'"),
            dictionary=File(imported.dictionary, f"{place}.dictionary'"),
        )

    def inputs_of_training(self, configuration: Configuration) -> InputsOfTraining:
        """Texts and models, as the effective configuration names them."""
        training = configuration.training(self.corpus, self.system)
        texts, teacher = training.text.compared, training.teacher
        comparison = gamma = None
        if texts:
            seed = next(each.seed for each in texts if each.seed is not None)
            comparison = Comparison(self.run, self.corpus, joined_names(texts), seed)
        if comparison is not None and training.text.is_tuned:
            gamma = TunedGamma(**vars(comparison))
        return InputsOfTraining(
            corpus=CorpusStep(self.corpus, "binarised"),
            texts=tuple(
                target_text(self.run, self.corpus, text) for text in training.text.candidates
            ),
            comparison=comparison,
            gamma=gamma,
            start=self._start(training.init_from),
            teacher=None
            if teacher is None
            else Model(self.run, self.corpus, teacher.system, teacher.seed),
        )

    def _start(self, start: Start | None) -> "Model | KeptModel | None":
        if start is None:
            return None
        names = self.run, self.corpus, start.system, self.seed
        return Model(*names) if start.kept is None else KeptModel(*names, start.kept)


@dataclass(frozen=True)
class Model(Training):
    """The weights of a trained system."""

    template = "results/{run}/models/{corpus}/{system}/seed{seed}/model.pt"

    @property
    def weights(self) -> str:
        """The file that holds them."""
        return self.path


@dataclass(frozen=True)
class KeptModel(Training):
    """The folder of the models that a training keeps on its way, and the name of one of them."""

    template = "results/{run}/models/{corpus}/{system}/seed{seed}/kept"
    kept: str

    @property
    def weights(self) -> str:
        """The file that holds it."""
        return f"{self.path}/{self.kept}.pt"


@dataclass(frozen=True)
class TrainingRecord(Training):
    """The record of a training that has ended."""

    template = "results/{run}/models/{corpus}/{system}/seed{seed}/training.json"


@dataclass(frozen=True)
class TrainingCurve(Training):
    """Losses and validations of a training over its updates."""

    template = "results/{run}/models/{corpus}/{system}/seed{seed}/training.csv"


@dataclass(frozen=True)
class InputsOfConversion(Inputs):
    """A model, and the folder with its vocabulary."""

    model: Model
    corpus: CorpusStep


@dataclass(frozen=True)
class Converted(Artifact):
    """The folder of a model in the format of another engine."""

    template = "results/{run}/models/{corpus}/{system}/seed{seed}/{engine}"
    run: str
    corpus: str
    system: str
    seed: int
    engine: str

    def inputs(self, configuration: Configuration) -> InputsOfConversion:
        """The model and the vocabulary."""
        return InputsOfConversion(
            Model(self.run, self.corpus, self.system, self.seed),
            CorpusStep(self.corpus, "binarised"),
        )


# Translations


@dataclass(frozen=True)
class InputsOfDecoding(Inputs):
    """What a decoding reads.

    Attributes:
        corpus: ids of the sources.
        model: that is decoded.
        assistant: the model that is consulted besides.
        language_model: n-grams that are consulted besides.
        tuned: options of the decoding that are tuned on the validation set.
        converted: the model in the format of the engine that runs it, where that is not PyTorch.
    """

    corpus: StepOfSplit
    model: Model
    assistant: Model | None
    language_model: Ngrams | None
    tuned: "TunedOptions | None"
    converted: Converted | None


@dataclass(frozen=True)
class _Decoded(Artifact):
    run: str
    corpus: str
    system: str
    seed: int
    decoding: str

    def inputs_of_decoding(self, configuration: Configuration, split: str) -> InputsOfDecoding:
        """The sources of a split, and the models.

        Raises:
            UserError: for a decoding that the system cannot do.
        """
        there = configuration.on(self.corpus)
        there.check_decoding(self.system, self.decoding)
        assistant, seed = there.assistant(self.decoding), there.teacher_seed
        names = self.run, self.corpus, self.system, self.seed
        engine = there.decoding_traits(self.decoding).converted
        return InputsOfDecoding(
            corpus=step_of(self.corpus, split, "binarised"),
            model=Model(*names),
            assistant=None if assistant is None else Model(self.run, self.corpus, assistant, seed),
            language_model=self._language_model(there),
            tuned=TunedOptions(*names, self.decoding) if there.is_tuned(self.decoding) else None,
            converted=None if engine is None else Converted(*names, engine),
        )

    def _language_model(self, configuration: Configuration) -> Ngrams | None:
        found = configuration.language_model(self.decoding)
        if found is None:
            return None
        seed = configuration.teacher_seed
        return Ngrams(self.run, self.corpus, found.system, seed, found.decoding, found.order)


@dataclass(frozen=True)
class InputsOfTuning(InputsOfDecoding):
    """What options of a decoding are tuned on: the validation set and its references, `text`."""

    text: StepOfSplit


@dataclass(frozen=True)
class TunedOptions(_Decoded):
    """The options with which a decoding translates the validation set best."""

    template = "results/{run}/tuning/{corpus}/{system}/seed{seed}/{decoding}.json"

    def inputs(self, configuration: Configuration) -> InputsOfTuning:
        """The validation set and the models.

        Raises:
            UserError: for a decoding that the system cannot do, or that has nothing to tune.
        """
        there = configuration.on(self.corpus)
        if not there.is_tuned(self.decoding):
            raise UserError(
                f"{there.file_of('decodings', self.decoding)}: there is nothing to tune without "
                "the key 'tuning'"
            )
        read = self.inputs_of_decoding(configuration, VALID)
        text = step_of(self.corpus, VALID, "text")
        return InputsOfTuning(**{**vars(read), "tuned": None, "text": text})


@dataclass(frozen=True)
class Shard(_Decoded):
    """A part of a translation, from 1; it is removed when the parts are joined."""

    template = (
        "results/{run}/translations/{corpus}/{system}/seed{seed}/{decoding}/"
        "shards/{split}.{shard}of{shards}.jsonl"
    )
    split: str
    shard: int
    shards: int

    def inputs(self, configuration: Configuration) -> InputsOfDecoding:
        """What the decoding reads."""
        return self.inputs_of_decoding(configuration, self.split)


@dataclass(frozen=True)
class InputsOfTranslations(InputsOfDecoding):
    """What a translation is made from.

    The shards are removed afterwards, so the translation depends on their inputs itself.
    """

    shards: tuple[Shard, ...]


def is_sharded(configuration: Configuration, split: str) -> bool:
    """Whether several jobs translate a split, and its score is a job of its own.

    The training text always counts as sharded, since its translations are distilled, not scored.
    """
    return split == TRAIN or configuration.shards[split] > 1


@dataclass(frozen=True)
class InputsOfEvaluation(InputsOfDecoding):
    """What translating a split and scoring the translations reads."""

    text: StepOfSplit
    tokens: StepOfSplit
    references: StepOfSplit | None
    training: TrainingRecord


@dataclass(frozen=True)
class _OfSplit(_Decoded):
    split: str

    def inputs_of_evaluation(self, configuration: Configuration) -> InputsOfEvaluation:
        """What a split that is not sharded is translated from, and compared with."""
        return InputsOfEvaluation(
            **vars(self.inputs_of_decoding(configuration, self.split)),
            **self._compared_with(configuration),
        )

    def _compared_with(self, configuration: Configuration) -> dict[str, Any]:
        return {
            "text": step_of(self.corpus, self.split, "text"),
            "tokens": step_of(self.corpus, self.split, "tokens"),
            "references": references(configuration, self.corpus, self.split),
            "training": TrainingRecord(self.run, self.corpus, self.system, self.seed),
        }


@dataclass(frozen=True)
class Translations(_OfSplit):
    """A translated split, with a summary beside it as JSON."""

    template = "results/{run}/translations/{corpus}/{system}/seed{seed}/{decoding}/{split}.jsonl"

    @property
    def summary(self) -> str:
        """How many sentences were decoded, and which were not."""
        return str(Path(self.path).with_suffix(".json"))

    def shards(self, configuration: Configuration) -> tuple[Shard, ...]:
        """Its parts, in order."""
        count = configuration.shards[self.split]
        return tuple(
            Shard(**vars(self), shard=number, shards=count) for number in range(1, count + 1)
        )

    def inputs(self, configuration: Configuration) -> InputsOfTranslations | InputsOfEvaluation:
        """Its shards, in order; without shards it is made together with its score."""
        if not is_sharded(configuration, self.split):
            return self.inputs_of_evaluation(configuration)
        return InputsOfTranslations(
            **vars(self.inputs_of_decoding(configuration, self.split)),
            shards=self.shards(configuration),
        )


@dataclass(frozen=True)
class Trace(_OfSplit):
    """What each pass of a decoding did to the sentences of a split that the browser shows."""

    template = "results/{run}/traces/{corpus}/{system}/seed{seed}/{decoding}/{split}.jsonl"

    def inputs(self, configuration: Configuration) -> InputsOfDecoding:
        """What the decoding reads.

        Raises:
            UserError: for a decoding that the system cannot do, or whose passes cannot be told.
        """
        there = configuration.on(self.corpus)
        if not there.is_traced(self.decoding):
            raise UserError(
                f"{there.file_of('decodings', self.decoding)}: '{self.decoding}' cannot tell what "
                "each of its passes does; ask for a decoding by one model whose method has `passes`"
            )
        return self.inputs_of_decoding(configuration, self.split)


# Measurements


@dataclass(frozen=True)
class InputsOfScore(Inputs):
    """What translations are compared with, and the record of the model that made them."""

    text: StepOfSplit
    tokens: StepOfSplit
    references: StepOfSplit | None
    translations: Translations
    training: TrainingRecord


@dataclass(frozen=True)
class _OfTranslations(_OfSplit):
    @property
    def translations(self) -> Translations:
        """What is measured."""
        return Translations(**vars(self))

    def inputs(self, configuration: Configuration) -> InputsOfScore | InputsOfEvaluation:
        """The translations and the references; or what both are made from in one job."""
        if not is_sharded(configuration, self.split):
            return self.inputs_of_evaluation(configuration)
        return InputsOfScore(translations=self.translations, **self._compared_with(configuration))


@dataclass(frozen=True)
class Score(_OfTranslations):
    """Measures of the translations of a split."""

    template = "results/{run}/scores/{corpus}/{system}/seed{seed}/{decoding}/{split}.json"

    @property
    def statistics(self) -> "Statistics":
        """The counts of each sentence that it is computed from."""
        return Statistics(**vars(self))


@dataclass(frozen=True)
class Statistics(_OfTranslations):
    """The counts of each sentence that a score is computed from."""

    template = "results/{run}/scores/{corpus}/{system}/seed{seed}/{decoding}/{split}.npz"


@dataclass(frozen=True)
class InputsOfAnalysis(Inputs):
    """What an analysis reads; `others` is what its module in `nat/analyses/needs` asks for."""

    corpus: CorpusStep
    tests: tuple[StepOfSplit, ...]
    model: Model | None
    others: tuple[Artifact, ...]


@dataclass(frozen=True)
class Analysis(Artifact):
    """A measurement other than a score of translations, by a module of `nat/analyses`.

    A module of the same name in `nat/analyses/needs` says what it needs: one that reads more than
    the model and the ids of the corpus has a function
    `reads(configuration, corpus, system, seed) -> Inputs`, one that does not read the model
    `READS_MODEL = False`, and one that cannot measure every system a function
    `check(configuration, system)`, which refuses the others. The graph of a run imports these
    modules alone, so neither torch nor anything else that an analysis computes with.
    """

    template = "results/{run}/analyses/{corpus}/{system}/seed{seed}/{analysis}.json"
    run: str
    corpus: str
    system: str
    seed: int
    analysis: str

    @property
    def model(self) -> Model:
        """What is analysed."""
        return Model(self.run, self.corpus, self.system, self.seed)

    def inputs(self, configuration: Configuration) -> InputsOfAnalysis:
        """The model, the corpus, and what the analysis asks for.

        Raises:
            UserError: if the analysis cannot measure the system, or not on this corpus.
        """
        module = importlib.import_module(f"nat.analyses.needs.{self.analysis}")
        if hasattr(module, "check"):
            module.check(configuration, self.system)
        others: tuple[Artifact, ...] = ()
        if hasattr(module, "reads"):
            needed = module.reads(configuration, self.corpus, self.system, self.seed)
            others = tuple(needed.artifacts())
        tests = tuple(
            step_of(self.corpus, split, "binarised")
            for split in test_names(configuration.corpus(self.corpus))
        )
        model = self.model if getattr(module, "READS_MODEL", True) else None
        return InputsOfAnalysis(CorpusStep(self.corpus, "binarised"), tests, model, others)


@dataclass(frozen=True)
class InputsOfTotalCorrelation(Inputs):
    """The likelihoods under both systems, and the exact value where the corpus has one."""

    parallel: Analysis
    autoregressive: Analysis
    summary: CorpusStep


@dataclass(frozen=True)
class TotalCorrelation(Artifact):
    """Conditional total correlation, by a parallel system and an autoregressive one (`other`)."""

    template = "results/{run}/total_correlation/{corpus}/{system}/{other}/seed{seed}.json"
    run: str
    corpus: str
    system: str
    other: str
    seed: int

    def inputs(self, configuration: Configuration) -> InputsOfTotalCorrelation:
        """Two analyses and the summary of the corpus.

        Raises:
            UserError: if it is not defined for these systems.
        """
        module = importlib.import_module("nat.measures.total_correlation")
        module.check(configuration, self.corpus, self.system, self.other)
        parallel, autoregressive = (
            Analysis(self.run, self.corpus, system, self.seed, "likelihood")
            for system in (self.system, self.other)
        )
        return InputsOfTotalCorrelation(
            parallel, autoregressive, CorpusStep(self.corpus, "corpus.json")
        )


TIMED = "test"
"""The split that latencies are measured on."""


@dataclass(frozen=True)
class Timed(_Decoded):
    """A system and the decoding that is timed, a row of a latency."""

    @property
    def name(self) -> str:
        """Both names, as in `at-base/beam5`."""
        return f"{self.system}/{self.decoding}"

    def inputs(self, configuration: Configuration) -> InputsOfDecoding:
        """What the decoding reads."""
        return self.inputs_of_decoding(configuration, TIMED)


@dataclass(frozen=True)
class InputsOfLatency(Inputs):
    """What the timed decodings read, each input once."""

    corpus: StepOfSplit
    models: tuple[Artifact, ...]


@dataclass(frozen=True)
class Latency(Artifact):
    """How long several decodings take, measured by turns in one job.

    `nat.papers.relation` finds the one of a table or figure.

    Attributes:
        group: the table or figure whose systems are measured together, as in `dims_table_1`.
        setting: a device and a batch, as in `cpu-1`.
        names: of what is timed, as in `at-base/beam5`.
    """

    template = "results/{run}/latency/{corpus}/{group}/seed{seed}/{setting}.json"
    run: str
    corpus: str
    group: str
    seed: int
    setting: str
    names: tuple[str, ...]

    @property
    def timed(self) -> list[Timed]:
        """What is timed."""
        pairs = (name.split("/") for name in self.names)
        return [
            Timed(self.run, self.corpus, system, self.seed, decoding) for system, decoding in pairs
        ]

    def inputs(self, configuration: Configuration) -> InputsOfLatency:
        """What the decodings read."""
        read = [part for each in self.timed for part in each.inputs(configuration).artifacts()]
        corpus = step_of(self.corpus, TIMED, "binarised")
        return InputsOfLatency(
            corpus, tuple(part for part in dict.fromkeys(read) if part != corpus)
        )


def with_inputs(configuration: Configuration, wanted: Iterable[Artifact]) -> list[Artifact]:
    """Artefacts and all that they are made from, each once."""
    found: dict[Artifact, None] = {}
    left = list(wanted)[::-1]
    while left:
        artifact = left.pop()
        if artifact not in found:
            found[artifact] = None
            left.extend(artifact.inputs(configuration).artifacts())
    return list(found)

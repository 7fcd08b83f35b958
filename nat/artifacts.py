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
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from nat.artifact import Artifact, File, Inputs
from nat.configuration import Configuration
from nat.configuration.file_names import file_of
from nat.data.candidates import Candidate, joined_names
from nat.data.corpus import Corpus
from nat.data.references import has_references
from nat.data.splits import (
    TRAIN,
    VALID,
    derived_from,
    folder_of,
    held_out,
    is_cut_out,
    local_files,
    part_of,
    test_names,
    text_part,
)
from nat.errors import UserError
from nat.options import hint

# Corpora

STEPS = ("text", "clean", "tokens", "bpe", "binarised", "corpus.json")
"""The steps of the preparation of a corpus, in order; beside the text are its `references`."""


class CorpusStep(Artifact):
    """A step of the preparation of a corpus: of a test set, or of all that trainings read.

    What trainings read is prepared step by step, a test set at once, with the same subwords.
    """

    corpus: str
    step: str
    split: str = TRAIN

    @property
    def path(self) -> str:
        """Its file or folder, which depends on the split."""
        return str(folder_of(self.corpus, self.split) / self.step)

    def _read(self, configuration: Configuration) -> Inputs:
        return Inputs(before=tuple(self._before(configuration.corpus(self.corpus))))

    def _before(self, corpus: Corpus) -> Iterable[Artifact]:
        test = None if self.split == TRAIN else self.split
        text, parent = replace(self, step="text"), derived_from(corpus)
        if self.step == "references":
            part = part_of(corpus, [TRAIN, VALID] if test is None else [test])
            return text, *self._kept(local_files(part, references=True))
        if self.step == "text" and parent is not None:
            return [replace(self, corpus=parent)]
        if self.step == "text" and test is not None and is_cut_out(corpus, test):
            return [CorpusStep(self.corpus, "text")]
        if self.step == "text":
            return self._kept(local_files(text_part(corpus, test)))
        if test is not None:
            return text, CorpusStep(self.corpus, "bpe")
        before = STEPS[: STEPS.index(self.step)]
        if self.step == "corpus.json":
            splits = TRAIN, *test_names(corpus)
            return [CorpusStep(self.corpus, step, split) for split in splits for step in before]
        last = replace(self, step=before[-1])
        # subwords that were learned elsewhere lie in the folder of the text
        return [text, last] if self.step == "bpe" and corpus.subwords is not None else [last]

    def _kept(self, files: Mapping[str, Path]) -> list[File]:
        where = file_of("corpora", self.corpus)
        return [File(str(path), f"{where}: key '{key}'") for key, path in files.items()]


def step_of(corpus: str, split: str, step: str) -> CorpusStep:
    """A step of the preparation of a split; `valid` is prepared with the training text."""
    return CorpusStep(corpus, step, TRAIN if split == VALID else split)


def is_generated(configuration: Configuration, corpus: str) -> bool:
    """Return True for a corpus that is invented by this project rather than fetched."""
    return configuration.corpus(corpus).generator is not None


def references(description: Corpus, corpus: str, split: str) -> CorpusStep | None:
    """Several references of sentences of a split; None for a split without them."""
    return step_of(corpus, split, "references") if has_references(description, split) else None


# Trainings


class OfSystem(Artifact):
    """What is made by or with a system that is trained with a seed."""

    run: str
    corpus: str
    system: str
    seed: int


class Training(OfSystem):
    """A file that a training makes, or that stands for one of a model that is taken over."""

    def inputs_of_training(self, configuration: Configuration) -> Inputs:
        """Texts and models, as the effective configuration names them.

        `texts` are ids of the target sides that it learns from; where it chooses among several,
        `comparison` says how alike these are and `gamma` weights them. It starts from the weights
        of `start`, a model or the folder of one that was kept. Its objective consults `teacher`.
        """
        training = configuration.training(self.corpus, self.system)
        text, start, teacher = training.text, training.init_from, training.teacher
        comparison = None
        if text.compared:
            seed = next(each.seed for each in text.compared if each.seed is not None)
            comparison = Comparison(self.run, self.corpus, joined_names(text.compared), seed)
        kind = KeptModel if start and start.kept else Model
        return Inputs(
            corpus=CorpusStep(self.corpus, "binarised"),
            texts=tuple(target_text(self.run, self.corpus, each) for each in text.candidates),
            comparison=comparison,
            gamma=TunedGamma(**vars(comparison)) if comparison and text.is_tuned else None,
            start=kind.of(vars(self), system=start.system, kept=start.kept) if start else None,
            teacher=Model.of(vars(self), **vars(teacher)) if teacher else None,
        )

    def _read(self, configuration: Configuration) -> Inputs:
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
        return Inputs(
            corpus=CorpusStep(self.corpus, "binarised"),
            checkpoint=File(imported.checkpoint, f"{place}.checkpoint'"),
            dictionary=File(imported.dictionary, f"{place}.dictionary'"),
        )


class Model(Training):
    """The weights of a trained system."""

    template = "results/{run}/models/{corpus}/{system}/seed{seed}/model.pt"

    @property
    def weights(self) -> str:
        """Path of the file that holds them."""
        return self.path


class KeptModel(Training):
    """The folder of the models that a training keeps on its way, and the name of one of them."""

    template = "results/{run}/models/{corpus}/{system}/seed{seed}/kept"
    kept: str

    @property
    def weights(self) -> str:
        """Path of the file that holds it."""
        return f"{self.path}/{self.kept}.pt"


class TrainingRecord(Training):
    """The record of a training that has ended."""

    template = "results/{run}/models/{corpus}/{system}/seed{seed}/training.json"


class TrainingCurve(Training):
    """Losses and validations of a training over its updates."""

    template = "results/{run}/models/{corpus}/{system}/seed{seed}/training.csv"


class Converted(OfSystem):
    """The folder of a model in the format of another engine."""

    template = "results/{run}/models/{corpus}/{system}/seed{seed}/{engine}"
    engine: str

    def _read(self, configuration: Configuration) -> Inputs:
        # the vocabulary lies with the ids of the corpus
        return Inputs(model=Model.of(vars(self)), corpus=CorpusStep(self.corpus, "binarised"))


# Texts made of translations


class OfDecoding(OfSystem):
    """What is made by or with a decoding of a system."""

    decoding: str


class DistilledText(OfDecoding):
    """The subwords of the training text as a teacher translates it.

    It is made of the subwords of the corpus and of translations by the engine of the run, see
    `Configuration.decoding_to_distil`; published translations lie in the folder of the raw text.
    """

    template = "results/{run}/distilled/{corpus}/{system}/seed{seed}/{decoding}/text"

    def _read(self, configuration: Configuration) -> Inputs:
        bpe = CorpusStep(self.corpus, "bpe")
        if published_by(configuration, self.corpus, self.system) is not None:
            return Inputs(corpus=bpe, text=CorpusStep(self.corpus, "text"))
        decoding = configuration.on(self.corpus).decoding_to_distil(self.decoding)
        translations = Translations.of(vars(self), decoding=decoding, split=TRAIN)
        return Inputs(corpus=bpe, translations=translations)


class Distilled(DistilledText):
    """The ids of a distilled text."""

    template = "results/{run}/distilled/{corpus}/{system}/seed{seed}/{decoding}/binarised"


def published_by(configuration: Configuration, corpus: str, system: str) -> str | None:
    """The teacher whose published translations a corpus has in place of a system's own."""
    teachers = configuration.corpus(corpus).distilled
    return next(
        (each for each in teachers if configuration.canonical(corpus, each) == system), None
    )


def target_text(
    run: str, corpus: str, text: Candidate, kind: type[DistilledText] = Distilled
) -> Artifact:
    """The ids or subwords of a target side of the training text; that of a teacher has its seed."""
    if text.system is None:
        return CorpusStep(corpus, "binarised" if kind is Distilled else "bpe")
    return kind.of(vars(text), run=run, corpus=corpus)


class Ngrams(OfDecoding):
    """An n-gram language model of a distilled text."""

    template = "results/{run}/ngram/{corpus}/{system}/seed{seed}/{decoding}/order{order}.npz"
    order: int

    def _read(self, configuration: Configuration) -> Inputs:
        return Inputs(text=Distilled.of(vars(self)))


class OfTexts(Artifact):
    """What is made of several texts; `candidates` joins their names, as in `at-base.beam5+raw`."""

    run: str
    corpus: str
    candidates: str
    seed: int

    def texts(self, configuration: Configuration) -> tuple[Candidate, ...]:
        """These texts, as a system that chooses among them has them."""
        there = configuration.on(self.corpus)
        known = (there.text(system).with_seed(self.seed).compared for system in there.systems)
        by_name = {joined_names(texts): texts for texts in known}
        if self.candidates not in by_name:
            near = hint(self.candidates, sorted(filter(None, by_name)))
            raise UserError(f"no system compares the texts '{self.candidates}'; {near}")
        return by_name[self.candidates]

    def _read(self, configuration: Configuration) -> Inputs:
        texts = self.texts(configuration)
        subwords = (target_text(self.run, self.corpus, each, DistilledText) for each in texts)
        return Inputs(texts=tuple(subwords))


class ComparisonShard(OfTexts):
    """A part of a comparison, from 1; it is removed when the parts are joined."""

    template = (
        "results/{run}/distilled/{corpus}/pairwise_bleu/{candidates}/seed{seed}/"
        "shards/{shard}of{shards}.npy"
    )
    shard: int
    shards: int


class Comparison(OfTexts):
    """How alike texts are, sentence by sentence."""

    template = "results/{run}/distilled/{corpus}/pairwise_bleu/{candidates}/seed{seed}/bleu.npy"

    def _read(self, configuration: Configuration) -> Inputs:
        # the shards are removed afterwards, so it depends on their inputs itself
        shards = _shards(vars(self), ComparisonShard, configuration.shards[TRAIN])
        return Inputs(super()._read(configuration), shards=shards)


class TunedGamma(OfTexts):
    """Weights of texts in dynamic distillation, tuned on several references of a split."""

    template = "results/{run}/distilled/{corpus}/pairwise_bleu/{candidates}/seed{seed}/gamma.json"

    def split(self, configuration: Configuration) -> str:
        """The first split with several references, of valid and tests.

        Raises:
            UserError: if the corpus has none.
        """
        description = configuration.corpus(self.corpus)
        for split in sorted(held_out(description), key=lambda name: name != VALID):
            if has_references(description, split):
                return split
        raise UserError(
            f"{file_of('corpora', self.corpus)}: no split has several references, on which the "
            "weights of dynamic distillation could be tuned; add the key 'references' to one, or "
            "give numbers instead of 'gamma: tuned'"
        )

    def _read(self, configuration: Configuration) -> Inputs:
        split = self.split(configuration)
        names = {"run": self.run, "corpus": self.corpus, "split": split}
        texts = [each for each in self.texts(configuration) if each.system is not None]
        return Inputs(
            text=step_of(self.corpus, split, "text"),
            references=step_of(self.corpus, split, "references"),
            translations=tuple(Translations.of(vars(text), **names) for text in texts),
        )


# Translations


class Decoded(OfDecoding):
    """What a decoding makes of a split, or how it is timed on it.

    `corpus` holds the ids of the sources. Besides the model, an `assistant` and the n-grams of a
    `language_model` may be consulted. Options may be `tuned` on the validation set. The model is
    `converted` where another engine than PyTorch runs it.
    """

    split: str

    def _read(self, configuration: Configuration) -> Inputs:
        there, decoding = configuration.on(self.corpus), self.decoding
        there.check_decoding(self.system, decoding)
        assistant, ngrams = there.assistant(decoding), there.language_model(decoding)
        engine, names = there.decoding_traits(decoding).converted, vars(self)
        of_teacher = {**names, "seed": there.teacher_seed}
        return Inputs(
            corpus=step_of(self.corpus, self.split, "binarised"),
            model=Model.of(names),
            assistant=Model.of(of_teacher, system=assistant) if assistant else None,
            language_model=Ngrams.of(of_teacher, **vars(ngrams)) if ngrams else None,
            tuned=TunedOptions.of(names) if there.is_tuned(decoding) else None,
            converted=Converted.of(names, engine=engine) if engine else None,
        )


class TunedOptions(OfDecoding):
    """The options with which a decoding translates the validation set best, by its `text`."""

    template = "results/{run}/tuning/{corpus}/{system}/seed{seed}/{decoding}.json"

    def _read(self, configuration: Configuration) -> Inputs:
        decoded = Decoded(**vars(self), split=VALID).inputs(configuration)
        return Inputs(decoded, tuned=None, text=step_of(self.corpus, VALID, "text"))


class Shard(Decoded):
    """A part of a translation, from 1; it is removed when the parts are joined."""

    template = (
        "results/{run}/translations/{corpus}/{system}/seed{seed}/{decoding}/"
        "shards/{split}.{shard}of{shards}.jsonl"
    )
    shard: int
    shards: int


class Trace(Decoded):
    """What each pass of a decoding did to the sentences of a split that the browser shows."""

    template = "results/{run}/traces/{corpus}/{system}/seed{seed}/{decoding}/{split}.jsonl"

    def _read(self, configuration: Configuration) -> Inputs:
        if not configuration.is_traced(self.decoding):
            where = configuration.file_of("decodings", self.decoding)
            raise UserError(f"{where}: '{self.decoding}' cannot tell its passes; name another")
        return super()._read(configuration)


class Evaluated(Decoded):
    """What is made of a split that is translated and scored, by one job unless it is sharded."""

    def _read(self, configuration: Configuration) -> Inputs:
        sharded = is_sharded(configuration, self.split)
        translations = Inputs(translations=Translations.of(vars(self)))
        return Inputs(
            translations if sharded else super()._read(configuration),
            text=step_of(self.corpus, self.split, "text"),
            tokens=step_of(self.corpus, self.split, "tokens"),
            references=references(configuration.corpus(self.corpus), self.corpus, self.split),
            training=TrainingRecord.of(vars(self)),
        )


class Translations(Evaluated):
    """A translated split, with a summary beside it as JSON."""

    template = "results/{run}/translations/{corpus}/{system}/seed{seed}/{decoding}/{split}.jsonl"

    @property
    def summary(self) -> str:
        """How many sentences were decoded, and which were not."""
        return str(Path(self.path).with_suffix(".json"))

    def _read(self, configuration: Configuration) -> Inputs:
        if not is_sharded(configuration, self.split):
            return super()._read(configuration)
        # the shards are removed afterwards, so it depends on their inputs itself
        shards = _shards(vars(self), Shard, configuration.shards[self.split])
        return Inputs(Decoded._read(self, configuration), shards=shards)


class Score(Evaluated):
    """Measures of the translations of a split."""

    template = "results/{run}/scores/{corpus}/{system}/seed{seed}/{decoding}/{split}.json"

    @property
    def translations(self) -> Translations:
        """What is measured."""
        return Translations(**vars(self))

    @property
    def statistics(self) -> "Statistics":
        """The counts of each sentence that it is computed from."""
        return Statistics(**vars(self))


class Statistics(Evaluated):
    """The counts of each sentence that a score is computed from."""

    template = "results/{run}/scores/{corpus}/{system}/seed{seed}/{decoding}/{split}.npz"


def is_sharded(configuration: Configuration, split: str) -> bool:
    """Return True if several jobs translate a split, and its score is a job of its own.

    The training text always counts as sharded, since its translations are distilled, not scored.
    """
    return split == TRAIN or configuration.shards[split] > 1


def _shards(names: Mapping[str, Any], kind: type[Artifact], count: int) -> tuple[Artifact, ...]:
    """The parts of the artefact of these names, in order."""
    return tuple(kind.of(names, shard=number, shards=count) for number in range(1, count + 1))


# Measurements


class Analysis(OfSystem):
    """A measurement other than a score of translations, by a module of `nat/analyses`.

    `nat.analyses.requirements` says which systems it can measure, and what it reads besides the
    model and the ids of the corpus.
    """

    template = "results/{run}/analyses/{corpus}/{system}/seed{seed}/{analysis}.json"
    analysis: str

    def _read(self, configuration: Configuration) -> Inputs:
        known = importlib.import_module("nat.analyses.requirements")
        requirements = known.REQUIREMENTS.get(self.analysis, known.Requirements())
        requirements.check(configuration, self)
        tests = test_names(configuration.corpus(self.corpus))
        return Inputs(
            corpus=CorpusStep(self.corpus, "binarised"),
            tests=tuple(step_of(self.corpus, split, "binarised") for split in tests),
            model=Model.of(vars(self)) if requirements.model else None,
            **requirements.reads(configuration, self),
        )


class TotalCorrelation(Artifact):
    """Conditional total correlation, by a parallel system and an autoregressive one (`other`).

    It is made of the likelihoods under both; the summary of the corpus may have the exact value.
    """

    template = "results/{run}/total_correlation/{corpus}/{system}/{other}/seed{seed}.json"
    run: str
    corpus: str
    system: str
    other: str
    seed: int

    def _read(self, configuration: Configuration) -> Inputs:
        module = importlib.import_module("nat.measures.total_correlation")
        module.check(configuration, self.corpus, self.system, self.other)
        return Inputs(
            parallel=Analysis.of(vars(self), analysis="likelihood"),
            autoregressive=Analysis.of(vars(self), system=self.other, analysis="likelihood"),
            summary=CorpusStep(self.corpus, "corpus.json"),
        )


TIMED = "test"
"""The split that latencies are measured on."""


class Latency(Artifact):
    """How long several decodings take, measured by turns in one job.

    They are those of a table or figure, the `group`, as in `dims_table_1`. The `setting` is a
    device and a batch, as in `cpu-1`. The names are as in `at-base/beam5`.
    """

    template = "results/{run}/latency/{corpus}/{group}/seed{seed}/{setting}.json"
    run: str
    corpus: str
    group: str
    seed: int
    setting: str
    names: tuple[str, ...]

    @property
    def timed(self) -> list[Decoded]:
        """What is timed, in the order of the names."""
        pairs = (name.split("/") for name in self.names)
        return [
            Decoded(self.run, self.corpus, system, self.seed, decoding, TIMED)
            for system, decoding in pairs
        ]

    def _read(self, configuration: Configuration) -> Inputs:
        corpus = step_of(self.corpus, TIMED, "binarised")
        read = [part for each in self.timed for part in each.inputs(configuration).artifacts()]
        models = tuple(part for part in dict.fromkeys(read) if part != corpus)
        return Inputs(corpus=corpus, models=models)

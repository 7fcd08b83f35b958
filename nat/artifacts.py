"""Every result of a run: where it lies, and what is read to make it.

    Score("demo", "toy-ka-lu", "nat-kd", 1, "one-pass", "test").path
    Model("demo", "toy-ka-lu", "nat-kd", 1).inputs(configuration).teacher

Corpora do not depend on the scale and lie at `results/corpora`. Everything else lies at
`results/{run}`, see `Configuration.run`.
"""

import importlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from nat.artifact import Artifact, CorpusStep, File, Inputs, references, step_of
from nat.configuration import Configuration
from nat.configuration.compatibility import check_decoding
from nat.configuration.files import file_of
from nat.configuration.runnable import decoding_to_distil, is_traced, published_by
from nat.data.candidates import TUNED, Candidate
from nat.data.corpus_parts import has_references
from nat.data.splits import MONOLINGUAL, TRAIN, VALID
from nat.errors import UserError

SYSTEM = "{corpus}/{system}/seed{seed}"
MODEL = "results/{run}/models/" + SYSTEM
DECODING = SYSTEM + "/{decoding}"
DISTILLED = "results/{run}/distilled/" + DECODING
TRANSLATED = "results/{run}/translations/" + DECODING
COMPARED = "results/{run}/distilled/{corpus}/pairwise_bleu/{candidates}/seed{seed}"


class OfSystem(Artifact):
    """Made by or with a system that is trained with a seed."""

    run: str
    corpus: str
    system: str
    seed: int


class OfTraining(OfSystem):
    """A file that a training makes, or that stands for one of a model that is taken over."""

    @property
    def weights(self) -> str:
        """Path of the file that holds the weights."""
        return self.path

    def inputs_of_training(self, configuration: Configuration) -> Inputs:
        """Target sides that it learns from, what it starts from, and whom its objective consults.

        Where it chooses among texts, `comparison` says how alike they are and `gamma` weights them.
        """
        training = configuration.training(self.corpus, self.system)
        text, start, teacher = training.text, training.init_from, training.teacher
        comparison, is_tuned = None, text.regulariser.get("gamma") == TUNED
        if text.compared:
            seed = next(each.seed for each in text.candidates if each.seed is not None)
            comparison = Comparison(self.run, self.corpus, text.compared, seed)
        kind = KeptModel if start and start.kept else Model
        return Inputs(
            corpus=CorpusStep(self.corpus, "binarised"),
            texts=tuple(target_text(self.run, self.corpus, each) for each in text.candidates),
            comparison=comparison,
            gamma=TunedGamma(**vars(comparison)) if comparison and is_tuned else None,
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
                f"{place}': a published checkpoint has one dictionary, but '{self.corpus}' has "
                "separate vocabularies; use a corpus with one number as 'bpe_merges'"
            )
        address, own = imported.address, File(imported.checkpoint, f"{place}.checkpoint'")
        return Inputs(
            corpus=CorpusStep(self.corpus, "binarised"),
            checkpoint=own if address is None else PublishedCheckpoint(address),
            dictionary=File(imported.dictionary, f"{place}.dictionary'"),
        )


class PublishedCheckpoint(Artifact, path="results/checkpoints/{address}"):
    """A checkpoint that its authors publish at this address, HOST/PATH."""

    address: str


class Model(OfTraining, path=MODEL + "/model.pt"):
    """The weights of a trained system."""


class KeptModel(OfTraining, path=MODEL + "/kept"):
    """The folder of the models that a training keeps on its way, and the name of one of them."""

    kept: str

    @property
    def weights(self) -> str:
        """Path of the file that holds it."""
        return f"{self.path}/{self.kept}.pt"


class TrainingRecord(OfTraining, path=MODEL + "/training.json"):
    """The record of a training that has ended."""


class TrainingCurve(OfTraining, path=MODEL + "/training.csv"):
    """Losses and validations of a training over its updates."""


class Converted(OfSystem, path=MODEL + "/{engine}"):
    """The folder of a model in the format of another engine."""

    engine: str

    def _read(self, configuration: Configuration) -> Inputs:
        # the vocabulary lies with the ids of the corpus
        return Inputs(model=Model.of(vars(self)), corpus=CorpusStep(self.corpus, "binarised"))


class OfDecoding(OfSystem):
    """Made by or with a decoding of a system."""

    decoding: str


class DistilledText(OfDecoding, path=DISTILLED + "/text"):
    """The subwords of the training text as a teacher translates it.

    The engine is that of the run; published translations lie in the folder of the raw text.
    """

    def _read(self, configuration: Configuration) -> Inputs:
        bpe = CorpusStep(self.corpus, "bpe")
        if published_by(configuration, self.corpus, self.system) is not None:
            return Inputs(corpus=bpe, text=CorpusStep(self.corpus, "text"))
        decoding = decoding_to_distil(configuration.on(self.corpus), self.decoding)
        translations = Translations.of(vars(self), decoding=decoding, split=TRAIN)
        return Inputs(corpus=bpe, translations=translations)


class Distilled(DistilledText, path=DISTILLED + "/binarised"):
    """The ids of a distilled text."""


class WithMonolingual(OfDecoding, path=DISTILLED + "/with_monolingual"):
    """The ids of both sides of a distilled text and of monolingual sentences after it."""

    def _read(self, configuration: Configuration) -> Inputs:
        decoding = decoding_to_distil(configuration.on(self.corpus), self.decoding)
        return Inputs(
            corpus=CorpusStep(self.corpus, "binarised"),
            text=Distilled.of(vars(self)),
            monolingual=CorpusStep(self.corpus, "binarised", MONOLINGUAL),
            translations=Translations.of(vars(self), decoding=decoding, split=MONOLINGUAL),
        )


def target_text(
    run: str, corpus: str, text: Candidate, kind: type[DistilledText] = Distilled
) -> Artifact:
    """The ids or subwords of a target side of the training text, or the ids of both sides."""
    if text.monolingual:
        return WithMonolingual.of(vars(text), run=run, corpus=corpus)
    if text.system is None:
        return CorpusStep(corpus, "binarised" if kind is Distilled else "bpe")
    return kind.of(vars(text), run=run, corpus=corpus)


class Ngrams(OfDecoding, path="results/{run}/ngram/" + DECODING + "/order{order}.npz"):
    """An n-gram language model of a distilled text."""

    order: int

    def _read(self, configuration: Configuration) -> Inputs:
        return Inputs(text=Distilled.of(vars(self)))


class OfTexts(Artifact):
    """Made of several texts; `candidates` joins their names, as in `at-base.beam5+raw`."""

    run: str
    corpus: str
    candidates: str
    seed: int

    def texts(self, configuration: Configuration) -> tuple[Candidate, ...]:
        """These texts, as a system that chooses among them has them."""
        there = configuration.on(self.corpus)
        for system in there.systems:
            text = there.system(system).text.with_seed(self.seed)
            if text.compared == self.candidates:
                return text.candidates
        raise UserError(f"no system compares the texts '{self.candidates}'")

    def _read(self, configuration: Configuration) -> Inputs:
        texts = self.texts(configuration)
        subwords = (target_text(self.run, self.corpus, each, DistilledText) for each in texts)
        return Inputs(texts=tuple(subwords))


class ComparisonShard(OfTexts, path=COMPARED + "/shards/{shard}of{shards}.npy"):
    """A part of a comparison, from 1; it is removed when the parts are joined."""

    shard: int
    shards: int


class Comparison(OfTexts, path=COMPARED + "/bleu.npy"):
    """Likeness of texts, sentence by sentence."""

    def _read(self, configuration: Configuration) -> Inputs:
        # the shards are removed afterwards, so it depends on their inputs itself
        shards = _shards(vars(self), ComparisonShard, configuration.scale_settings.shards.train)
        return Inputs(super()._read(configuration), shards=shards)


class TunedGamma(OfTexts, path=COMPARED + "/gamma.json"):
    """Weights of texts in dynamic distillation, tuned on the first split that has references."""

    def _read(self, configuration: Configuration) -> Inputs:
        description = configuration.corpus(self.corpus)
        splits = [split for split in description.held_out if has_references(description, split)]
        if not splits:
            raise UserError(
                f"{file_of('corpora', self.corpus)}: no split has several references to tune "
                "weights on; add the key 'references' to one, or give numbers instead of 'gamma: "
                "tuned'"
            )
        names = {"run": self.run, "corpus": self.corpus, "split": splits[0]}
        texts = [each for each in self.texts(configuration) if each.system]
        return Inputs(
            text=step_of(self.corpus, splits[0], "text"),
            references=step_of(self.corpus, splits[0], "references"),
            translations=tuple(Translations.of(vars(text), **names) for text in texts),
        )


class Decoded(OfDecoding):
    """Made by a decoding of a split, or a measure of its time.

    Options may be `tuned` on the validation set. The model is `converted` for other engines.
    """

    split: str

    def _read(self, configuration: Configuration) -> Inputs:
        there, decoding = configuration.on(self.corpus), self.decoding
        check_decoding(there, self.system, decoding)
        own = there.decoding_file(decoding)
        assistant, ngrams = own.assistant, own.language_model
        engine, names = there.decoding_traits(decoding).converted, vars(self)
        of_teacher = {**names, "seed": there.scale_settings.seeds[0]}
        return Inputs(
            corpus=step_of(self.corpus, self.split, "binarised"),
            model=Model.of(names),
            assistant=Model.of(of_teacher, system=assistant) if assistant else None,
            language_model=Ngrams.of(of_teacher, **vars(ngrams)) if ngrams else None,
            tuned=TunedOptions.of(names) if there.decoding_file(decoding).tuning else None,
            converted=Converted.of(names, engine=engine) if engine else None,
        )


class TunedOptions(OfDecoding, path="results/{run}/tuning/" + DECODING + ".json"):
    """The options with which a decoding translates the validation set best."""

    def _read(self, configuration: Configuration) -> Inputs:
        decoded = Decoded(**vars(self), split=VALID).inputs(configuration)
        return Inputs(decoded, tuned=None, text=step_of(self.corpus, VALID, "text"))


class Shard(Decoded, path=TRANSLATED + "/shards/{split}.{shard}of{shards}.jsonl"):
    """A part of a translation, from 1; it is removed when the parts are joined."""

    shard: int
    shards: int


class Trace(Decoded, path="results/{run}/traces/" + DECODING + "/{split}.jsonl"):
    """The passes of a decoding over the sentences of a split that the browser shows."""

    def _read(self, configuration: Configuration) -> Inputs:
        if not is_traced(configuration, self.decoding):
            where = configuration.file_of("decodings", self.decoding)
            raise UserError(f"{where}: '{self.decoding}' cannot tell its passes; name another")
        return super()._read(configuration)


class Evaluated(Decoded):
    """Results of a split that is translated and scored, by one job unless it is sharded."""

    def _read(self, configuration: Configuration) -> Inputs:
        whole = not is_sharded(configuration, self.split)
        translations = {"translations": Translations.of(vars(self))}
        return Inputs(
            super()._read(configuration) if whole else translations,
            text=step_of(self.corpus, self.split, "text"),
            tokens=step_of(self.corpus, self.split, "tokens"),
            references=references(configuration.corpus(self.corpus), self.corpus, self.split),
            training=TrainingRecord.of(vars(self)),
        )


class Translations(Evaluated, path=TRANSLATED + "/{split}.jsonl"):
    """A translated split, with a summary beside it as JSON."""

    @property
    def summary(self) -> str:
        """Counts of sentences that were and were not decoded."""
        return str(Path(self.path).with_suffix(".json"))

    def _read(self, configuration: Configuration) -> Inputs:
        if not is_sharded(configuration, self.split):
            return super()._read(configuration)
        shards = _shards(vars(self), Shard, configuration.scale_settings.shards.of(self.split))
        return Inputs(Decoded._read(self, configuration), shards=shards)


class Score(Evaluated, path="results/{run}/scores/" + DECODING + "/{split}.json"):
    """Measures of the translations of a split."""

    @property
    def translations(self) -> Translations:
        """The translations that are scored."""
        return Translations(**vars(self))

    @property
    def statistics(self) -> "Statistics":
        """The counts of each sentence that it is computed from."""
        return Statistics(**vars(self))


class Statistics(Evaluated, path="results/{run}/scores/" + DECODING + "/{split}.npz"):
    """The counts of each sentence that a score is computed from."""


def is_sharded(configuration: Configuration, split: str) -> bool:
    """Return True if several jobs translate a split, or nothing but trainings reads it."""
    return split in (TRAIN, MONOLINGUAL) or configuration.scale_settings.shards.of(split) > 1


def _shards(names: Mapping[str, Any], kind: type[Artifact], count: int) -> tuple[Artifact, ...]:
    """The parts of the artefact of these names, in order; they are removed when it is made."""
    return tuple(kind.of(names, shard=number, shards=count) for number in range(1, count + 1))


class Analysis(OfSystem, path="results/{run}/analyses/" + SYSTEM + "/{analysis}.json"):
    """A measurement by a module of `nat/analyses`, as `nat.analyses.requirements` says."""

    analysis: str

    def _read(self, configuration: Configuration) -> Inputs:
        requirements = importlib.import_module("nat.analyses.requirements")
        requirements.check(configuration, self)
        tests = configuration.corpus(self.corpus).test_names
        read = Inputs(
            corpus=CorpusStep(self.corpus, "binarised"),
            tests=tuple(step_of(self.corpus, split, "binarised") for split in tests),
            model=None if self.analysis in requirements.WITHOUT_MODEL else Model.of(vars(self)),
        )
        return Inputs(read, **requirements.reads(configuration, self))


class TotalCorrelation(
    OfSystem, path="results/{run}/total_correlation/{corpus}/{system}/{other}/seed{seed}.json"
):
    """Conditional total correlation, by a parallel system and an autoregressive one (`other`)."""

    other: str

    def _read(self, configuration: Configuration) -> Inputs:
        module = importlib.import_module("nat.measures.total_correlation")
        module.check(configuration, self.corpus, self.system, self.other)
        return Inputs(
            parallel=Analysis.of(vars(self), analysis="likelihood"),
            autoregressive=Analysis.of(vars(self), system=self.other, analysis="likelihood"),
            summary=CorpusStep(self.corpus, "corpus.json"),
        )


TIMED = "test"  # the split that latencies are measured on


class Latency(Artifact, path="results/{run}/latency/{corpus}/{group}/seed{seed}/{setting}.json"):
    """Times of the decodings of a table or figure, the `group`, take, measured by turns.

    A `setting` is a device and a batch, `cpu-1`; names are as in `at-base/beam5`.
    """

    run: str
    corpus: str
    group: str
    seed: int
    setting: str
    names: tuple[str, ...]

    @property
    def timed(self) -> list[Decoded]:
        """Decodings that are timed, in the order of the names."""
        pairs = (name.split("/") for name in self.names)
        run, corpus, seed = self.run, self.corpus, self.seed
        return [Decoded(run, corpus, system, seed, name, TIMED) for system, name in pairs]

    def _read(self, configuration: Configuration) -> Inputs:
        corpus = step_of(self.corpus, TIMED, "binarised")
        read = [part for each in self.timed for part in each.inputs(configuration).artifacts()]
        models = tuple(part for part in dict.fromkeys(read) if part != corpus)
        return Inputs(corpus=corpus, models=models)

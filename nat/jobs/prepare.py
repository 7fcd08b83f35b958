"""Jobs that make text: the steps of a corpus, and what is made of the translations of teachers."""

from functools import partial
from pathlib import Path
from typing import Any

from nat.artifacts import (
    Comparison,
    ComparisonShard,
    CorpusStep,
    Distilled,
    Ngrams,
    Translations,
    WithMonolingual,
)
from nat.data.binarised import BinarisedText, binarise_folder
from nat.data.clean import filter_folder
from nat.data.corpus import Corpus
from nat.data.corpus_parts import part_of
from nat.data.distilled import distil, of_published, of_teacher
from nat.data.flags import read_flags, sentence
from nat.data.likeness import REPORT
from nat.data.monolingual import KINDS, add_monolingual, prepare_monolingual
from nat.data.splits import GIVEN, TRAIN, VALID
from nat.data.subwords import apply_bpe as apply_learned
from nat.data.subwords import bpe_folder
from nat.data.summary import summarise, told
from nat.data.translations import merge_shards
from nat.distillation import pairwise_bleu
from nat.files import write_json
from nat.job import Job
from nat.language_model.ngram import estimate_from
from nat.measures import bleu, perfect
from nat.program import Progress
from nat.registry import describe

Step = Job[CorpusStep]
TOGETHER = (TRAIN, VALID)  # what trainings read, which is prepared at once


def _before(job: Step) -> Path:
    """The folder of the step before."""
    return Path(job.inputs.before[-1].path)


def filter_text(job: Step) -> None:
    """Clean the training text, or tokenise it: the step is that of the job."""
    step: Any = job.artifact.step
    filter_folder(step, part_of(job.corpus, TOGETHER), _before(job), job.path, job.processes)


def apply_bpe(job: Step) -> None:
    """Learn and apply subwords."""
    bpe_folder(part_of(job.corpus, TOGETHER), _before(job), job.path, job.processes)
    _tell_flags(job.artifact.corpus, job.path / REPORT)


def _tell_flags(name: str, report: Path) -> None:
    """Say what the report of a step has noticed."""
    for flag in read_flags(report):
        Progress(name, 0, "lines").say(sentence(flag))


def binarise(job: Step) -> None:
    """Binarise the training text."""
    binarise_folder(part_of(job.corpus, TOGETHER), _before(job), job.path)


def prepare_test_set(job: Step) -> None:
    """Make all steps of a test set, with the subwords learned from the training text."""
    prepare_split(job.corpus, job.artifact.split, job.path.parent, _before(job))
    _tell_flags(job.artifact.corpus, job.path.parent / "bpe" / REPORT)


def prepare_split(corpus: Corpus, split: str, folder: Path, learned: Path) -> None:
    """Write the folders `clean`, `tokens`, `bpe` and `binarised` beside the `text` of a test set.

    `learned` is the folder `bpe` of the training text. Raises as `nat.measures.perfect.measure`.
    """
    part = part_of(corpus, [split])
    filter_folder("clean", part, folder / "text", folder / "clean")
    filter_folder("tokens", part, folder / "clean", folder / "tokens")
    apply_learned(part, folder / "tokens", learned, folder / "bpe")
    binarise_folder(part, folder / "bpe", folder / "binarised")
    perfect.measure(corpus, split, folder)


def prepare_sentences(job: Step) -> None:
    """Prepare the monolingual text, with the subwords learned from the training text."""
    text, learned = (Path(each.path) for each in job.inputs.before)
    report = prepare_monolingual(job.corpus, text, learned, job.path, job.processes)
    name = f"{job.artifact.corpus}, monolingual"
    left_out = ", ".join(f"{n:,} {KINDS[reason]}" for reason, n in report["dropped"].items())
    said = f"{report['kept']:,} of {report['read']:,} sentences are kept"
    Progress(name, 0, "lines").say(f"{said}; left out: {left_out}" if left_out else said)


def extend_text(job: Job[WithMonolingual]) -> None:
    """Add monolingual sentences and their translations to a distilled text."""
    inputs = job.inputs
    read = (inputs.corpus, inputs.text, inputs.monolingual, inputs.translations)
    binarised, distilled, monolingual, translations = (Path(each.path) for each in read)
    add_monolingual(job.corpus, binarised, distilled, monolingual, translations, job.path)


def summarise_corpus(job: Step) -> None:
    """Summarise a corpus, and say what a reader should know about it."""
    name = job.artifact.corpus
    summary = summarise(job.corpus, job.path.parent)
    write_json(job.path, summary)
    for line in told(summary):
        Progress(name, 0, "lines").say(line)


def merge_translations(job: Job[Translations]) -> None:
    """Join the shards of a translated text into one file that is complete and in order."""
    source = Path(job.inputs.corpus.path) / f"{job.artifact.split}.{job.corpus.source}"
    shards = [Path(shard.path) for shard in job.inputs.shards]
    merge_shards(shards, len(BinarisedText(source)), job.path)


def distil_text(job: Job[Distilled]) -> None:
    """Make distilled text of a teacher's translations, or of translations from elsewhere."""
    inputs, corpus, teacher = job.inputs, job.corpus, job.configuration.published
    bpe = Path(inputs.corpus.path)
    if teacher is None:
        decoding, origin = inputs.translations.decoding, Path(inputs.translations.path)
        method = job.configuration.decodings[decoding].method
        engine = describe("decoding", method).converted or "pytorch"
        made_by = {"decoding": decoding, "engine": engine}
        distil(corpus, bpe, of_teacher(origin), origin, job.path.parent, made_by)
        return
    origin = Path(inputs.text.path) / GIVEN / f"{teacher}.{corpus.target}"
    published = of_published(origin, corpus, bpe, corpus.distilled[teacher].segmented)
    distil(corpus, bpe, published, origin, job.path.parent)
    _tell_flags(job.artifact.corpus, job.path.with_name("distillation.json"))


def compare_texts(job: Job[ComparisonShard]) -> None:
    """Compare versions of a shard of the training text."""
    shard, texts = job.artifact, [Path(text.path) for text in job.inputs.texts]
    in_units = partial(bleu.split, unit=job.corpus.unit)
    place = job.path, shard.shard, shard.shards
    pairwise_bleu.compare_texts(job.corpus, texts, *place, in_units)


def merge_compared(job: Job[Comparison]) -> None:
    """Join the comparisons of the shards of a training text."""
    shards = [Path(shard.path) for shard in job.inputs.shards]
    report = job.path.with_name("pairwise_bleu.json")
    pairwise_bleu.merge_comparisons(shards, job.artifact.candidates.split("+"), job.path, report)


def estimate_ngrams(job: Job[Ngrams]) -> None:
    """Estimate an n-gram language model of a distilled training text."""
    made = job.artifact
    estimate_from(Path(job.inputs.text.path), job.corpus.target, made.order, job.path)

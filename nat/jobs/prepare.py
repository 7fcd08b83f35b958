"""Jobs that make text: the steps of a corpus, and what is made of the translations of teachers."""

from collections.abc import Iterable
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
from nat.data.flags import Flag, read_flags, sentence
from nat.data.likeness import REPORT
from nat.data.monolingual import KINDS, add_monolingual, prepare_monolingual
from nat.data.splits import GIVEN, TRAIN, together_with
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


def _tell(corpus: str, flags: Iterable[Flag]) -> None:
    """Say what a step has noticed."""
    for flag in flags:
        Progress(corpus, 0, "lines").say(sentence(flag))


def prepare_step(job: Job[CorpusStep]) -> None:
    """Clean or tokenise the training text, learn and apply its subwords, or binarise it."""
    step: Any = job.artifact.step
    part = part_of(job.corpus, together_with(TRAIN))
    before = Path(job.inputs.before[-1].path)
    if step == "bpe":
        bpe_folder(part, before, job.path, job.processes)
        _tell(job.artifact.corpus, read_flags(job.path / REPORT))
    elif step == "binarised":
        binarise_folder(part, before, job.path)
    else:
        filter_folder(step, part, before, job.path, job.processes)


def prepare_test_set(job: Job[CorpusStep]) -> None:
    """Make all steps of a test set, with the subwords learned from the training text."""
    folder, learned = job.path.parent, Path(job.inputs.before[-1].path)
    prepare_split(job.corpus, job.artifact.split, folder, learned)
    _tell(job.artifact.corpus, read_flags(folder / "bpe" / REPORT))


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


def summarise_corpus(job: Job[CorpusStep]) -> None:
    """Summarise a corpus, and say what a reader should know about it."""
    summary = summarise(job.corpus, job.path.parent)
    write_json(job.path, summary)
    for line in told(summary):
        Progress(job.artifact.corpus, 0, "lines").say(line)


def prepare_sentences(job: Job[CorpusStep]) -> None:
    """Prepare the monolingual text, and say how much of it is kept."""
    text, learned = (Path(each.path) for each in job.inputs.before)
    report = prepare_monolingual(job.corpus, text, learned, job.path, job.processes)
    left_out = ", ".join(f"{n:,} {KINDS[reason]}" for reason, n in report["dropped"].items())
    said = f"{report['kept']:,} of {report['read']:,} sentences are kept"
    said += f"; left out: {left_out}" if left_out else ""
    Progress(f"{job.artifact.corpus}, monolingual", 0, "lines").say(said)


def merge_translations(job: Job[Translations]) -> None:
    """Join the shards of a translated text."""
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
    report = distil(corpus, bpe, published, origin, job.path.parent)
    _tell(job.artifact.corpus, report.get("flags", []))


def extend_text(job: Job[WithMonolingual]) -> None:
    """Add monolingual sentences and their translations to a distilled text."""
    inputs = job.inputs
    read = (inputs.corpus, inputs.text, inputs.monolingual, inputs.translations)
    binarised, distilled, monolingual, translations = (Path(each.path) for each in read)
    add_monolingual(job.corpus, binarised, distilled, monolingual, translations, job.path)


def compare_texts(job: Job[ComparisonShard]) -> None:
    """Compare versions of a shard of the training text."""
    shard, texts = job.artifact, [Path(text.path) for text in job.inputs.texts]
    in_units = partial(bleu.split, unit=job.corpus.unit)
    pairwise_bleu.compare_texts(job.corpus, texts, job.path, shard.shard, shard.shards, in_units)


def merge_compared(job: Job[Comparison]) -> None:
    """Join the comparisons of all shards of the training text."""
    shards, names = job.inputs.shards, job.artifact.candidates.split("+")
    paths, report = [Path(shard.path) for shard in shards], job.path.with_name("pairwise_bleu.json")
    pairwise_bleu.merge_comparisons(paths, names, job.path, report)


def estimate_ngrams(job: Job[Ngrams]) -> None:
    """Estimate an n-gram language model of a distilled training text."""
    text, order = Path(job.inputs.text.path), job.artifact.order
    estimate_from(text, job.corpus.target, order, job.path)

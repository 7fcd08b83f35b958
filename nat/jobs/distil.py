"""Distilled text: from a teacher's translations or from elsewhere, and what is made of it."""

from pathlib import Path

from nat.artifacts import ComparisonShard, Distilled, Ngrams
from nat.data.distilled import distil, of_published, of_teacher
from nat.data.splits import sides
from nat.data.text import GIVEN
from nat.distillation import pairwise_bleu
from nat.job import Job
from nat.language_model.ngram import estimate_from


def distil_text(job: Job[Distilled]) -> None:
    """Write a distilled text and its report.

    Raises:
        UserError: if the translations do not belong to the training text, line by line.
    """
    inputs, corpus = job.inputs, job.corpus
    bpe = Path(inputs.corpus.path)
    teacher = job.configuration.published
    if teacher is None:
        decoding, origin = inputs.translations.decoding, Path(inputs.translations.path)
        engine = job.configuration.decodings[decoding].traits.converted or "pytorch"
        made_by = {"decoding": decoding, "engine": engine}
        distil(corpus, bpe, of_teacher(origin), origin, job.path.parent, made_by)
        return
    origin = Path(inputs.text.path) / GIVEN / f"{teacher}.{corpus.target}"
    published = of_published(origin, corpus, bpe, corpus.distilled[teacher].segmented)
    distil(corpus, bpe, published, origin, job.path.parent)


def compare_texts(job: Job[ComparisonShard]) -> None:
    """Compare versions of a shard of the training text."""
    texts = [Path(text.path) for text in job.inputs.texts]
    shard = job.artifact
    pairwise_bleu.compare_texts(job.corpus, texts, job.path, shard.shard, shard.shards)


def estimate_ngrams(job: Job[Ngrams]) -> None:
    """Estimate an n-gram language model of a distilled training text."""
    _, target = sides(job.corpus)
    text, report = Path(job.inputs.text.path), job.path.with_suffix(".json")
    estimate_from(text, target, job.artifact.order, job.path, report)

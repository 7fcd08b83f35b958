"""Distilled text: from a teacher's translations or from elsewhere, and what is made of it."""

from pathlib import Path

from nat.artifacts import ComparisonShard, Distilled, DistilledText, Ngrams
from nat.data.distilled import distil, distil_published
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
    text, binarised = Path(DistilledText(**vars(job.artifact)).path), job.path
    outputs = text, binarised, binarised.with_name("distillation.json")
    teacher = job.configuration.published
    if teacher is None:
        translations = inputs.translations
        traits = job.configuration.decodings[translations.decoding].traits
        engine = traits.converted or "pytorch"
        made_by = {"decoding": translations.decoding, "engine": engine}
        distil(corpus, bpe, Path(translations.path), *outputs, made_by)
        return
    published = Path(inputs.text.path) / GIVEN / f"{teacher}.{corpus.target}"
    distil_published(corpus, bpe, published, corpus.distilled[teacher].segmented, *outputs)


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

"""A distilled text from the files of a run, or from one that the corpus has from elsewhere."""

from pathlib import Path

from nat.artifacts import Distilled, DistilledText
from nat.data.distilled import distil, distil_published
from nat.data.text import GIVEN
from nat.job import Job


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

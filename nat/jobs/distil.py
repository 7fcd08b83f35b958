"""A distilled text from the files of a run, or from one that the corpus has from elsewhere."""

from pathlib import Path

from nat.artifacts import Distilled, DistilledText, published_by
from nat.configuration import Configuration
from nat.data.distilled import distil, distil_published
from nat.data.text import GIVEN


def distil_text(configuration: Configuration, distilled: Distilled) -> None:
    """Write a distilled text and its report.

    Raises:
        UserError: if the translations do not belong to the training text, line by line.
    """
    inputs = distilled.inputs(configuration)
    corpus = configuration.corpus(distilled.corpus)
    bpe = Path(inputs.corpus.path)
    text, binarised = Path(DistilledText(**vars(distilled)).path), Path(distilled.path)
    outputs = text, binarised, binarised.with_name("distillation.json")
    teacher = published_by(configuration, distilled.corpus, distilled.system)
    if teacher is None:
        translations = inputs.translations
        engine = configuration.decoding_traits(translations.decoding).converted or "pytorch"
        made_by = {"decoding": translations.decoding, "engine": engine}
        distil(corpus, bpe, Path(translations.path), *outputs, made_by)
        return
    published = Path(inputs.text.path) / GIVEN / f"{teacher}.{corpus.target}"
    distil_published(corpus, bpe, published, corpus.distilled[teacher].segmented, *outputs)

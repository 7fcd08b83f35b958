"""What the analysis `reference_distances` reads instead of a model."""

from nat.artifacts import CorpusStep, Inputs, Translations, held_out, references, step_of
from nat.configuration import Configuration
from nat.data.corpus import Corpus
from nat.errors import UserError

READS_MODEL = False


def splits_with_references(description: Corpus, corpus: str) -> dict[str, CorpusStep]:
    """The references of each split that has several."""
    return {
        split: several
        for split in held_out(description)
        if (several := references(description, corpus, split)) is not None
    }


def reads(configuration: Configuration, corpus: str, system: str, seed: int) -> Inputs:
    """Texts and references of `splits_with_references`, and the teacher's translations, if any.

    Without such a split, nothing is measured.

    Raises:
        UserError: if the system chooses among texts.
    """
    texts = configuration.training(corpus, system).text.candidates
    if len(texts) > 1:
        raise UserError(
            f"{configuration.file_of('systems', system)}: key 'text': distances to references are "
            "those of one text, raw or distilled, not of a choice"
        )
    splits = splits_with_references(configuration.corpus(corpus), corpus)
    [text] = texts
    translations: tuple[Translations, ...] = ()
    if text.system is not None:
        assert text.seed is not None
        names = configuration.run, corpus, text.system, text.seed, str(text.decoding)
        translations = tuple(Translations(*names, split) for split in splits)
    raw = tuple(step_of(corpus, split, "text") for split in splits)
    return Inputs(texts=raw, translations=translations, references=tuple(splits.values()))

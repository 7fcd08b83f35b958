"""What the analysis `reference_distances` reads instead of a model."""

from dataclasses import dataclass

from nat.artifacts import Inputs, StepOfSplit, Translations, held_out, references, step_of
from nat.configuration import Configuration
from nat.errors import UserError

READS_MODEL = False


@dataclass(frozen=True)
class Others(Inputs):
    """What is compared, of the splits with several references.

    Attributes:
        texts: raw text of these splits, as `splits_with_references` lists them.
        translations: by the teacher; none for raw text.
        references: of these splits.
    """

    texts: tuple[StepOfSplit, ...]
    translations: tuple[Translations, ...]
    references: tuple[StepOfSplit, ...]


def splits_with_references(configuration: Configuration, corpus: str) -> dict[str, StepOfSplit]:
    """The references of each split that has several."""
    return {
        split: several
        for split in held_out(configuration, corpus)
        if (several := references(configuration, corpus, split)) is not None
    }


def reads(configuration: Configuration, corpus: str, system: str, seed: int) -> Others:
    """The texts and references; none where no split has several, and nothing is measured.

    Raises:
        UserError: if the system chooses among texts.
    """
    texts = configuration.training(corpus, system).text.candidates
    if len(texts) > 1:
        raise UserError(
            f"{configuration.file_of('systems', system)}: key 'text': distances to references are "
            "those of one text, raw or distilled, not of a choice"
        )
    splits = splits_with_references(configuration, corpus)
    [text] = texts
    translations: tuple[Translations, ...] = ()
    if text.system is not None:
        assert text.seed is not None
        names = configuration.run, corpus, text.system, text.seed, str(text.decoding)
        translations = tuple(Translations(*names, split) for split in splits)
    raw = tuple(step_of(corpus, split, "text") for split in splits)
    return Others(raw, translations, tuple(splits.values()))

"""Converting a model for another program: from the files of a run to a folder."""

from pathlib import Path

from nat.artifacts import Converted
from nat.configuration import Configuration
from nat.data.vocabulary import Vocabulary
from nat.export.ctranslate2 import write_ctranslate2
from nat.training.trained_model import matching_model


def convert_model(configuration: Configuration, converted: Converted) -> None:
    """Convert a model for CTranslate2.

    Raises:
        UserError: if a file is missing, files do not belong together, or CTranslate2 cannot run
            the model; nothing is written.
    """
    inputs = converted.inputs(configuration)
    vocabulary = Vocabulary.load(Path(inputs.corpus.path) / "vocabulary.txt")
    model = matching_model(inputs.model, configuration, len(vocabulary))
    write_ctranslate2(model, vocabulary.symbols, Path(converted.path))

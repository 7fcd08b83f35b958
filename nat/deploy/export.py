"""A trained model in the format of another program, with its subwords."""

import shutil
from pathlib import Path

from nat.data.vocabulary import Vocabulary
from nat.deploy.package import MODEL, VOCABULARY, open_folder
from nat.deploy.translator import matching
from nat.errors import UserError
from nat.files import atomic_directory
from nat.jobs.convert import WRITERS
from nat.transformer.model import Transformer


def export(folder: Path, output: Path, engine: str) -> None:
    """Write a trained model for another engine.

    Args:
        folder: of a package or of a training, see `nat.deploy.package.open_folder`.
        output: folder to make: what the engine opens, and the file that splits tokens into
            subwords.
        engine: one of `nat.registry.ENGINES`.

    Raises:
        UserError: if something is missing, or the engine cannot run the model; nothing is written.
    """
    opened = open_folder(folder)
    vocabulary = Vocabulary.load(opened.files[VOCABULARY])
    model = matching(opened.files[MODEL], vocabulary, "cpu")
    if not isinstance(model, Transformer):
        raise UserError(
            f"{folder}: models of fairseq's own are not exported; only fairseq runs them"
        )
    with atomic_directory(output) as temporary:
        made = temporary / engine
        WRITERS[engine](model, vocabulary.symbols, made)
        for path in made.iterdir():
            path.rename(temporary / path.name)
        made.rmdir()
        subwords = opened.package.subwords
        shutil.copyfile(opened.files[subwords], temporary / subwords)

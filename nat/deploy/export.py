"""A trained model in the format of another program, with its subwords."""

from collections.abc import Sequence
from pathlib import Path

from nat.data.splits import sides
from nat.deploy.package import MODEL, chosen, scores_of
from nat.deploy.translator import matching
from nat.errors import UserError
from nat.export.fairseq import write_fairseq
from nat.export.huggingface import write_huggingface
from nat.files import atomic_directory, check_replaceable, copy
from nat.jobs.convert import WRITERS
from nat.training.model_file import load_model
from nat.transformer.model import Transformer


def export(folder: Path, output: Path, to: str, decodings: Sequence[str] = ()) -> None:
    """Write a trained model for another program.

    Args:
        folder: of a package or of a training, see `nat.deploy.package.open_folder`.
        output: folder to make: what the program opens, and the file that splits tokens into
            subwords.
        to: one of `nat.deploy.command.FORMATS`.
        decodings: that the export can do, as for `nat.deploy.package.packed`; read for fairseq and
            huggingface.

    Raises:
        UserError: if something is missing, the program cannot run the model, or the folder to make
            holds something else; nothing is written.
    """
    check_replaceable(output)
    opened = chosen(folder, decodings)
    package = opened.package
    vocabularies = opened.vocabularies
    model = matching(opened.files[MODEL], vocabularies.sizes, "cpu")
    if not isinstance(model, Transformer):
        raise UserError(
            f"{folder}: models of fairseq's own are not exported; only fairseq runs them"
        )
    with atomic_directory(output) as temporary:
        made = temporary / to
        if to in ("fairseq", "huggingface"):
            methods = {
                name: decoding.method.as_json()
                for name, decoding in package.decodings.items()
                if not decoding.files
            }
            if not methods:
                raise UserError(
                    f"{folder}: none of the decodings {', '.join(package.decodings)} works with "
                    "the model alone; name another one with --decodings"
                )
            trained = load_model(opened.files[MODEL])
            if to == "fairseq":
                write_fairseq(trained, vocabularies, sides(package.text), methods, made)
            else:
                subwords = opened.files[package.subwords]
                scores = [score for score in scores_of(folder) if score.get("decoding") in methods]
                write_huggingface(
                    trained, vocabularies, package.text, subwords, methods, scores, made
                )
        else:
            WRITERS[to](model, vocabularies, made)
        for path in made.iterdir():
            path.rename(temporary / path.name)
        made.rmdir()
        copy(opened.files[package.subwords], temporary / package.subwords)

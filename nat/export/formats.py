"""A trained model in the format of another program, with its subwords and its preprocessing."""

import importlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from nat.artifacts import Converted
from nat.data.vocabulary import BLANK, EOS, MASK, PAD, Vocabularies
from nat.decoding.network import never_chosen
from nat.errors import UserError
from nat.export.guide import PROGRAMS, search_of, sizes, write_guide
from nat.export.package import MODEL, check_output, open_folder
from nat.extras import extras_named
from nat.files import atomic_directory, copy, write_json
from nat.job import Job
from nat.training.model_file import WEIGHTS, TrainedModel, checksum_of, load_model, matching_model
from nat.traits import ENGINES, KINDS
from nat.transformer.length import ConstantLength
from nat.transformer.model import Transformer

CORPUS = "corpus.json"
"""File of languages and preprocessing in an export."""


def writer(to: str) -> Callable[..., str]:
    """Return the function that writes a model for a program; its packages may be an extra."""
    with extras_named():
        module = importlib.import_module(f"nat.export.{to}")
    write: Callable[..., str] = getattr(module, f"write_{to}")
    return write


def convert(
    engine: str,
    model: Transformer,
    vocabularies: Vocabularies,
    folder: Path,
    facts: Mapping[str, Any] | None = None,
) -> str:
    """Write a model in the format of an engine to a folder; returns what was checked.

    `facts` are keys of its `model.json` besides those that a program needs of a model. Raises a
    `UserError` if the engine cannot run the model.
    """
    if not all(weight.isfinite().all() for weight in model.parameters()):
        raise UserError("the model has weights that are not finite; train it again")
    predictor = model.length_predictor
    difference = predictor.difference if isinstance(predictor, ConstantLength) else None
    about = {
        **(facts or {}),
        "pad": PAD,
        "end": EOS,
        "mask": MASK,
        "blank": BLANK,
        "empty_token": model.empty_token,
        "never_chosen": never_chosen(model),
        "upsample": model.decoder.upsample,
        "count_source_end": model.decoder.count_source_end,
        "longest_source": model.longest_source,
        "longest_target": model.longest_target,
        "positions": model.architecture.max_positions,
        "length": None if predictor is None else predictor.predicts,
        "length_difference": None if difference is None else float(difference),
    }
    folder.mkdir(parents=True, exist_ok=True)
    return writer(engine)(model, vocabularies, folder, about)


def convert_model(job: Job[Converted]) -> None:
    """Convert the model of a run for another engine.

    Raises a `UserError` if files do not belong together, or the engine cannot run the model.
    """
    inputs = job.inputs
    vocabularies = Vocabularies.load(Path(inputs.corpus.path))
    model = matching_model(inputs.model, job.configuration, vocabularies.sizes)
    weights = checksum_of(Path(inputs.model.path))
    with atomic_directory(job.path) as temporary:
        convert(job.artifact.engine, model, vocabularies, temporary, {WEIGHTS: weights})


def export(folder: Path, output: Path, to: str, decodings: Sequence[str] = ()) -> str:
    """Write a trained model for another program; returns what was written and checked.

    Args:
        folder: of a package or of a training, see `nat.export.package.open_folder`.
        output: folder to make: what the program opens, the file that splits tokens into subwords,
            `CORPUS`, and what explains them, see `nat.export.guide`.
        to: one of `nat.export.command.FORMATS`.
        decodings: that the export can do, as for `nat.export.package.packed`; for fairseq and
            huggingface only. One for another engine has the options of those that are tuned.

    Raises a `UserError` if something is missing, the program cannot run the model or one of the
    decodings, or the folder to make holds something else or what is read; nothing is written.
    """
    engine = to if to in ENGINES else None
    if decodings and engine:
        raise UserError(
            f"an export to {to} has no decodings, only the model; leave out --decodings"
        )
    opened = open_folder(folder, decodings, scored=not engine, engine=engine)
    check_output(opened, output)
    package, vocabularies = opened.package, opened.vocabularies
    trained = load_model(opened.files[MODEL], sizes=vocabularies.sizes)
    if not isinstance(trained.model, Transformer):
        raise UserError(
            f"{folder}: models of fairseq's own are not exported; only fairseq runs them"
        )
    if to == "ctranslate2":
        _check_order(folder, trained)
    chosen = {
        name: each
        for name, each in package.decodings.items()
        if (each.converted == engine if engine else not each.files)
    }
    needy = [name for name, each in package.decodings.items() if each.files]
    if not engine and needy and (decodings or not chosen):
        files = ", ".join(package.decodings[needy[0]].files)
        raise UserError(
            f"{folder}: the decoding '{needy[0]}' also needs {files}, which an export to {to} does "
            "not have; name others with --decodings"
        )
    methods = {name: each.method.as_json() for name, each in chosen.items()}
    write = writer(to)  # first: its packages may be missing
    with atomic_directory(output) as temporary:
        if engine:
            usual = next(iter({**chosen, **package.decodings}.values())).method
            facts = {WEIGHTS: checksum_of(opened.files[MODEL]), "decodings": methods}
            facts |= search_of(usual, trained.model)
            checked = convert(to, trained.model, vocabularies, temporary, facts)
        else:
            checked = write(trained, vocabularies, package.text.sides, methods, temporary)
        write_json(temporary / CORPUS, package.text.as_written())
        copy(opened.files[package.subwords], temporary / package.subwords)
        write_guide(to, opened, trained, list(methods), temporary)
    return f"wrote {output} for {PROGRAMS[to]}: {sizes(output)}; checked: {checked}"


def _check_order(folder: Path, trained: TrainedModel) -> None:
    """Refuse a model whose decoder CTranslate2 would run as an autoregressive one, but that is not.

    Its weights do not show what it was trained for.
    """
    order = trained.training.order
    if order != "autoregressive" and trained.model.decoder_layers:
        other = "onnx" if order == "parallel" else "huggingface"
        raise UserError(
            f"{folder}: CTranslate2 runs autoregressive systems and CTC systems without a decoder, "
            f"but '{trained.training.system}' is {KINDS[order]}; use --to {other}"
        )

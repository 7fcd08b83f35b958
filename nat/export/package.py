"""A trained model with all that it needs to translate raw text, in one folder.

`docs/deployment.md` lists its files. In the results of a run, the same files lie in several places.
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from nat import registry
from nat.artifacts import CorpusStep, Decoded, Model, Score, TunedOptions
from nat.checksums import remedy, sha256_of, unreadable
from nat.configuration import Configuration, differences, read
from nat.configuration.command_line import choice_of
from nat.configuration.compatibility import check_decoding
from nat.configuration.entries import has_decoding
from nat.configuration.models import Training, read_model
from nat.data.corpus import Corpus
from nat.data.corpus_parts import prepared_as
from nat.data.splits import TRAIN
from nat.data.subwords import subwords_file
from nat.data.vocabulary import Vocabularies, vocabulary_files
from nat.errors import UserError, told_of
from nat.files import atomic_directory, copy, read_json, write_json
from nat.jobs.translate import chosen_options
from nat.measures.results import check_names, read_file
from nat.options import Count, EntryName, Number, OrAbsent, StrictModel, hint
from nat.registry import Method
from nat.training.model_file import WEIGHTS, check_weights, read_training
from nat.training.run import REPORT

PACKAGE = "package.json"
MODEL = "model.pt"
SCORES = "scores.json"

USUAL = (
    *("beam5", "group-beam5", "hybrid5-1", "mask-correct-10-lb5", "mask-predict-10-lb5"),
    *("ctc", "one-pass", "refinement-10"),
)
"""Decodings of which a system is translated with the first one that suits it."""

USUAL_OF_STUDENTS = ("mask-predict-1-lb5", "ctc")
"""The same for students of several steps, which are trained to need one."""

CONSULTED = {
    "assistant": "assistant-{system}.pt",
    "language_model": "ngrams-{decoding}.npz",
    "converted": "{engine}",
}
"""The names in a package of what a decoding consults besides the model."""


FileName = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", max_length=255)]
"""A package may come from a stranger, so its names lead nowhere else."""


class PackagedDecoding(StrictModel):
    """A decoding with all of its options, and the names of the files that it consults.

    `converted` is the folder of the model in the format of another engine.
    """

    method: Method
    assistant: OrAbsent[FileName] = None
    language_model: OrAbsent[FileName] = None
    converted: OrAbsent[FileName] = None

    @property
    def files(self) -> list[str]:
        """Names of these files."""
        return [name for key in CONSULTED if (name := getattr(self, key)) is not None]


class Package(StrictModel):
    """Content of `package.json`.

    `text` has languages and preprocessing, `subwords` names the file that splits tokens of the
    source into subwords, and the first of the decodings is the usual one. `weights` is the SHA-256
    of the model.
    """

    corpus: EntryName
    system: EntryName
    seed: Number
    text: Corpus
    subwords: FileName
    batch_tokens: Count
    decodings: Annotated[dict[str, PackagedDecoding], Field(min_length=1)]
    weights: str | None = None


class PackagedBleu(StrictModel, extra="allow"):
    """A BLEU, and the ends of its interval; without an interval, where a test set is one line."""

    value: float
    low: float | None
    high: float | None
    signature: str


class PackagedScore(StrictModel):
    """An entry of `scores.json`."""

    decoding: str
    split: str
    measures: Annotated[dict[Literal["sacrebleu"], PackagedBleu], Field(min_length=1)]


@dataclass(frozen=True)
class Opened:
    """A package, or the training of a run as one; `files` are by their names in a package."""

    folder: Path
    package: Package
    files: dict[str, Path]
    scores: list[PackagedScore]

    @property
    def vocabularies(self) -> Vocabularies:
        """The vocabularies of source and target, which lie beside the subwords."""
        return Vocabularies.load(self.files[self.package.subwords].parent)

    def decoding(self, name: str | None) -> tuple[str, PackagedDecoding]:
        """A decoding with its name; the first one for None."""
        known = self.package.decodings
        if name is None:
            return next(iter(known.items()))
        if name not in known:
            raise UserError(
                f"{self.folder / PACKAGE}: no decoding '{name}'; {hint(name, known)}; to add it, "
                "pack the model again with --decodings"
            )
        return name, known[name]


def open_folder(
    folder: Path, decodings: Sequence[str] = (), *, scored: bool = False, engine: str | None = None
) -> Opened:
    """Open a package, or the folder of a training in the results of a run.

    Args:
        folder: that `packed` made, or `results/RUN/models/CORPUS/SYSTEM/seedN`.
        decodings: names, the usual one first; without any, all of a package, and of a training the
            usual one.
        scored: of a training: also its scores, and the decodings that have any, if none are named.
        engine: of a training, without `decodings`: also those of this engine that the run has
            tuned.

    Raises a `UserError` if it is neither, something is missing, a decoding does not suit the
    system, or the corpus or the weights are no longer those that something was made from.
    """
    try:
        is_package = (folder / PACKAGE).exists()
    except OSError as error:  # a sentence in its place is too long for a name
        raise unreadable(folder, error) from error
    if is_package:
        opened = _of_package(folder, decodings)
    else:
        opened = _of_training(folder, decodings, scored, engine)
    for path in opened.files.values():
        if not path.exists():
            raise UserError(f"{folder} needs {path}, which does not exist; {remedy(path)}")
    check_weights(folder / PACKAGE, opened.files[MODEL])
    own = read_training(opened.files[MODEL])
    its_names = {"corpus": own.corpus, "system": own.system}
    check_names(opened.files[MODEL], its_names, vars(opened.package))
    for name, each in opened.package.decodings.items():
        its = None if each.assistant is None else read_training(opened.files[each.assistant])
        with told_of(f"{folder / PACKAGE}: key 'decodings.{name}': "):
            _check_suits(each, own, its)
        if each.converted is not None:
            check_weights(opened.files[each.converted], opened.files[MODEL])
    return opened


def _check_suits(decoding: PackagedDecoding, own: Training, its: Training | None) -> None:
    """Refuse a decoding that does not suit the model, or that consults what it cannot use.

    `own` is the training of the model, `its` that of the assistant, if there is one. The decodings
    of a run are checked by their configuration, too.
    """
    traits = registry.describe("decoding", decoding.method)
    upsampled = own.decoder.upsample is not None
    language_model = decoding.method.options.get("language_model")
    suits = {
        "method": own.order == traits.decoding_order
        and traits.upsampled in (None, upsampled)
        and traits.part in (None, *own.parts)
        and (own.architecture.decoder_layers == 0 or not traits.encoder_only),
        "assistant": (traits.assistant is None or traits.assistant_optional)
        if its is None
        else (its.order, its.decoder.chunk) == (traits.assistant, own.decoder.chunk),
        "language_model": (decoding.language_model is None) == (language_model is None),
        "converted": decoding.converted == traits.converted,
    }
    for key in (key for key, holds in suits.items() if not holds):
        raise UserError(f"'{key}' does not suit the model or the method; pack the model again")


def _of_package(folder: Path, decodings: Sequence[str]) -> Opened:
    package = read_model(Package, read_json(folder / PACKAGE), str(folder / PACKAGE))
    if decodings:
        chosen = map(Opened(folder, package, {}, []).decoding, decodings)
        package = package.model_copy(update={"decodings": dict(chosen)})
    names = [MODEL, package.subwords, *(each.name for each in vocabulary_files(folder))]
    names += [name for each in package.decodings.values() for name in each.files]
    path = folder / SCORES
    scores = read_model(list[PackagedScore], read_json(path) if path.exists() else [], str(path))
    kept = [each for each in scores if each.decoding in package.decodings]
    return Opened(folder, package, {name: folder / name for name in names}, kept)


def _of_training(
    folder: Path, decodings: Sequence[str], scored: bool, engine: str | None
) -> Opened:
    place = _place(folder)
    if place is None or not (folder / MODEL).exists():
        raise UserError(
            f"{folder}: expected a folder that 'nat pack' made, with {PACKAGE}, or "
            f"results/RUN/models/CORPUS/SYSTEM/seedN with {MODEL}, its corpus and its configuration"
        )
    root, trained = place
    configuration = read(choice_of(root, trained.run), root).on(trained.corpus)
    whole, model = configuration.corpus(trained.corpus), root / trained.path
    report = model.with_name(REPORT)
    record = read_json(report) if report.exists() else {}
    check_names(report, record, vars(trained))
    check_weights(report, model)
    # the text must be prepared as it was for the training; imported models do not say how it was
    changes = differences(record.get("corpus"), prepared_as(whole, TRAIN))
    if "corpus" in record and changes:
        raise UserError(
            f"{configuration.root / configuration.file_of('corpora', trained.corpus)} has changed "
            f"since {model} was trained ({'; '.join(changes)}); undo the change, or {remedy(model)}"
        )
    of_run = root.glob(Score.of(vars(trained), decoding="*", split="[!.]*").path)
    scores = sorted(of_run) if scored else []
    bpe = root / CorpusStep(trained.corpus, "bpe").path
    subwords = subwords_file(bpe, "source")
    files = {MODEL: model, **{path.name: path for path in (*vocabulary_files(bpe), subwords)}}
    packaged = {}
    for name in decodings or _defaults(configuration, trained, scores, engine):
        packaged[name], more = _packaged(configuration, trained, name)
        files |= more
    package = Package(
        corpus=trained.corpus,
        system=trained.system,
        seed=trained.seed,
        text=whole.of_lines,
        subwords=subwords.name,
        batch_tokens=configuration.scale_settings.decoding_tokens,
        decodings=packaged,
    )
    kept = [path for path in scores if path.parent.name in packaged]
    return Opened(folder, package, files, _bleu(kept, model, record.get("fingerprint")))


def _place(folder: Path) -> tuple[Path, Model] | None:
    """The root of a run and the model of a folder in its results; None if it lies elsewhere.

    `results` and what is in it may be links, so the path counts as it is given. But it may also be
    a link to the folder of a training.
    """
    for path in (os.path.normpath(folder.absolute()), str(folder.resolve())):
        match Path(path).parts:
            case [*root, "results", run, "models", corpus, system, seed] if (
                seed.startswith("seed") and seed[4:].isdecimal()
            ):
                return Path(*root), Model(run, corpus, system, int(seed[4:]))
    return None


def _defaults(
    configuration: Configuration, trained: Model, scores: Sequence[Path], engine: str | None
) -> list[str]:
    """Names of the decodings of a trained model where nobody names one; tuned, if the run has."""
    pattern = TunedOptions.of(vars(trained), decoding="[!.]*").path
    known = partial(has_decoding, configuration)
    tuned = [*filter(known, sorted(path.stem for path in configuration.root.glob(pattern)))]
    usual = usual_decoding(configuration, trained.system)
    names = [f"{usual}-tuned" if f"{usual}-tuned" in tuned else usual]
    for name in tuned if engine else ():
        names += [name] * (configuration.decoding_traits(name).converted == engine)
    return list(dict.fromkeys(names + [*filter(known, (path.parent.name for path in scores))]))


def usual_decoding(configuration: Configuration, system: str) -> str:
    """The decoding of a system if nobody names one and nothing is tuned.

    Raises a `UserError` if there is none, or the file of a decoding is faulty.
    """
    student = configuration.methods(system).target.distils
    wanted = (*USUAL_OF_STUDENTS, *USUAL) if student else USUAL
    for name in filter(partial(has_decoding, configuration), wanted):
        configuration.decoding(name)  # a faulty file is not taken for one that does not suit
        try:
            check_decoding(configuration, system, name)
        except UserError:
            continue
        return name
    raise UserError(
        f"'{system}' has no default decoding; name one, with --decoding of 'nat translate' or "
        "--decodings of 'nat pack' and 'nat export'"
    )


def _bleu(paths: Sequence[Path], model: Path, fingerprint: str | None) -> list[PackagedScore]:
    """The BLEU of files of scores, all of which must be of the training of the model."""
    rows = []
    for path in paths:
        score = read_file(path)
        scored = score.get("model", {}).get("fingerprint")
        if None not in (fingerprint, scored) and scored != fingerprint:
            raise UserError(
                f"{path} was made from other weights than those of {model}; {remedy(path)}"
            )
        bleu = {"sacrebleu": score["measures"][path.stem]["sacrebleu"]}
        names = {key: score[key] for key in ("decoding", "split")}
        rows.append(PackagedScore(**names, measures=bleu))
    return rows


def _packaged(
    configuration: Configuration, trained: Model, name: str
) -> tuple[PackagedDecoding, dict[str, Path]]:
    """A decoding of a run, and its files by their names in a package."""
    root = configuration.root
    inputs = Decoded(**vars(trained), decoding=name, split=TRAIN).inputs(configuration)
    method, model = configuration.decoding(name), root / inputs.model.path
    if inputs.tuned is not None:
        method = method.with_options(chosen_options(root / inputs.tuned.path, model))
    consulted = {key: getattr(inputs, key) for key in CONSULTED if getattr(inputs, key) is not None}
    names = {
        key: CONSULTED[key].format_map({**vars(artifact), "decoding": name})
        for key, artifact in consulted.items()
    }
    packaged = PackagedDecoding(method=registry.completed("decoding", method), **names)
    return packaged, {names[key]: root / consulted[key].path for key in names}


def packed(folder: Path, output: Path, decodings: Sequence[str] = ()) -> None:
    """Make a package of a trained model, or of a package; arguments as for `open_folder`.

    Raises as `open_folder` and `check_output`, and if a file is damaged; nothing is written then.
    """
    opened = open_folder(folder, decodings, scored=True)
    check_output(opened, output)
    with atomic_directory(output) as temporary:
        for name, path in opened.files.items():
            copy(path, temporary / name)
        weights = {WEIGHTS: sha256_of(temporary / MODEL)}
        write_json(temporary / PACKAGE, opened.package.as_written() | weights)
        if opened.scores:
            write_json(temporary / SCORES, [each.as_written() for each in opened.scores])


def check_output(opened: Opened, output: Path) -> None:
    """Refuse a folder to make that lies in the folder of the model, or holds a file of it.

    Other paths to the same files count, too.
    """
    made, folder = output.resolve(), opened.folder.resolve()
    read = (folder, *(path.resolve() for path in opened.files.values()))
    inside = next((path for path in read if path.is_relative_to(made)), None)
    if inside is not None or made.is_relative_to(folder):
        raise UserError(
            f"{output} would replace or change {inside or folder}, which it is made from; name "
            "another folder"
        )

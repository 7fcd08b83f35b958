"""A trained model with all that it needs to translate raw text, in one folder.

    package.json         corpus, languages, preprocessing, and the decodings that it can do
    model.pt             weights and the configuration that made them
    vocabulary.txt       symbols; with separate vocabularies vocabulary.source.txt and
                         vocabulary.target.txt
    codes                byte pair encoding of the source, or pieces.model of SentencePiece; with
                         separate vocabularies codes.source
    scores.json          BLEU of the decodings that the run has scored, if there are any

and, for decodings that consult them, `assistant-SYSTEM.pt`, `ngrams-DECODING.npz` and the folders
of converted models. In the results of a run the same files lie in several places, where
`of_training` finds them; `packed` copies them to one folder, which needs neither the configuration
nor the corpus.
"""

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from nat import registry
from nat.artifacts import Artifact, CorpusStep, Decoded, Model, Score, TunedOptions
from nat.checksums import PACKAGE, remedy
from nat.configuration import Configuration, differences, read
from nat.configuration.named_runs import choice_of
from nat.data.bpe import subwords_file
from nat.data.corpus import Corpus
from nat.data.splits import TRAIN, prepared_as
from nat.data.vocabulary import Vocabularies, vocabulary_files
from nat.errors import UserError, told_of
from nat.files import atomic_directory, check_replaceable, copy, read_json, write_json
from nat.jobs.translate import chosen_options
from nat.measures.results import read_file
from nat.options import Count, Name, Number, OrAbsent, StrictModel, Text, hint, validated
from nat.registry import Method
from nat.training.run import REPORT
from nat.training.weights import check_weights

MODEL = "model.pt"
SCORES = "scores.json"

USUAL = (
    "beam5",
    "group-beam5",
    "hybrid5-1",
    "mask-correct-10-lb5",
    "mask-predict-10-lb5",
    "ctc",
    "one-pass",
    "refinement-10",
)
"""Decodings of which a system is translated with the first one that suits it."""

USUAL_OF_STUDENTS = ("mask-predict-1-lb5", "ctc")
"""The same for students of several steps, which are trained to need one."""

_FOLDER = re.compile(
    r"(?P<root>(?:.*/)?)results/(?P<run>[^/]+)/models/(?P<corpus>[^/]+)/(?P<system>[^/]+)"
    r"/seed(?P<seed>\d+)"
)


class PackagedDecoding(StrictModel):
    """A decoding, and the names of the files that it consults besides the model.

    Attributes:
        method: with all of its options; those that are tuned have their values.
        assistant: the second model.
        language_model: n-grams.
        converted: the folder of the model in the format of another engine.
    """

    method: Method
    assistant: OrAbsent[Text] = None
    language_model: OrAbsent[Text] = None
    converted: OrAbsent[Text] = None

    @property
    def files(self) -> list[str]:
        """Names of all of them."""
        found = (self.assistant, self.language_model, self.converted)
        return [name for name in found if name is not None]


class Package(StrictModel):
    """What `package.json` says.

    Attributes:
        corpus: that the model was trained on.
        system: a file of config/systems.
        seed: of the training.
        text: languages and preprocessing, as the file of the corpus has them.
        subwords: name of the file that splits tokens of the source into subwords.
        batch_tokens: most source tokens in a batch.
        decodings: by name, the usual one first; at least one.
    """

    corpus: Name
    system: Name
    seed: Number
    text: Corpus
    subwords: Text
    batch_tokens: Count
    decodings: Annotated[dict[str, PackagedDecoding], Field(min_length=1)]


@dataclass(frozen=True)
class Opened:
    """A package and where its files lie.

    Attributes:
        package: what it says.
        files: path of each file or folder by its name in a package.
        folder: that was opened.
    """

    package: Package
    files: dict[str, Path]
    folder: Path

    @property
    def vocabularies(self) -> Vocabularies:
        """Those of source and target, which lie beside the subwords."""
        return Vocabularies.load(self.files[self.package.subwords].parent)

    def decoding(self, name: str | None) -> tuple[str, PackagedDecoding]:
        """A decoding by name; the first one for None.

        Raises:
            UserError: if it is not in the package; names the nearest one.
        """
        known = self.package.decodings
        if name is None:
            return next(iter(known.items()))
        if name not in known:
            raise UserError(
                f"{self.folder / PACKAGE}: no decoding '{name}'; {hint(name, known)}; to add it, "
                "pack the model again with --decodings"
            )
        return name, known[name]

    def only(self, decodings: Sequence[str]) -> "Opened":
        """The same with these decodings alone, the usual one first.

        Raises:
            UserError: as `decoding`.
        """
        found = dict(map(self.decoding, decodings))
        needed = {name for each in found.values() for name in each.files}
        left_out = {name for each in self.package.decodings.values() for name in each.files}
        return Opened(
            self.package.model_copy(update={"decodings": found}),
            {name: self.files[name] for name in self.files if name not in left_out - needed},
            self.folder,
        )


def open_folder(
    folder: Path,
    decodings: Sequence[str] = (),
    *,
    scored: bool = False,
    engine: str | None = None,
) -> Opened:
    """Open a package, or the folder of a training in the results of a run.

    Args:
        folder: that `packed` made, or `results/RUN/models/CORPUS/SYSTEM/seedN`.
        decodings: names, the usual one first; without any, all of a package, and of a training the
            usual one.
        scored: of a training, without `decodings`: also those that the run has scored.
        engine: of a training, without `decodings`: only those of this engine that the run has
            tuned, if there are any.

    Raises:
        UserError: if it is neither, something is missing, or a decoding does not suit the system.
    """
    if (folder / PACKAGE).exists():
        opened = _of_package(folder)
        opened = opened.only(decodings) if decodings else opened
    else:
        opened = of_training(folder, decodings, scored, engine)
    for path in opened.files.values():
        if not path.exists():
            raise UserError(f"{folder} needs {path}, which does not exist; {remedy(path)}")
    return opened


def _of_package(folder: Path) -> Opened:
    path = folder / PACKAGE
    content = read_json(path)
    with told_of(f"{path}: "):
        package = validated(Package, content)
    names = {MODEL, package.subwords, *(each.name for each in vocabulary_files(folder))}
    names.update(name for each in package.decodings.values() for name in each.files)
    return Opened(package, {name: folder / name for name in sorted(names)}, folder)


def of_training(
    folder: Path, decodings: Sequence[str] = (), scored: bool = False, engine: str | None = None
) -> Opened:
    """The files of a trained model in the results of a run, see `open_folder`.

    Raises:
        UserError: if the folder is not one of a training, a decoding does not suit the system, or
            the corpus is not described as it was when the model was trained.
    """
    place = _place(folder)
    if place is None or not (folder / MODEL).exists():
        raise UserError(
            f"{folder}: expected a folder that 'nat pack' made, with {PACKAGE}, or "
            f"results/RUN/models/CORPUS/SYSTEM/seedN with {MODEL}, its corpus and its configuration"
        )
    root, trained = place
    configuration = read(choice_of(root, trained.run), root).on(trained.corpus)
    whole, model = configuration.corpus(trained.corpus), root / trained.path
    _check_corpus(configuration, trained.corpus, model)
    bpe = root / CorpusStep(trained.corpus, "bpe").path
    subwords = subwords_file(bpe, "source")
    files = {MODEL: model, **{path.name: path for path in (*vocabulary_files(bpe), subwords)}}
    packaged = {}
    for name in decodings or _defaults(configuration, trained, root, scored, engine):
        packaged[name], more = _packaged(configuration, trained, name, root)
        files |= more
    package = Package(
        corpus=trained.corpus,
        system=trained.system,
        seed=trained.seed,
        text=Corpus(
            source=whole.source,
            target=whole.target,
            diacritics=whole.diacritics,
            preprocessing=whole.preprocessing,
        ),
        subwords=subwords.name,
        batch_tokens=configuration.scale_settings.decoding_tokens,
        decodings=packaged,
    )
    return Opened(package, files, folder)


def _record(model: Path) -> dict[str, Any]:
    """The report of a model's training; empty if there is none."""
    path = model.with_name(REPORT)
    return dict(read_json(path)) if path.exists() else {}


def _check_corpus(configuration: Configuration, corpus: str, model: Path) -> None:
    """Refuse a model if the text of its corpus is not made and prepared as it was for its training.

    Raises:
        UserError: if it is not; names the keys.
    """
    # records of imported models do not have the key
    before = _record(model).get("corpus")
    changes = differences(before, prepared_as(configuration.corpus(corpus), TRAIN))
    if before is not None and changes:
        raise UserError(
            f"{configuration.root / configuration.file_of('corpora', corpus)} has changed since "
            f"{model} was trained ({'; '.join(changes)}); undo the change, or {remedy(model)}"
        )


def _place(folder: Path) -> tuple[Path, Model] | None:
    """Where in the results of a run a folder lies: the root of the run, and the model.

    None if it lies elsewhere. `results` and what is in it may be links, so the path counts as it is
    given. But it may also be a link to the folder of a training.
    """
    for path in (os.path.normpath(folder.absolute()), str(folder.resolve())):
        if found := _FOLDER.fullmatch(path):
            return Path(found["root"]), Model.of(found.groupdict())
    return None


def _defaults(
    configuration: Configuration, trained: Model, root: Path, scored: bool, engine: str | None
) -> list[str]:
    """The decodings of a trained model where nobody names one, see `open_folder`.

    The usual one has tuned options if the run has tuned them.
    """
    pattern = TunedOptions.of(vars(trained), decoding="[!.]*").path
    tuned = filter(configuration.has_decoding, sorted(path.stem for path in root.glob(pattern)))
    engines = {name: configuration.decoding_traits(name).converted for name in tuned}
    if engine is not None and engine in engines.values():
        return [name for name in engines if engines[name] == engine]
    usual = usual_decoding(configuration, trained.system)
    usual = f"{usual}-tuned" if f"{usual}-tuned" in engines else usual
    others = sorted({path.parent.name for path in _scores(root, trained)}) if scored else []
    return list(dict.fromkeys([usual, *filter(configuration.has_decoding, others)]))


def usual_decoding(configuration: Configuration, system: str) -> str:
    """The decoding that a system is translated with if nobody names one and nothing is tuned.

    Args:
        configuration: as it holds on the corpus.
        system: its name.

    Raises:
        UserError: if there is none, or the file of a decoding is faulty.
    """
    student = configuration.target_traits(system).distils
    wanted = (*USUAL_OF_STUDENTS, *USUAL) if student else USUAL
    for name in filter(configuration.has_decoding, wanted):
        configuration.decoding(name)  # a faulty file is not taken for one that does not suit
        try:
            configuration.check_decoding(system, name)
        except UserError:
            continue
        return name
    raise UserError(
        f"'{system}' has no usual decoding; name one, with --decoding of 'nat translate' or "
        "--decodings of 'nat pack' and 'nat export'"
    )


def scores_of(opened: Opened) -> list[dict[str, Any]]:
    """The BLEU of a model's decodings in its run, by decoding and split; the same of a package.

    Raises:
        UserError: if the run has measured one of them with other weights.
    """
    wanted, model, place = opened.package.decodings, opened.files[MODEL], _place(opened.folder)
    found: list[dict[str, Any]] = []
    if (opened.folder / SCORES).exists():
        found = read_json(opened.folder / SCORES)
    elif place is not None and not (opened.folder / PACKAGE).exists():
        its = _record(model).get("fingerprint")
        for path in _scores(*place):
            if path.parent.name not in wanted:
                continue
            score = read_file(path)
            scored = score.get("model", {}).get("fingerprint")
            if None not in (its, scored) and scored != its:
                raise UserError(
                    f"{path} was made from other weights than those of {model}; {remedy(path)}"
                )
            found.append({**score, "measures": score["measures"].get(path.stem, {})})
    return [
        {
            "decoding": score["decoding"],
            "split": score["split"],
            "measures": {"sacrebleu": score["measures"]["sacrebleu"]},
        }
        for score in found
        if score.get("decoding") in wanted
    ]


def _scores(root: Path, trained: Model) -> list[Path]:
    """The files of scores that the run of a model has made of it."""
    return sorted(root.glob(Score.of(vars(trained), decoding="*", split="[!.]*").path))


def packed(folder: Path, output: Path, decodings: Sequence[str] = ()) -> None:
    """Make a package of a trained model, which can be taken to another machine.

    Args:
        folder: of a training in the results of a run, or a package.
        output: folder to make.
        decodings: see `open_folder`; without any, also those that the run has scored.

    Raises:
        UserError: as `open_folder`, and if a file is damaged, a score is of other weights, the
            folder cannot be made, see `check_output`, or the file system refuses the write; nothing
            is written.
    """
    opened = open_folder(folder, decodings, scored=True)
    check_output(opened, output)
    scores = scores_of(opened)
    with atomic_directory(output) as temporary:
        for name, path in opened.files.items():
            copy(path, temporary / name)
        write_json(temporary / PACKAGE, opened.package.as_written())
        if scores:
            write_json(temporary / SCORES, scores)


def check_output(opened: Opened, output: Path) -> None:
    """Refuse a folder to make in whose place something else lies, or what is read.

    Raises:
        UserError: as `check_replaceable`, and if the folder is the one of the model or lies in it,
            or a file of the model lies in the folder, also by another path.
    """
    made, folder = output.resolve(), opened.folder.resolve()
    read = (folder, *(path.resolve() for path in opened.files.values()))
    inside = next((path for path in read if path.is_relative_to(made)), None)
    if inside is not None or made.is_relative_to(folder):
        raise UserError(
            f"{output} would replace or change {inside or folder}, which it is made from; name "
            "another folder"
        )
    check_replaceable(output)


def _packaged(
    configuration: Configuration, trained: Model, name: str, root: Path
) -> tuple[PackagedDecoding, dict[str, Path]]:
    """A decoding of a run, and its files by their names in a package."""
    inputs = Decoded(**vars(trained), decoding=name, split=TRAIN).inputs(configuration)
    method, model = configuration.decoding(name), root / inputs.model.path
    if inputs.tuned is not None:
        method = method.with_options(chosen_options(root / inputs.tuned.path, model))
    found: dict[str, tuple[str, Artifact]] = {}
    if inputs.assistant is not None:
        found["assistant"] = f"assistant-{inputs.assistant.system}.pt", inputs.assistant
    if inputs.language_model is not None:
        found["language_model"] = f"ngrams-{name}.npz", inputs.language_model
    if inputs.converted is not None:
        check_weights(root / inputs.converted.path, model)
        found["converted"] = inputs.converted.engine, inputs.converted
    names: dict[str, Any] = {key: file for key, (file, _) in found.items()}
    return (
        PackagedDecoding(method=registry.describe("decoding", method).method, **names),
        {file: root / artifact.path for file, artifact in found.values()},
    )

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
`of_training` finds them; `write` copies them to one folder, which needs neither the configuration
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
from nat.artifacts import CorpusStep, Decoded, Inputs, Model, TunedOptions
from nat.checksums import PACKAGE, remedy
from nat.configuration import Configuration, differences, load
from nat.configuration.named_runs import choice_of
from nat.data.bpe import subwords_file
from nat.data.corpus import Corpus
from nat.data.splits import TRAIN, prepared_as
from nat.data.vocabulary import (
    SEPARATE_VOCABULARIES,
    VOCABULARY,
    Vocabularies,
    vocabulary_files,
)
from nat.errors import UserError
from nat.fields import Count, Name, Number, OrAbsent, Text
from nat.fields import Model as Keys
from nat.files import atomic_directory, check_replaceable, copy, read_json, write_json
from nat.jobs.translate import chosen_options
from nat.measures.results import read_file
from nat.options import options_of, validated
from nat.registry import Method
from nat.spelling import hint
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


class PackagedDecoding(Keys):
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


class Package(Keys):
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
        """Those of source and target.

        Raises:
            UserError: if one is missing or damaged.
        """
        names = (VOCABULARY, *SEPARATE_VOCABULARIES)
        paths = [self.files[name] for name in names if name in self.files]
        return Vocabularies.read(paths[0], paths[-1])

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


def open_folder(folder: Path, decodings: Sequence[str] = ()) -> Opened:
    """Open a package, or the folder of a training in the results of a run.

    Args:
        folder: that `write` made, or `results/RUN/models/CORPUS/SYSTEM/seedN`.
        decodings: those of a training that are wanted; without any, the usual one.

    Raises:
        UserError: if it is neither, or something is missing.
    """
    if (folder / PACKAGE).exists():
        package = _read(folder)
        names = {MODEL, package.subwords, *(path.name for path in vocabulary_files(folder))}
        names.update(name for each in package.decodings.values() for name in each.files)
        opened = Opened(package, {name: folder / name for name in sorted(names)}, folder)
    else:
        opened = of_training(folder, decodings)
    for path in opened.files.values():
        if not path.exists():
            raise UserError(f"{folder} needs {path}, which does not exist; {remedy(path)}")
    return opened


def of_training(folder: Path, decodings: Sequence[str] = ()) -> Opened:
    """The files of a trained model in the results of a run, see `open_folder`.

    Raises:
        UserError: if the folder is not one of a training, a decoding does not suit the system, or
            the corpus is not described as it was when the model was trained.
    """
    found = _place(folder)
    if found is None or not (folder / MODEL).exists():
        if folder.is_file():
            raise UserError(f"{folder} is a file; give the folder that it lies in")
        if (folder / MODEL).exists():
            raise UserError(
                f"{folder} holds {MODEL}, but its vocabulary and its corpus are not there: they "
                "are where it was trained; use the folder there, or copy one that 'nat pack' makes "
                "of it"
            )
        raise UserError(
            f"{folder} holds neither {PACKAGE} nor {MODEL} of a training; give a folder that "
            "'nat pack' made, or results/RUN/models/CORPUS/SYSTEM/seedN"
        )
    root = Path(found["root"])
    run, corpus, system, seed = found["run"], found["corpus"], found["system"], int(found["seed"])
    configuration = load(choice_of(root, run), root, checked=False).on(corpus)
    trained = Model(run, corpus, system, seed)
    model = root / trained.path
    _check_corpus(configuration, corpus, model)
    names = list(dict.fromkeys(decodings)) or [_usual(configuration, trained, root)]
    bpe = root / CorpusStep(corpus, "bpe").path
    subwords = subwords_file(bpe, "source")
    files = {
        MODEL: model,
        **{path.name: path for path in (*vocabulary_files(bpe), subwords)},
    }
    packaged = {}
    for name in names:
        inputs = Decoded(run, corpus, system, seed, name, TRAIN).inputs(configuration)
        packaged[name], more = _packaged(configuration, name, inputs, root)
        files |= more
    whole = configuration.corpus(corpus)
    text = Corpus(
        source=whole.source,
        target=whole.target,
        diacritics=whole.diacritics,
        preprocessing=whole.preprocessing,
    )
    package = Package(
        corpus=corpus,
        system=system,
        seed=seed,
        text=text,
        subwords=subwords.name,
        batch_tokens=configuration.scale_settings.decoding_tokens,
        decodings=packaged,
    )
    return Opened(package, files, folder)


def _check_corpus(configuration: Configuration, corpus: str, model: Path) -> None:
    """Refuse a model if the text of its corpus is not made and prepared as it was for its training.

    Raises:
        UserError: if it is not; names the keys.
    """
    record = model.with_name(REPORT)
    # records of imported models do not have the key
    before = read_json(record).get("corpus") if record.exists() else None
    changes = differences(before, prepared_as(configuration.corpus(corpus), TRAIN))
    if before is not None and changes:
        raise UserError(
            f"{configuration.root / configuration.file_of('corpora', corpus)} has changed since "
            f"{model} was trained ({'; '.join(changes)}); undo the change, or {remedy(model)}"
        )


def _place(folder: Path) -> re.Match[str] | None:
    """Where in the results of a run a folder lies; None if it does not.

    `results` and what is in it may be links, so the path counts as it is given. But it may also be
    a link to the folder of a training.
    """
    paths = (os.path.normpath(folder.absolute()), str(folder.resolve()))
    return next((found for path in paths if (found := _FOLDER.fullmatch(path))), None)


def _usual(configuration: Configuration, model: Model, root: Path) -> str:
    """The usual decoding of a trained model, with tuned options if the run has tuned them."""
    usual = usual_decoding(configuration, model.system)
    tuned = TunedOptions(model.run, model.corpus, model.system, model.seed, f"{usual}-tuned")
    there = configuration.has_decoding(tuned.decoding) and (root / tuned.path).exists()
    return tuned.decoding if there else usual


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


def tuned_decodings(folder: Path, engine: str) -> list[str]:
    """The decodings of an engine that the run of a trained model has tuned, in alphabetical order;
    none of a package."""
    found = _place(folder)
    if found is None or (folder / PACKAGE).exists():
        return []
    root, run, corpus = Path(found["root"]), found["run"], found["corpus"]
    one = TunedOptions(run, corpus, found["system"], int(found["seed"]), "one")
    names = sorted(path.stem for path in (root / one.path).parent.glob("[!.]*.json"))
    configuration = load(choice_of(root, run), root, checked=False).on(corpus)
    return [
        name
        for name in names
        if configuration.has_decoding(name)
        and configuration.decoding_traits(name).converted == engine
    ]


def scored_decodings(folder: Path) -> list[str]:
    """The decodings of a trained model that its run has scored, in alphabetical order."""
    return sorted({path.parent.name for path in _scores(folder)})


def scores_of(opened: Opened) -> list[dict[str, Any]]:
    """The BLEU of a model's decodings in its run, by decoding and split; the same of a package.

    Raises:
        UserError: if the run has measured one of them with other weights.
    """
    if (opened.folder / PACKAGE).exists():
        path = opened.folder / SCORES
        found = read_json(path) if path.exists() else []
    else:
        found = _scores_of_training(opened)
    return [
        {
            "decoding": score["decoding"],
            "split": score["split"],
            "measures": {"sacrebleu": score["measures"]["sacrebleu"]},
        }
        for score in found
        if score.get("decoding") in opened.package.decodings
    ]


def _scores_of_training(opened: Opened) -> list[dict[str, Any]]:
    """The scores of a model's decodings in its run, see `scores_of`."""
    model = opened.files[MODEL]
    record = model.with_name(REPORT)
    trained = read_json(record).get("fingerprint") if record.exists() else None
    scores = []
    for path in _scores(opened.folder):
        if path.parent.name not in opened.package.decodings:
            continue
        score = read_file(path)
        scored = score.get("model", {}).get("fingerprint")
        if None not in (trained, scored) and scored != trained:
            raise UserError(
                f"{path} was made from other weights than those of {model}; {remedy(path)}"
            )
        scores.append({**score, "measures": score["measures"].get(path.stem, {})})
    return scores


def _scores(folder: Path) -> list[Path]:
    found = _place(folder)
    if found is None:
        return []
    where = "{root}results/{run}/scores/{corpus}/{system}/seed{seed}".format(**found.groupdict())
    return sorted(Path(where).glob("*/[!.]*.json"))


def packed(folder: Path, output: Path, decodings: Sequence[str] = ()) -> None:
    """Make a package of a trained model.

    Args:
        folder: of a training in the results of a run, or a package.
        output: folder to make.
        decodings: see `chosen`.

    Raises:
        UserError: if something is missing, or a decoding does not suit the system; nothing is
            written.
    """
    write(chosen(folder, decodings), output)


def chosen(folder: Path, decodings: Sequence[str] = ()) -> Opened:
    """Open a model with some of its decodings.

    Args:
        folder: of a training in the results of a run, or a package.
        decodings: names, the usual one first; without any, the usual one of the system and those
            that the run has scored; of a package, all that it has.

    Raises:
        UserError: if something is missing, or a decoding does not suit the system.
    """
    if not decodings and not (folder / PACKAGE).exists():
        (usual,) = open_folder(folder).package.decodings
        decodings = [usual, *scored_decodings(folder)]
        try:
            opened = open_folder(folder, decodings)
        except UserError as error:
            raise UserError(
                "a decoding that the run has scored cannot be taken, so name those that you want "
                f"with --decodings: {error}"
            ) from error
    else:
        opened = open_folder(folder, decodings)
    if not decodings:
        return opened
    found = dict(opened.decoding(name) for name in decodings)
    needed = {name for each in found.values() for name in each.files}
    needed |= {MODEL, VOCABULARY, *SEPARATE_VOCABULARIES, opened.package.subwords}
    return Opened(
        opened.package.model_copy(update={"decodings": found}),
        {name: path for name, path in opened.files.items() if name in needed},
        folder,
    )


def write(opened: Opened, output: Path) -> None:
    """Copy a package to a folder that can be taken to another machine.

    Raises:
        UserError: if a file is damaged, a score is of other weights, the folder cannot be made, see
            `check_output`, or the file system refuses the write; nothing is written.
    """
    check_output(opened, output)
    scores = scores_of(opened)
    with atomic_directory(output) as temporary:
        for name, path in opened.files.items():
            copy(path, temporary / name)
        write_json(temporary / PACKAGE, _as_json(opened.package))
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
    configuration: Configuration, name: str, inputs: Inputs, root: Path
) -> tuple[PackagedDecoding, dict[str, Path]]:
    """A decoding of a run, and its files."""
    method = configuration.decoding(name)
    if inputs.tuned is not None:
        tuned = chosen_options(root / inputs.tuned.path, root / inputs.model.path)
        method = method.with_options(tuned)
    options = options_of(registry.build("decoding", method))
    names: dict[str, Any] = {"method": Method(method=method.method, **options)}
    files = {}
    if inputs.assistant is not None:
        names["assistant"] = f"assistant-{inputs.assistant.system}.pt"
        files[names["assistant"]] = root / inputs.assistant.path
    if inputs.language_model is not None:
        names["language_model"] = f"ngrams-{name}.npz"
        files[names["language_model"]] = root / inputs.language_model.path
    if inputs.converted is not None:
        path = root / inputs.converted.path
        check_weights(path, root / inputs.model.path)
        names["converted"] = path.name
        files[path.name] = path
    return PackagedDecoding(**names), files


def _read(folder: Path) -> Package:
    path = folder / PACKAGE
    content = read_json(path)
    try:
        return validated(Package, content)
    except UserError as error:
        raise UserError(f"{path}: {error}") from error


def _as_json(package: Package) -> dict[str, Any]:
    return package.model_dump(mode="json", exclude_unset=True)

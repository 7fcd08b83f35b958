"""Each system of `config/systems` trains from configuration, goes on from a checkpoint, decodes.

The sizes are those of the scale `micro`, the texts a few random sentences. The sweeps of a paper
are left out.
"""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from nat import registry
from nat.artifacts import Model, WithMonolingual
from nat.configuration import Configuration, load
from nat.configuration.runnable import cannot_train
from nat.data.batch import source_tensor
from nat.data.binarised import BinarisedText, write_binarised
from nat.data.vocabulary import Vocabulary, VocabularySizes
from nat.decoding.hypothesis import Hypothesis
from nat.jobs.train import train_system
from nat.training.model_file import build_model, load_model, save_model
from tests.repository import ROOT, configured, job, write_yaml
from tests.sweeps import SWEEPS, without_numbers
from tests.training.test_training import WORDS, sentences

CORPUS, SCALE = "toy-micro", "micro"
MICRO = configured(SCALE)
SYSTEMS = [
    name
    for name in MICRO.systems
    if MICRO.canonical(CORPUS, name) == name
    and not SWEEPS.fullmatch(name)
    and not cannot_train(MICRO.on(CORPUS), name)
]
ON_ANOTHER_TEXT = {
    name for name in SYSTEMS if name.endswith("-raw") and f"{name[:-4]}-kd" in SYSTEMS
}
"""What only the text sets apart from another."""


def like_another() -> Iterator[str]:
    """Systems whose trainings differ from that of an earlier one in numbers only."""
    kinds: list[Any] = []
    for name in (each for each in SYSTEMS if each not in ON_ANOTHER_TEXT):
        training = json.loads(MICRO.training(CORPUS, name).model_dump_json(exclude={"system"}))
        kind = without_numbers(training)
        if kind in kinds:
            yield name
        kinds.append(kind)


MARKED_LONG = {*ON_ANOTHER_TEXT, *like_another()}


@pytest.fixture(scope="module")
def configuration(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Configuration]:
    """With four updates a recipe; the current folder has its files, and random texts."""
    folder: Path = tmp_path_factory.mktemp("systems")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        shutil.copytree(ROOT / "config", "config")
        settings = {"scale": SCALE, "mirror": None, "precision": "fp32", "threads": 1}
        write_yaml("config/config.yaml", settings)
        configuration = load()
        scale = configuration.files["scales"][SCALE]
        recipes = {name: shortened(recipe) for name, recipe in scale["recipes"].items()}
        write_yaml(f"config/scales/{SCALE}.yaml", {**scale, "recipes": recipes})
        vocabulary = Vocabulary([f"w{number}" for number in range(WORDS)])
        raw = Path(f"results/corpora/{CORPUS}/train/binarised")
        raw.mkdir(parents=True)
        vocabulary.save(raw / "vocabulary.txt")
        for split, pairs, seed in (("train", 31, 0), ("valid", 5, 1)):
            source, target = sentences(pairs, seed)
            write_binarised(source, vocabulary, raw / f"{split}.ka")
            write_binarised(target, vocabulary, raw / f"{split}.lu")
        yield load()


def shortened(recipe: dict[str, Any]) -> dict[str, Any]:
    if "as" in recipe:
        return recipe
    validation = {**recipe.get("validation", {}), "sentences": 4}
    short = {"updates": 4, "batch_tokens": 160, "save_every": 2, "validate_every": 2}
    keep = {"keep": dict.fromkeys(recipe["keep"], 2)} if "keep" in recipe else {}
    return {**recipe, **short, **keep, "warmup_updates": 0, "validation": validation}


def make_inputs(configuration: Configuration, system: str) -> None:
    """Whatever else the training reads: other texts, their pairwise BLEU, untrained models."""
    inputs = Model(SCALE, CORPUS, system, 1).inputs(configuration)
    vocabulary = Vocabulary.load(f"{inputs.corpus.path}/vocabulary.txt")
    for number, text in enumerate(inputs.texts):
        if not Path(text.path).exists():
            Path(text.path).mkdir(parents=True)
            extended = isinstance(text, WithMonolingual)
            source, target = sentences(37 if extended else 31, 2 + number)
            write_binarised(target, vocabulary, Path(text.path) / "train.lu")
            if extended:
                write_binarised(source, vocabulary, Path(text.path) / "train.ka")
                vocabulary.save(Path(text.path) / "vocabulary.txt")
    if inputs.comparison is not None:
        path = Path(inputs.comparison.path)
        path.parent.mkdir(parents=True, exist_ok=True)
        compared = len(inputs.comparison.texts(configuration))
        pairwise_bleu = np.random.default_rng(3).uniform(0, 100, (31, compared, compared))
        np.save(path, pairwise_bleu.astype(np.float32))
    for other in filter(None, (inputs.start, inputs.teacher)):
        if not (path := Path(other.weights)).exists():
            own = configuration.training(CORPUS, other.system)
            sizes = VocabularySizes(len(vocabulary))
            torch.manual_seed(5)
            save_model(path, build_model(own, sizes).state_dict(), own, sizes, updates=0)


def model_file(system: str) -> Path:
    return Path(f"results/{SCALE}/models/{CORPUS}/{system}/seed1/model.pt")


def train(configuration: Configuration, system: str) -> dict[str, torch.Tensor]:
    train_system(job(configuration, Model(SCALE, CORPUS, system, 1)))
    weights = torch.load(model_file(system), weights_only=True)["weights"]
    assert isinstance(weights, dict)
    return weights


def decode(configuration: Configuration, system: str) -> tuple[list[Hypothesis], list[Hypothesis]]:
    """Translations by the model as its file says, of all sentences at once and of each alone."""
    own = configuration.training(CORPUS, system).validation_decoding
    options = own or next(
        configuration.decoding(name)
        for name in ("beam5", "hybrid5-1", "group-beam1", "refinement-3")
        if configuration.decoding_traits(name).decoding_order == configuration.methods(system).order
    )
    decoding: Any = registry.build("decoding", options)
    model = load_model(model_file(system)).model
    text = BinarisedText(f"results/corpora/{CORPUS}/train/binarised/valid.ka")
    source = [text[number].tolist() for number in range(len(text))]
    alone = [found for one in source for found in decoding(model, source_tensor([one]))]
    return decoding(model, source_tensor(source)), alone


@pytest.mark.parametrize(
    "system",
    [pytest.param(name, marks=pytest.mark.long if name in MARKED_LONG else ()) for name in SYSTEMS],
)
def test_it_trains_goes_on_and_decodes(
    configuration: Configuration, system: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    from nat.fairseq_plugin.task import TrainingTask

    make_inputs(configuration, system)
    run, half = model_file(system).parent, tmp_path / "half"
    shutil.rmtree(run, ignore_errors=True)
    original = TrainingTask.post_save

    def copied_half_way(self: TrainingTask, path: str, updates: int) -> None:
        original(self, path, updates)
        if updates == 2:
            shutil.copytree(run, half)

    with monkeypatch.context() as patch:
        patch.setattr(TrainingTask, "post_save", copied_half_way)
        undisturbed = train(configuration, system)
    shutil.rmtree(run)
    half.rename(run)  # as if the process had been killed there
    resumed = train(configuration, system)
    assert undisturbed.keys() == resumed.keys()
    for name, weight in undisturbed.items():
        assert torch.equal(weight, resumed[name]), name
        assert weight.isfinite().all(), name

    together, alone = decode(configuration, system)
    assert [found.tokens for found in together] == [found.tokens for found in alone]
    for found, same in zip(together, alone, strict=True):
        assert found.score == pytest.approx(same.score, abs=1e-3)

"""Trainings of a few seconds, as the workflow does them, of every kind of system.

All have the same number of updates and the same small sizes. The language is invented; the texts of
teachers are drawn from the same language with fewer alternatives, so that no teacher has to be
trained for them. Models that a system starts from or consults are trained, with the same seed.
"""

import contextlib
import csv
import json
import shutil
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
import pytest
import yaml

from nat.artifacts import Model, target_text
from nat.configuration import Configuration
from nat.configuration.reading import read
from nat.configuration.runnable import cannot_train
from nat.data.binarised import write_binarised
from nat.data.invented.language import Language, language_of
from nat.data.invented.law import modes
from nat.data.invented.text import generate
from nat.data.vocabulary import Vocabulary
from nat.distillation.pairwise_bleu import sentence_bleu
from nat.jobs.train import train_system
from nat.options import options_of
from tests.repository import ROOT, job, write_yaml
from tests.sweeps import SWEEPS

SCALE, CORPUS = "learning", "toy-learning"
UPDATES, POINTS = 240, 3
"""Of every training, and validations in it, all at the same distance."""
PAIRS = {"train": 6000, "valid": 100}
LANGUAGE = {
    "pairs": PAIRS,
    "seed": 1,
    "nouns": 5,
    "verbs": 3,
    "adjectives": 5,
    "adverbs": 3,
    "prepositions": 3,
    "adjective_probability": 0.3,
    "attribute_probability": 0.0,
    "phrase_probability": 0.0,
    "fertile_share": 0.0,
}
DISTILLED = {
    "register_probabilities": (0.9, 0.1),
    "front_probability": 0.1,
    "slip_probability": 0.0,
    "drop_probability": 0.0,
}
"""Differences of the language of teachers."""

WIDTHS = {"tiny": 16, "small": 24, "big": 48, "big-learned": 48}
LAYERS = {"12-1": (2, 1), "20l": (3, 1), "encoder-only": (2, 0)}
TEACHERS = ("teacher", "hrt-at", "fully-nat-at", "mple-at", "vaswani", "hints-at", "likelihood-at")
DECODINGS = {
    "cmlm": "mask-predict-4-lb1",
    "cmlmc": "mask-correct-4-lb1",
    "imputer": "imputer-4",
    **dict.fromkeys(("hrt", "hrt-deep", "hrt-100k"), "hybrid1-1"),
    "sat": "group-beam1",
    "fairseq-nat": "refinement-1",
}
FINE_TUNED = {"dims", "dims-sweep", "dims-imputer", "oaxe", "mple-10k"}


def scale(names: Sequence[str], sizes: Sequence[str]) -> dict[str, Any]:
    """The description of the scale, with these recipes and sizes."""
    return {
        "description": "trainings of some seconds",
        "seeds": [1],
        "tasks": {"wmt14-en-de": CORPUS},
        "sizes": {name: size(name) for name in sizes},
        "recipes": {name: recipe(name) for name in names},
        "shards": {"train": 1, "valid": 1, "test": 1},
        "decoding_tokens": 4096,
        "parts": {"latent": {"posterior_layers": 1}},
    }


def size(name: str) -> dict[str, Any]:
    """The size of a model."""
    width, (encoder, decoder) = WIDTHS.get(name, 32), LAYERS.get(name, (1, 1))
    layers = {"encoder_layers": encoder, "decoder_layers": decoder}
    return {"model_dim": width, "ffn_dim": 2 * width, "heads": 2, "pre_norm": True, **layers}


def recipe(name: str) -> dict[str, Any]:
    """The recipe of a training."""
    every = UPDATES // POINTS
    changes: dict[str, Any] = {
        "updates": UPDATES,
        "batch_tokens": 1024,
        "learning_rate": 2e-3 if name in FINE_TUNED else 1e-2,
        "betas": [0.9, 0.98],
        "warmup_updates": 0 if name in FINE_TUNED else 30,
        "save_every": every,
        "validate_every": every,
        "patience": None,
    }
    if name in DECODINGS:
        changes["validation"] = {"decoding": DECODINGS[name], "metric": "bleu"}
    elif name.startswith(("teacher", *TEACHERS)):
        changes["validation"] = {"decoding": "beam5", "metric": "bleu"}
    if name == "fairseq-nat":
        changes["batch_tokens"] = 256  # the CRF's search takes most of an update's time
    if name in ("student", "mple-student"):
        changes["keep"] = {"10k": every, "50k": 2 * every}
    return changes


@contextlib.contextmanager
def workplace(folder: Path) -> Iterator[None]:
    """Make a folder with the configuration and the texts the working directory."""
    shutil.copytree(ROOT / "config", folder / "config", dirs_exist_ok=True)
    with contextlib.chdir(folder), pytest.MonkeyPatch.context() as patch:
        patch.setenv("OMP_NUM_THREADS", "1")
        described = yaml.safe_load(Path("config/scales/demo.yaml").read_text())
        write_yaml(f"config/scales/{SCALE}.yaml", scale(described["recipes"], described["sizes"]))
        corpus = yaml.safe_load(Path("config/corpora/toy-words.yaml").read_text())
        write_yaml(f"config/corpora/{CORPUS}.yaml", {**corpus, "generator": LANGUAGE})
        settings = {"scale": SCALE, "mirror": None, "precision": "fp32", "threads": 1}
        write_yaml("config/config.yaml", settings)
        yield


def configuration() -> Configuration:
    """The configuration of the working directory."""
    return read(SCALE, Path())


def systems(configuration: Configuration, known: Collection[str]) -> list[str]:
    """A system of each kind, of those that can be trained here, a known one where there is one.

    Systems are of one kind if nothing but their size, their recipe, their text or a number is
    different.
    """
    kinds: dict[str, str] = {}
    for name in sorted(configuration.systems, key=lambda name: name not in known):
        if (
            configuration.canonical(CORPUS, name) == name
            and not SWEEPS.fullmatch(name)
            and not cannot_train(configuration.on(CORPUS), name)
            and configuration.system(name).imported is None
        ):
            kinds.setdefault(_kind(configuration, name), name)
    return list(kinds.values())


def _kind(configuration: Configuration, name: str) -> str:
    training = configuration.training(CORPUS, name)
    found = {
        "input": training.input.as_json(),
        "target": training.target.as_json(),
        "decoder": options_of(training.decoder),
        "is": {
            "length": training.length,
            "encoder_only": not training.architecture.decoder_layers,
            "latent": "latent" in training.parts,
            "start": training.init_from is not None,
            "teacher": training.teacher is not None,
            "several_texts": len(training.text.candidates) > 1,
            "regularised": bool(training.text.regulariser),
        },
    }
    without_numbers = {
        part: {key: None if _is_number(value) else value for key, value in options.items()}
        for part, options in found.items()
    }
    return json.dumps(without_numbers, sort_keys=True, default=str)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def learn(configuration: Configuration, system: str, seed: int) -> dict[str, float]:
    """Train a system, and before it what it reads; return what its validations found, by name.

    `loss after 80` is that of the validation after update 80 (nats per position), `BLEU after 80`
    is there if the recipe validates by BLEU, and `training loss until 80` is the mean over the
    updates since the validation before.
    """
    model = Model(SCALE, CORPUS, system, seed)
    _make_inputs(configuration, model)
    train_system(job(configuration, model))
    with Path(model.path).with_name("training.csv").open() as lines:
        rows = list(csv.DictReader(lines))
    quantities: dict[str, float] = {}
    since: list[float] = []
    for row in rows:
        update, loss = row["update"], float(row["loss"])
        if row["split"] == "train":
            since.append(loss)
            continue
        if since:
            quantities[f"training loss until {update}"] = fmean(since)
        quantities[f"loss after {update}"] = loss
        if row.get("bleu"):
            quantities[f"BLEU after {update}"] = float(row["bleu"])
        since.clear()
    return quantities


def _make_inputs(configuration: Configuration, model: Model) -> None:
    corpus = configuration.corpus(CORPUS)
    source, target = corpus.sides
    raw = Path(f"results/corpora/{CORPUS}/train/binarised")
    texts = _texts()
    vocabulary = Vocabulary.from_lines(line for pair in texts["train"] for line in pair)
    if not raw.exists():
        raw.mkdir(parents=True)
        vocabulary.save(raw / "vocabulary.txt")
        for split, pairs in texts.items():
            for side, lines in zip((source, target), zip(*pairs, strict=True), strict=True):
                write_binarised(lines, vocabulary, raw / f"{split}.{side}")
    training = configuration.training(CORPUS, model.system)
    candidates = []
    for number, text in enumerate(training.text.candidates):
        raw_text = [reference for _, reference in texts["train"]]
        lines = raw_text if text.system is None else _drawn(number)
        candidates.append(lines)
        folder = Path(target_text(SCALE, CORPUS, text).path)
        if not folder.exists():
            folder.mkdir(parents=True)
            write_binarised(lines, vocabulary, folder / f"train.{target}")
    inputs = model.inputs_of_training(configuration)
    if inputs.comparison is not None and not Path(inputs.comparison.path).exists():
        path = Path(inputs.comparison.path)
        path.parent.mkdir(parents=True)
        alike = [sentence_bleu(versions) for versions in zip(*candidates, strict=True)]
        np.save(path, np.stack(alike).astype(np.float32))
    for other in (inputs.start, inputs.teacher):
        if other is not None and not Path(other.weights).exists():
            learn(configuration, other.system, other.seed)


@cache
def _texts() -> dict[str, list[tuple[str, str]]]:
    return {split: list(generate(_language(), split, number)) for split, number in PAIRS.items()}


@cache
def _language() -> Language:
    return language_of(configuration().corpus(CORPUS).generator)


@cache
def _drawn(number: int) -> list[str]:
    """Targets of a teacher, one for each source of the training text."""
    teacher = replace(_language(), **DISTILLED)
    generator = np.random.default_rng(number)
    laws: dict[str, tuple[list[str], np.ndarray]] = {}
    found = []
    for source, _ in _texts()["train"]:
        if source not in laws:
            law = modes(teacher, source)
            laws[source] = list(law), np.cumsum(list(law.values()))
        targets, shares = laws[source]
        place = int(np.searchsorted(shares, generator.random() * shares[-1], side="right"))
        found.append(targets[min(place, len(targets) - 1)])
    return found

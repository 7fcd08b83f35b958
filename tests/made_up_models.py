"""A run with untrained models: a corpus of two dozen lines, really prepared, and random weights."""

import random
import shutil
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
import torch
import yaml

from nat.artifacts import Converted, Model, Shard
from nat.configuration import read
from nat.data.translations import read_in_order
from nat.data.vocabulary import NEVER_WRITTEN, Vocabularies
from nat.export.formats import convert
from nat.files import atomic_directory
from nat.jobs.translate import translate_shard
from nat.training.model_file import WEIGHTS, build_model, checksum_of, load_model, save_model
from tests.made_up_corpus import prepare_corpus
from tests.repository import ROOT, job

CORPUS = "made-up"
WORDS = [f"{first}{second}" for first in "bdfgklmnprst" for second in ("a", "ei", "ou", "ur")]
PREPROCESSING = {
    "lowercase": True,
    "normalise_punctuation": True,
    "tokeniser": "moses",
    "max_tokens": 100,
    "max_ratio": 9.0,
    "bpe_merges": 30,
}


def sentences(number: int, seed: int) -> list[str]:
    """Raw text with capitals, quotes, commas and words that BPE splits."""
    numbers = random.Random(seed)
    found = []
    for _ in range(number):
        words = [
            numbers.choice(WORDS) + numbers.choice(WORDS) for _ in range(numbers.randint(2, 9))
        ]
        words[0] = words[0].title()
        words[-1] += numbers.choice([".", "?", "…", "!"])
        words.insert(1, f"„{numbers.choice(WORDS)}“,")
        found.append(" ".join(words))
    return found


def write_corpus(root: Path, test: Sequence[str], **preprocessing: Any) -> None:
    """The configuration of the repository at `root`, and a corpus with this test set, prepared.

    The working directory must be `root`. The scale `micro` uses the corpus. Other options of the
    preprocessing replace the usual ones.
    """
    shutil.copytree(ROOT / "config", root / "config")
    splits = {"train": sentences(200, 1), "valid": sentences(9, 2), "test": list(test)}
    for name, lines in splits.items():
        for side in ("en", "de"):
            (root / f"{name}.{side}").write_text("".join(line + "\n" for line in lines))
    description = {
        "source": "en",
        "target": "de",
        "splits": {
            name: {"files": {side: f"{name}.{side}" for side in ("en", "de")}} for name in splits
        },
        "least_perfect_score": 0,  # the test set is odd on purpose
        "preprocessing": PREPROCESSING | preprocessing,
    }
    (root / f"config/corpora/{CORPUS}.yaml").write_text(yaml.safe_dump(description))
    scale = root / "config/scales/micro.yaml"
    scale.write_text(scale.read_text().replace("toy-micro", CORPUS))
    prepare_corpus(CORPUS, read("micro").corpus(CORPUS))


def write_model(system: str, seed: int = 1, drawn: int | None = None) -> Path:
    """An untrained model of a system, of a few symbols a sentence; returns its folder.

    Its weights are `drawn` with this number, by default its seed.
    """
    training = read("micro").training(CORPUS, system)
    sizes = Vocabularies.load(Path("results/corpora") / CORPUS / "train/bpe").sizes
    torch.manual_seed(seed if drawn is None else drawn)
    model = build_model(training, sizes)
    with torch.no_grad():  # distinct predictions, and none of what is never written
        model.embedding.weight.mul_(4)
        model.embedding.weight[list(NEVER_WRITTEN)] *= 0.2
        if model.source_embedding is not None:
            model.source_embedding.weight.mul_(4)
    path = Path(Model("micro", CORPUS, system, seed).path)
    save_model(path, model.state_dict(), training, sizes, 1)
    return path.parent


def write_run(
    folder: Path,
    test: Sequence[str],
    systems: Iterable[str],
    converted: Mapping[str, Sequence[str]],
    seed: int = 1,
    **preprocessing: Any,
) -> None:
    """A run of untrained models in a folder: the corpus, the models, and those for other engines.

    Args:
        folder: empty.
        test: raw sources of the test set.
        systems: whose models are written.
        converted: systems by engine.
        seed: of the models.
        preprocessing: options that replace the usual ones.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        write_corpus(folder, test, **preprocessing)
        for system in systems:
            write_model(system, seed)
        for engine, names in converted.items():
            for system in names:
                write_converted(system, engine, seed)


def write_converted(system: str, engine: str, seed: int = 1) -> None:
    """The model of a system for another engine."""
    vocabularies = Vocabularies.load(Path("results/corpora") / CORPUS / "train/bpe")
    file = Path(Model("micro", CORPUS, system, seed).path)
    folder = Path(Converted("micro", CORPUS, system, seed, engine).path)
    with atomic_directory(folder) as made:
        convert(engine, load_model(file).model, vocabularies, made, {WEIGHTS: checksum_of(file)})


def of_graph(system: str, decoding: str, seed: int = 1) -> list[str]:
    """The translations of the test set that a job of the graph makes."""
    shard = Shard("micro", CORPUS, system, seed, decoding, "test", 1, 1)
    translate_shard(job(read("micro"), shard))
    return [record["text"] for record in read_in_order(Path(shard.path))]


def files_in(folder: Path) -> dict[str, bytes]:
    """The content of the files of a folder by their paths in it, without hidden ones."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("[!.]*")
        if path.is_file()
    }

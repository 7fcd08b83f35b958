"""Training as a user starts it, on a corpus of a few sentences: it ends, goes on, and adds up."""

import ast
import csv
import errno
import importlib.util
import json
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
import yaml

from nat.artifacts import Model
from nat.checksums import is_record
from nat.configuration import load
from nat.data.binarised import BinarisedText, write_binarised
from nat.data.vocabulary import Vocabulary, VocabularySizes
from nat.errors import UserError
from nat.fairseq_plugin.dataset import batches_per_epoch
from nat.jobs import train as train_module
from nat.jobs.train import describe, flags, train_system
from nat.training.model_file import build_model, load_model, save_model
from nat.training.record import Record
from tests.messages import must_name, told

REPOSITORY = Path(__file__).resolve().parents[1]
WORDS = 12
SIZE = {
    "model_dim": 16,
    "ffn_dim": 24,
    "encoder_layers": 1,
    "decoder_layers": 1,
    "heads": 2,
    "pre_norm": True,
    "max_positions": 20,
}
RECIPE = {
    "updates": 12,
    "batch_tokens": 80,
    "learning_rate": 0.01,
    "warmup_updates": 2,
    "schedule": "inverse_sqrt",
    "betas": [0.9, 0.98],
    "epsilon": 1e-8,
    "weight_decay": 0.01,
    "clip_norm": 0.0,
    "dropout": 0.1,
    "length_loss_weight": 0.1,
    "save_every": 3,
    "validate_every": 3,
    "validation": {"decoding": None, "metric": "loss", "sentences": None},
    "patience": None,
    "average": {"checkpoints": 2, "by": "last"},
}
IN_UPDATES = ("updates", "warmup_updates", "save_every", "validate_every")
SMOOTHED = {"method": "cross_entropy", "label_smoothing": 0.1}
SYSTEM = {"description": "a test", "size": "base", "text": "raw", "init_from": None}
SYSTEMS = {
    "at": {
        **SYSTEM,
        "input": {"method": "previous_tokens"},
        "target": SMOOTHED,
        "length": None,
        "recipe": "at",
    },
    "cmlm": {
        **SYSTEM,
        "input": {"method": "random_mask"},
        "target": SMOOTHED,
        "length": "target",
        "recipe": "cmlm",
        "text": {"distilled": {"system": "at", "decoding": "beam"}},
    },
    "dims": {
        **SYSTEM,
        "input": {"method": "random_mask"},
        "target": {"method": "dims", "ema_decay": 0.8},
        "length": "target",
        "recipe": "dims",
        "init_from": "cmlm",
    },
}
BY_BLEU = {
    "validation": {"decoding": "one-pass", "metric": "bleu", "sentences": 6},
    "average": {"checkpoints": 3, "by": "best"},
}
RECIPES = {
    "at": RECIPE,
    "cmlm": {**RECIPE, "dropout": 0.0},
    "dims": {**RECIPE, **BY_BLEU, "warmup_updates": 0},
}
DECODINGS = {"beam": {"method": "beam_search", "beam": 2}, "one-pass": {"method": "one_pass"}}
SCALE = {
    "description": "a test",
    "seeds": [1],
    "tasks": {"wmt14-en-de": "toy"},
    "sizes": {"base": SIZE},
    "recipes": {},
    "shards": {"train": 1, "valid": 1, "test": 1},
    "decoding_tokens": 100,
}
FILES = {"files": {"ka": "ka.txt", "lu": "lu.txt"}}
CORPUS = {
    "source": "ka",
    "target": "lu",
    "splits": {"train": FILES, "valid": FILES, "test": FILES},
    "preprocessing": {
        "lowercase": False,
        "normalise_punctuation": False,
        "tokeniser": "none",
        "max_tokens": 250,
        "max_ratio": 1.5,
        "bpe_merges": 0,
    },
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder: a configuration and a binarised corpus, also distilled."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    settings = {"scale": "demo", "mirror": None, "precision": "fp32", "threads": 1}
    write_yaml("config/config.yaml", settings)
    write_yaml("config/scales/demo.yaml", SCALE)
    write_yaml("config/corpora/toy.yaml", CORPUS)
    for kind, values in (("systems", SYSTEMS), ("recipes", RECIPES), ("decodings", DECODINGS)):
        for name, value in values.items():
            write_yaml(f"config/{kind}/{name}.yaml", value)
    vocabulary = Vocabulary([f"w{number}" for number in range(WORDS)])
    raw = Path("results/corpora/toy/binarised")
    raw.mkdir(parents=True)
    vocabulary.save(raw / "vocabulary.txt")
    for split, pairs, seed in (("train", 47, 0), ("valid", 9, 1)):
        source, target = sentences(pairs, seed)
        if split == "train":
            source[3], target[5] = "", ""  # nothing to learn from
            source[8] = " ".join(["w1"] * 20)  # with EOS one more than there are positions
        write_binarised(source, vocabulary, raw / f"{split}.ka")
        write_binarised(target, vocabulary, raw / f"{split}.lu")
        if split == "train":
            distilled = Path("results/demo/distilled/toy/at/seed1/beam/binarised")
            distilled.mkdir(parents=True)
            write_binarised(source[:3] + target[3:], vocabulary, distilled / "train.lu")
    return tmp_path


def write_yaml(path: str, value: Any) -> None:
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_text(yaml.safe_dump(value), encoding="utf-8")


def sentences(pairs: int, seed: int) -> tuple[list[str], list[str]]:
    """Random sentences, and what they say backwards."""
    numbers = np.random.default_rng(seed)
    drawn = [numbers.integers(0, WORDS, numbers.integers(1, 9)) for _ in range(pairs)]
    return (
        [" ".join(f"w{word}" for word in sentence) for sentence in drawn],
        [" ".join(f"w{word}" for word in sentence[::-1]) for sentence in drawn],
    )


def model_file(system: str) -> Path:
    return Path(f"results/demo/models/toy/{system}/seed1/model.pt")


def train(system: str) -> dict[str, torch.Tensor]:
    """Train in this process; the weights of the model."""
    train_system(load(), Model("demo", "toy", system, 1))
    return weights(system)


def weights(system: str) -> dict[str, torch.Tensor]:
    found = torch.load(model_file(system), weights_only=True)["weights"]
    assert isinstance(found, dict)
    return found


def report(system: str) -> dict[str, Any]:
    found = json.loads((model_file(system).parent / "training.json").read_text())
    assert isinstance(found, dict)
    return found


def curve(system: str) -> list[dict[str, str]]:
    """The rows of the training curve without what the clock says."""
    with (model_file(system).parent / "training.csv").open() as file:
        rows = list(csv.DictReader(file))
    clock = ("seconds", "tokens_per_second")
    return [{key: value for key, value in row.items() if key not in clock} for row in rows]


def test_event_files_are_written_when_they_are_asked_for(folder: Path) -> None:
    writer = pytest.importorskip("tensorboardX", reason="event files need tensorboardX")
    assert writer is not None
    settings = yaml.safe_load(Path("config/config.yaml").read_text())
    train("at")
    made = weights("at")
    assert not (model_file("at").parent / "tensorboard").exists()
    model_file("at").unlink()
    write_yaml("config/config.yaml", {**settings, "tensorboard": True})
    assert same(train("at"), made)
    assert list((model_file("at").parent / "tensorboard/valid").glob("events.out.*"))


def test_event_files_without_the_package_are_refused(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = yaml.safe_load(Path("config/config.yaml").read_text())
    write_yaml("config/config.yaml", {**settings, "tensorboard": True})
    find = importlib.util.find_spec
    monkeypatch.setattr(
        "importlib.util.find_spec",
        lambda name, package=None: None if name.startswith("tensorboard") else find(name, package),
    )
    with told("config/config.yaml", "tensorboard"):
        train("at")


def make_start() -> None:
    """A CMLM that was not trained, for DiMS to start from."""
    training = load().training("toy", "cmlm")
    torch.manual_seed(5)
    sizes = VocabularySizes(WORDS + 6)
    model = build_model(training, sizes)
    save_model(model_file("cmlm"), model.state_dict(), training, sizes, updates=0)


def same(first: dict[str, torch.Tensor], second: dict[str, torch.Tensor]) -> bool:
    return first.keys() == second.keys() and all(
        torch.equal(value, second[name]) for name, value in first.items()
    )


def change_recipe(name: str, **changes: Any) -> None:
    write_yaml(f"config/recipes/{name}.yaml", {**RECIPES[name], **changes})


def start_program(system: str, **options: Any) -> "subprocess.Popen[str]":
    command = [sys.executable, str(REPOSITORY / "workflow_scripts/train.py"), "--corpus", "toy"]
    command += ["--system", system, "--seed", "1"]
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options
    )


def kill_at(system: str, update: int) -> None:
    """Train in another process and kill it when the checkpoint of `update` is written."""
    awaited = model_file(system).parent / "checkpoints" / f"checkpoint_1_{update}.pt"
    process = start_program(system)
    try:
        while not awaited.exists() and process.poll() is None:
            time.sleep(0.001)
    finally:
        process.send_signal(signal.SIGKILL)
        _, errors = process.communicate()
    assert awaited.exists(), errors
    assert process.returncode == -signal.SIGKILL
    assert not model_file(system).exists()


class Interrupted(BaseException):
    """What a test stops a training in this process with."""


def interrupt_at(system: str, update: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Train in this process until the checkpoint of `update` is written."""
    from nat.fairseq_plugin.task import Task

    original = Task.post_save

    def interrupt(self: Task, path: str, updates: int) -> None:
        original(self, path, updates)
        if updates == update:
            raise Interrupted

    with monkeypatch.context() as patch:
        patch.setattr(Task, "post_save", interrupt)
        with pytest.raises(Interrupted):
            train(system)


@pytest.mark.parametrize("system", ["at", "dims"])
def test_a_killed_training_ends_like_an_undisturbed_one(
    folder: Path, system: str, capsys: pytest.CaptureFixture[str]
) -> None:
    # dropout and accumulation in one, a teacher and weights chosen by BLEU in the other
    if system == "at":
        write_yaml("config/scales/demo.yaml", {**SCALE, "tokens_per_device": 40})
    else:
        make_start()
    undisturbed, rows = train(system), curve(system)
    assert [row["update"] for row in rows if row["split"] == "train"] == [*map(str, range(1, 13))]
    start = [] if system == "at" else ["0"]
    validated = [row["update"] for row in rows if row["split"] == "valid"]
    assert validated == [*start, "3", "6", "9", "12"]
    assert sorted(path.name for path in model_file(system).parent.glob("[!.]*")) == [
        "model.pt",
        "training.csv",
        "training.json",
    ]
    before = report(system)
    shutil.rmtree(model_file(system).parent)

    kill_at(system, 6)
    capsys.readouterr()
    resumed = train(system)
    must_name(capsys.readouterr().out, "resumes")
    assert same(undisturbed, resumed)
    assert curve(system) == rows
    for key in ("updates", "tokens", "averaged_updates", "validation", "pairs"):
        assert report(system)[key] == before[key]
    assert before["batches_per_update_and_device"] == (2 if system == "at" else 1)


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
@pytest.mark.parametrize("system", ["at", "dims"])
def test_on_a_gpu_a_killed_training_ends_nearly_like_an_undisturbed_one(
    folder: Path, system: str
) -> None:
    if system == "at":
        write_yaml("config/scales/demo.yaml", {**SCALE, "tokens_per_device": 40})
    else:
        make_start()
    train(system)
    rows = curve(system)
    assert report(system)["device"] == torch.cuda.get_device_name()
    shutil.rmtree(model_file(system).parent)
    kill_at(system, 6)
    train(system)
    for found, expected in zip(curve(system), rows, strict=True):
        assert (found["update"], found["split"]) == (expected["update"], expected["split"])
        assert float(found["loss"]) == pytest.approx(float(expected["loss"]), rel=0.01)


def test_a_constant_length_and_latents_go_on_as_they_were(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, target = sentences(47, 0)
    vocabulary = Vocabulary.load("results/corpora/toy/binarised/vocabulary.txt")
    longer = [" ".join([sentence] + ["w1"] * (row % 3)) for row, sentence in enumerate(target)]
    source[3] = ""  # left out
    for language, text in (("ka", source), ("lu", longer)):
        write_binarised(text, vocabulary, Path(f"results/corpora/toy/binarised/train.{language}"))
    system = {
        **SYSTEM,
        "input": {"method": "full_mask"},
        "target": SMOOTHED,
        "decoder": {"copy": "soft", "positional_attention": True},
        "latent": {"dim": 2, "posterior_layers": 1, "free_until": 0.2, "annealed_at": 0.7},
        "length": "constant",
        "recipe": "at",
    }
    write_yaml("config/systems/nat.yaml", system)
    undisturbed = train("nat")
    differences = [row % 3 for row in range(47) if row != 3]
    expected = sum(differences) / len(differences)
    assert undisturbed["length_predictor.difference"].item() == pytest.approx(expected)
    assert float(curve("nat")[-1]["kl"]) > 0
    shutil.rmtree(model_file("nat").parent)
    interrupt_at("nat", 6, monkeypatch)
    assert same(undisturbed, train("nat"))
    model = load_model(model_file("nat")).model
    assert model.latents is not None and model.decoder.positional_attention


def test_a_finished_training_is_left_alone(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first = train("at")
    times = [path.stat().st_mtime_ns for path in sorted(model_file("at").parent.iterdir())]
    capsys.readouterr()
    assert same(first, train("at"))
    assert times == [path.stat().st_mtime_ns for path in sorted(model_file("at").parent.iterdir())]
    assert "is finished already" in capsys.readouterr().out


def test_what_is_left_of_checkpoints_is_not_used(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A training is killed while it removes them, and Snakemake removes its outputs."""
    remove = Path.unlink

    def remove_until_weights(path: Path, missing_ok: bool = False) -> None:
        remove(path, missing_ok)
        if path.match("checkpoints/weights_12.pt"):
            raise Interrupted

    with monkeypatch.context() as patch:
        patch.setattr(Path, "unlink", remove_until_weights)
        with pytest.raises(Interrupted):
            train("at")
    undisturbed = weights("at")
    for path in model_file("at").parent.glob("*.*"):
        path.unlink()
    assert same(undisturbed, train("at"))
    must_name(capsys.readouterr().out, "checkpoints", "missing", "discarded")


def linked_checkpoints(system: str, folder: Path) -> Path:
    """The link beside a model to an empty folder on another disk."""
    link = model_file(system).parent / "checkpoints"
    link.parent.mkdir(parents=True, exist_ok=True)
    (folder / "scratch").mkdir(exist_ok=True)
    link.symlink_to(folder / "scratch")
    return link


@pytest.mark.parametrize("foreign", ["thesis.txt", "inner/weights_3.pt", "notes.tmp", ".hidden"])
@pytest.mark.parametrize("finished", [False, True])
def test_checkpoints_in_a_folder_with_other_files_are_refused(
    folder: Path, monkeypatch: pytest.MonkeyPatch, foreign: str, finished: bool
) -> None:
    if finished:
        monkeypatch.setattr(train_module, "_is_written", lambda *_: True)
    link = linked_checkpoints("at", folder)
    (link / foreign).parent.mkdir(exist_ok=True)
    for name in (foreign, "checkpoint_1_3.pt", "training.csv"):
        (link / name).write_text("mine")
    before = sorted(folder.rglob("*"))
    with pytest.raises(UserError, match=f"{link} .*{foreign.partition('/')[0]}"):
        train_system(load(), Model("demo", "toy", "at", 1))
    assert sorted(folder.rglob("*")) == before and link.is_symlink()
    assert (link / foreign).read_text() == "mine"


def test_checkpoints_behind_a_link(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    clean = train("at")
    shutil.rmtree(model_file("at").parent)
    link = linked_checkpoints("at", folder)
    kill_at("at", 6)
    capsys.readouterr()
    assert same(clean, train("at"))
    assert "resumes from its checkpoint of update" in capsys.readouterr().out
    assert link.is_symlink() and [*link.iterdir()] == []
    train("at")
    assert "is finished already" in capsys.readouterr().out
    assert link.is_symlink() and [*link.iterdir()] == []
    # those of an earlier configuration are discarded there, those of another model are not
    model_file("at").unlink()
    change_recipe("at", dropout=0.4)
    interrupt_at("at", 3, monkeypatch)
    change_recipe("at")
    other = linked_checkpoints("cmlm", folder)
    with pytest.raises(UserError, match=f"{other} .*{link}"):
        train("cmlm")
    capsys.readouterr()
    assert same(clean, train("at"))
    assert "recipe.dropout: 0.4 is now 0.1): discarded" in capsys.readouterr().out


def test_what_a_user_puts_beside_checkpoints_stays(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    interrupt_at("at", 3, monkeypatch)
    checkpoints = model_file("at").parent / "checkpoints"
    names = {path.name for path in checkpoints.iterdir()}
    assert names >= {"run.json", "training.csv", "weights_3.pt", "checkpoint_1_3.pt"}
    from nat.fairseq_plugin.task import Task

    original = Task.post_save

    def put(self: Task, path: str, updates: int) -> None:
        original(self, path, updates)
        (checkpoints / "notes.tmp").touch()

    monkeypatch.setattr(Task, "post_save", put)
    train("at")
    assert [path.name for path in checkpoints.iterdir()] == ["notes.tmp"]


def test_event_files_of_an_earlier_training_are_removed_and_nothing_else(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(train_module, "_events", lambda *_: str(events))
    monkeypatch.setattr("nat.fairseq_plugin.launcher.train", lambda _: None)
    monkeypatch.setattr(train_module, "finish", lambda *_: None)
    events = folder / "tensorboard"
    old = events / "valid/events.out.tfevents.1.host"
    mine = [events / "notes.txt", events / "baseline/events.out.tfevents.1.host"]
    for path in (old, *mine):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    train_system(load(), Model("demo", "toy", "at", 1))
    assert not old.exists() and all(path.exists() for path in mine)


def test_on_a_processor_attention_keeps_its_kernels(folder: Path) -> None:
    train("at")
    assert torch.backends.cuda.flash_sdp_enabled()  # which is asked for processors, too


def test_counts_and_report(folder: Path) -> None:
    train("at")
    found = report("at")
    assert found["pairs"]["train"] == {
        "used": 44,
        "left_out": {"empty": 2, "longer_than_positions": 1, "longer_than_batch": 0},
    }
    assert found["pairs"]["valid"]["used"] == 9
    assert found["updates"] == 12
    assert found["parameters"] == sum(
        value.numel() for value in load_model(model_file("at")).model.parameters()
    )
    raw = "results/corpora/toy/binarised/train"
    passes = batches_per_epoch([f"{raw}.ka", f"{raw}.lu"], (19, 19), 80, "test")
    assert found["epochs"] == round(12 / passes, 3)
    assert found["tokens"] > 0 < found["seconds"]
    assert found["averaged_updates"] == [9, 12]
    assert found["training"] == load().training("toy", "at").as_json()
    assert found["precision"] == "fp32"
    # the label of a build, such as +cpu, is not in the package's version with every build
    release = found["versions"]["torch"].partition("+")[0]
    assert release == torch.__version__.partition("+")[0]


@pytest.fixture
def keeping(folder: Path) -> Path:
    """The recipe of the teacher keeps checkpoints, one of them between two that are saved."""
    change_recipe("at", keep={"early": 4, "half": 6, "end": 12})
    return folder


def kept(name: str) -> dict[str, torch.Tensor]:
    found = torch.load(model_file("at").parent / f"kept/{name}.pt", weights_only=True)["weights"]
    assert isinstance(found, dict)
    return found


def test_kept_checkpoints_are_the_weights_after_these_updates(
    keeping: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    interrupt_at("at", 9, monkeypatch)
    curve_so_far = model_file("at").parent / "checkpoints/training.csv"
    assert curve_so_far.read_text().count("valid") == 3
    train("at")
    found = {update: kept(name) for name, update in (("early", 4), ("half", 6), ("end", 12))}
    assert load_model(model_file("at").parent / "kept/early.pt").updates == 4
    assert not same(found[12], weights("at"))  # which is a mean
    for update, its_weights in found.items():
        # a training that ends there, without a mean
        change_recipe("at", updates=update, average={"checkpoints": 1, "by": "last"})
        assert same(its_weights, train("at"))


@pytest.mark.parametrize("update", [3, 6, 9])
def test_kept_checkpoints_of_an_interrupted_training(
    keeping: Path, update: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    train("at")
    undisturbed = {name: kept(name) for name in ("early", "half", "end")}
    shutil.rmtree(model_file("at").parent)
    interrupt_at("at", update, monkeypatch)
    train("at")
    assert all(same(value, kept(name)) for name, value in undisturbed.items())


def test_a_training_starts_from_a_kept_checkpoint(keeping: Path) -> None:
    train("at")
    heir = {**SYSTEMS["at"], "init_from": {"system": "at", "kept": "early"}, "recipe": "cmlm"}
    write_yaml("config/systems/heir.yaml", heir)
    change_recipe("cmlm", learning_rate=1e-30, average={"checkpoints": 1, "by": "last"})
    found = train("heir")
    for name, value in kept("early").items():
        torch.testing.assert_close(found[name], value, rtol=0, atol=1e-6)
    assert not torch.equal(kept("early")["embedding.weight"], weights("at")["embedding.weight"])


def test_a_length_in_epochs(folder: Path) -> None:
    raw = "results/corpora/toy/binarised/train"
    each = batches_per_epoch([f"{raw}.ka", f"{raw}.lu"], (19, 19), 40, "test") / 2
    write_yaml("config/scales/demo.yaml", {**SCALE, "tokens_per_device": 40})
    recipe = {key: value for key, value in RECIPE.items() if key not in IN_UPDATES}
    in_epochs = {"epochs": 3, "warmup_epochs": 0.5, "validations_per_epoch": 2}
    write_yaml("config/recipes/at.yaml", recipe | in_epochs)
    by_epochs, rows = train("at"), curve("at")
    updates, every = round(3 * each), round(each / 2)
    lengths = {
        "updates": updates,
        "warmup_updates": round(each / 2),
        "save_every": every,
        "validate_every": every,
    }
    found = report("at")
    assert found["lengths"] == lengths
    assert found["updates"] == updates
    assert found["epochs"] == pytest.approx(3, abs=0.5 / each)
    assert found["training"] == load().training("toy", "at").as_json()
    assert {key: found["training"]["recipe"][key] for key in in_epochs} == in_epochs
    # the same as a recipe that says so in updates
    write_yaml("config/recipes/at.yaml", recipe | lengths)
    assert same(by_epochs, train("at"))
    assert curve("at") == rows
    assert report("at")["fingerprint"] != found["fingerprint"]


def test_epochs_too_few_for_the_warm_up(folder: Path) -> None:
    recipe = {key: value for key, value in RECIPE.items() if key != "updates"}
    write_yaml("config/recipes/at.yaml", {**recipe, "epochs": 1, "warmup_updates": 500})
    with told("warmup_updates", "500"):
        train("at")


def test_every_pair_is_in_every_pass(folder: Path) -> None:
    from nat.fairseq_plugin.dataset import Pairs, passes

    raw = "results/corpora/toy/binarised"
    texts = BinarisedText(f"{raw}/train.ka"), BinarisedText(f"{raw}/train.lu")
    pairs = Pairs(texts[0], texts[1:], longest=(19, 19), max_tokens=40, name="test")
    batches = pairs.batches(max_tokens=40, seed=1)
    assert all(len(batch) * pairs.tokens[batch].max() <= 40 for batch in batches)
    laid_out = passes(batches, needed=2 * len(batches) + 1, seed=1)
    assert len(laid_out) == 3 * len(batches)
    orders = []
    for number in range(3):
        one = laid_out[number * len(batches) : (number + 1) * len(batches)]
        assert sorted(np.concatenate(one)) == list(range(44))
        orders.append(np.concatenate(one).tolist())
    assert orders[0] != orders[1] != orders[2]
    ids = [number for number in range(47) if number not in (3, 5, 8)]
    assert pairs.ids.tolist() == ids
    number, source, [target] = pairs[3]
    assert number == ids[3]
    assert source.tolist() == texts[0][number].tolist()
    assert target.tolist() == texts[1][number].tolist()


def test_distilled_text_is_checked_and_used(folder: Path) -> None:
    train("cmlm")
    distilled = Path("results/demo/distilled/toy/at/seed1/beam/binarised/train.lu")
    with_distilled = weights("cmlm")
    vocabulary = Vocabulary.load("results/corpora/toy/binarised/vocabulary.txt")
    write_binarised(sentences(47, 2)[1], vocabulary, distilled)
    assert not same(with_distilled, train("cmlm"))
    write_binarised(sentences(46, 0)[1], vocabulary, distilled)
    with told("47", "46", "snakemake --force", "train.lu"):
        train("cmlm")


def test_accumulation_changes_nothing(folder: Path) -> None:
    """One update sees the whole corpus, in one batch or in two."""
    vocabulary = Vocabulary.load("results/corpora/toy/binarised/vocabulary.txt")
    numbers = np.random.default_rng(0)
    lines = [" ".join(f"w{word}" for word in numbers.integers(0, WORDS, 7)) for _ in range(20)]
    write_binarised(lines, vocabulary, "results/corpora/toy/binarised/train.ka")
    distilled = "results/demo/distilled/toy/at/seed1/beam/binarised/train.lu"
    write_binarised(lines[::-1], vocabulary, distilled)
    # epsilon: Adam would blow up the rounding errors of gradients that are zero
    change_recipe("cmlm", batch_tokens=160, epsilon=1e-3)
    whole = train("cmlm")
    assert report("cmlm")["batches_per_update_and_device"] == 1
    shutil.rmtree(model_file("cmlm").parent)
    write_yaml("config/scales/demo.yaml", {**SCALE, "tokens_per_device": 80})
    halves = train("cmlm")
    assert report("cmlm")["batches_per_update_and_device"] == 2
    for name, value in whole.items():
        torch.testing.assert_close(value, halves[name], rtol=1e-3, atol=1e-4)


def test_checkpoints_of_another_configuration_are_discarded(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    clean = train("at")
    shutil.rmtree(model_file("at").parent)
    change_recipe("at", dropout=0.4)
    interrupt_at("at", 3, monkeypatch)
    change_recipe("at")
    capsys.readouterr()
    assert same(clean, train("at"))
    said = capsys.readouterr().out
    assert "recipe.dropout: 0.4 is now 0.1): discarded" in said
    assert "resumes" not in said


def test_a_training_killed_at_its_very_end_is_finished(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After the last update, before or between the outputs, nothing is trained again."""
    from nat.fairseq_plugin import launcher
    from nat.jobs import train as job

    clean = train("at")
    shutil.rmtree(model_file("at").parent)

    def interrupt(*_: Any) -> None:
        raise Interrupted

    with monkeypatch.context() as patch:
        patch.setattr(job, "write_json", interrupt)
        with pytest.raises(Interrupted):
            train("at")
    assert model_file("at").exists()
    assert not (model_file("at").parent / "training.json").exists()
    monkeypatch.setattr(launcher, "train", interrupt)
    assert same(clean, train("at"))
    assert not (model_file("at").parent / "checkpoints").exists()


def test_a_damaged_checkpoint_is_passed_over(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    clean, rows = train("at"), curve("at")
    shutil.rmtree(model_file("at").parent)
    interrupt_at("at", 9, monkeypatch)
    checkpoints = model_file("at").parent / "checkpoints"
    newest = checkpoints / "checkpoint_1_9.pt"
    whole = bytearray(newest.read_bytes())
    whole[whole.rindex(b"PK\x01\x02") + 10] = 99  # a compression that does not exist
    newest.write_bytes(whole)
    (checkpoints / "checkpoint_1_12.pt.tmp").write_bytes(b"half")
    capsys.readouterr()
    assert same(clean, train("at"))
    assert curve("at") == rows
    said = capsys.readouterr().out
    must_name(said, "update 9 is damaged", "update 6")


def test_the_mean_and_the_loss_of_the_model_file(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file holds the mean of the last two checkpoints and gives the loss that they give."""
    kept: dict[int, dict[str, torch.Tensor]] = {}

    def keep(path: Path, found: dict[str, torch.Tensor]) -> None:
        update = int(path.stem.removeprefix("weights_"))
        kept[update] = {name: value.clone() for name, value in found.items()}
        save(path, found)

    from nat.fairseq_plugin import task
    from nat.training.averaging import save_weights as save

    monkeypatch.setattr(task, "save_weights", keep)
    change_recipe("at", average={"checkpoints": 1, "by": "last"})
    found = train("at")
    assert same(found, kept[12])
    # the last validation of the curve, computed again from the file
    from nat.data.batch import Batch
    from nat.objective.objective import Objective

    raw = "results/corpora/toy/binarised"
    source, target = BinarisedText(f"{raw}/valid.ka"), BinarisedText(f"{raw}/valid.lu")
    batch = Batch.collate(range(9), [source[i] for i in range(9)], [target[i] for i in range(9)])
    loaded = load_model(model_file("at"))
    objective = Objective(loaded.training, loaded.model, seed=1, bfloat16=False).eval()
    loss = objective(loaded.model, batch, 0)
    expected = float(curve("at")[-1]["loss"])
    assert float(loss.value.sum() / loss.positions.sum()) == pytest.approx(expected, rel=1e-5)

    change_recipe("at", average={"checkpoints": 2, "by": "last"})
    found = train("at")
    for name, value in found.items():
        mean = (kept[9][name].double() + kept[12][name].double()) / 2
        torch.testing.assert_close(value, mean.float(), rtol=0, atol=0)


def test_validation_has_the_same_masks_whatever_the_update(
    make_model: Any, make_batch: Any, make_objective: Any
) -> None:
    from nat.fairseq_plugin.criterion import Criterion
    from nat.fairseq_plugin.model import Model as FairseqModel

    model, batch = make_model(), make_batch([(3, 30)])
    objective = make_objective(model, "random_mask", {"method": "cross_entropy"})
    criterion = Criterion(SimpleNamespace(), objective)
    sample = {"batch": batch, "ntokens": 30, "nsentences": 1}
    found: dict[bool, list[float]] = {True: [], False: []}
    for training, losses in found.items():
        criterion.train(training)
        for update in (0, 7):
            criterion.update = update
            losses.append(float(criterion(FairseqModel(model), sample)[0]))
    assert found[True][0] != found[True][1]
    assert found[False][0] == found[False][1]


def test_patience_ends_a_training(folder: Path) -> None:
    change_recipe("at", learning_rate=1e-30, updates=300, patience=2, validate_every=1)
    train("at")
    found = report("at")
    # a model that stays as it is: the first validation is the best
    assert (found["updates"], found["validation"]["best_update"]) == (3, 1)
    assert found["averaged_updates"] == [3]


def test_patience_waits_for_weights_that_are_saved(folder: Path) -> None:
    keys = {"learning_rate": 1e-30, "updates": 300, "patience": 2}
    change_recipe("at", **keys, validate_every=1, save_every=5)
    train("at")
    assert (report("at")["updates"], report("at")["averaged_updates"]) == (5, [5])


def test_missing_inputs_are_named(folder: Path) -> None:
    with told("cmlm/seed1/model.pt", "does not exist", "snakemake --force"):
        train("dims")
    Path("results/demo/distilled/toy/at/seed1/beam/binarised/train.lu.tokens.npy").unlink()
    with told("train.lu.tokens.npy"):
        train("cmlm")


def test_divergence_is_told(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from nat.objective.context import BatchContext, DecoderInput, Loss
    from nat.targets.cross_entropy import CrossEntropy

    original: Callable[..., Loss] = CrossEntropy.__call__

    def diverge(self: CrossEntropy, context: BatchContext, decoder_input: DecoderInput) -> Loss:
        loss = original(self, context, decoder_input)
        return loss if context.update < 4 else Loss(loss.value * torch.nan, loss.positions)

    monkeypatch.setattr(CrossEntropy, "__call__", diverge)
    with told("'learning_rate'"):
        train("at")
    assert not model_file("at").exists()
    assert not list(model_file("at").parent.rglob("crash.pt*"))


@pytest.mark.parametrize("wrong", [torch.nan, torch.inf])
def test_a_gradient_that_is_not_finite_is_told(
    folder: Path, monkeypatch: pytest.MonkeyPatch, wrong: float
) -> None:
    """The loss is finite; the training goes on from its last checkpoint to the same model."""
    from nat.objective.context import BatchContext, DecoderInput, Loss
    from nat.targets.cross_entropy import CrossEntropy

    undisturbed = train("at")
    shutil.rmtree(model_file("at").parent)
    original: Callable[..., Loss] = CrossEntropy.__call__

    def spoil(self: CrossEntropy, context: BatchContext, decoder_input: DecoderInput) -> Loss:
        loss = original(self, context, decoder_input)
        if context.update >= 8 and loss.value.requires_grad:
            loss.value.register_hook(lambda gradient: gradient * wrong)
        return loss

    with monkeypatch.context() as during:
        during.setattr(CrossEntropy, "__call__", spoil)
        with told("'learning_rate'"):
            train("at")
    checkpoints = model_file("at").parent / "checkpoints"
    assert list(checkpoints.glob("checkpoint_*_6.pt")) and not list(checkpoints.glob("crash.pt*"))
    assert same(undisturbed, train("at"))


def test_damaged_weights_of_a_training_name_a_remedy_that_works(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    undisturbed = train("at")
    shutil.rmtree(model_file("at").parent)
    interrupt_at("at", 6, monkeypatch)
    checkpoints = model_file("at").parent / "checkpoints"
    weights = sorted(checkpoints.glob("weights_*.pt"))[-1]
    damaged = bytearray(weights.read_bytes())
    damaged[len(damaged) // 2] ^= 1
    weights.write_bytes(damaged)
    with told(weights.name, "damaged", "checkpoints"):
        train("at")
    shutil.rmtree(checkpoints)
    assert same(undisturbed, train("at"))


def test_what_is_suspicious_is_flagged() -> None:
    record = Record(rows=[{"split": "valid", "bleu": 3.0}, {"split": "valid", "bleu": 0.0}])
    few = {"used": 72, "left_out": {"empty": 0, "longer_than_batch": 228}}
    bleu, left_out = flags(record, few)
    must_name(bleu, "BLEU 0")
    must_name(left_out, "228", "300")
    many = {"used": 228, "left_out": {"empty": 72}}
    assert flags(Record(rows=[{"split": "valid", "bleu": 1.0}]), many) == []
    for infeasible, flagged in ((0.0, False), (0.1, False), (1.69, True)):
        found = flags(Record(rows=[{"split": "valid", "infeasible": infeasible}]), many)
        assert [flag for flag in found if "1.69 such tokens" in flag] == found
        assert bool(found) == flagged


def test_threads_are_those_of_openmp(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = Model("demo", "toy", "at", 1)
    configuration = load().on("toy")
    found = {}
    for given in ("1", "2", "2,4"):
        monkeypatch.setenv("OMP_NUM_THREADS", given)
        found[given] = describe(configuration, model)
    assert found["2"] == found["2,4"]
    assert found["1"].fingerprint == found["2"].fingerprint
    assert found["1"].exact_fingerprint != found["2"].exact_fingerprint
    monkeypatch.setenv("OMP_NUM_THREADS", "many")
    with told("OMP_NUM_THREADS", "'many'"):
        describe(configuration, model)


@pytest.mark.parametrize(
    "place",
    [
        "nat.targets.cross_entropy.CrossEntropy.__call__",
        "nat.fairseq_plugin.task.Task.optimizer_step",
        "nat.fairseq_plugin.task.Task.valid_step",
    ],
)
@pytest.mark.parametrize("gpu", [True, False])
def test_a_batch_that_does_not_fit_is_told(
    folder: Path, monkeypatch: pytest.MonkeyPatch, place: str, gpu: bool
) -> None:
    def fill_memory(*_: Any, **__: Any) -> None:
        if gpu:
            raise torch.OutOfMemoryError("CUDA out of memory")
        torch.empty(10**15)

    monkeypatch.setattr(place, fill_memory)
    with told("80 tokens"):
        train("at")


@pytest.mark.parametrize("error", [OSError(errno.EIO, "of a text"), RuntimeError("a mistake")])
def test_other_errors_are_not_said_to_be_of_a_checkpoint(
    folder: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def fail(*_: Any, **__: Any) -> None:
        try:
            Path("missing").read_text()
        except OSError:
            raise error  # noqa: B904

    monkeypatch.setattr("nat.targets.cross_entropy.CrossEntropy.__call__", fail)
    with told(error, error=type(error), one_line=False) as caught:
        train("at")
    assert "cannot write to" not in str(caught.value)


@pytest.mark.parametrize(("schedule", "warmup"), [("inverse_sqrt", 7), ("fixed", 7), ("fixed", 0)])
@pytest.mark.parametrize("devices", [1, 2])
def test_fairseq_is_told_what_the_recipe_says(
    monkeypatch: pytest.MonkeyPatch, schedule: str, warmup: int, devices: int
) -> None:
    """No value is a default of fairseq's or of a recipe."""
    from nat.fairseq_plugin.launcher import _configuration

    monkeypatch.setenv("RANK", "1")
    recipe = {
        **{"betas": (0.7, 0.8), "epsilon": 3e-7, "weight_decay": 0.03, "clip_norm": 6.5},
        **{"learning_rate": 4e-4, "schedule": schedule},
    }
    lengths = {"warmup_updates": warmup, "updates": 77, "save_every": 5, "validate_every": 9}
    run: Any = SimpleNamespace(
        recipe=SimpleNamespace(**recipe),
        lengths=SimpleNamespace(**lengths),
        **{"seed": 4, "tokens_per_batch": 321, "accumulation": 3, "devices": devices},
        **{"events": "events", "checkpoints": "run/checkpoints"},
    )
    found: Any = _configuration(run)
    assert found.common.seed == 4 and found.common.tensorboard_logdir == "events"
    assert found.common.cpu != torch.cuda.is_available()
    assert found.dataset.max_tokens == found.dataset.max_tokens_valid == 321
    assert found.dataset.validate_interval_updates == 9
    assert (found.optimization.lr, found.optimization.update_freq) == ([4e-4], [3])
    assert (found.optimization.clip_norm, found.optimization.max_update) == (6.5, 77)
    assert found.checkpoint.save_interval_updates == 5
    assert found.checkpoint.save_dir == "run/checkpoints"
    assert ast.literal_eval(found.optimizer.adam_betas) == (0.7, 0.8)
    assert (found.optimizer.adam_eps, found.optimizer.weight_decay) == (3e-7, 0.03)
    assert found.lr_scheduler["_name"] == schedule
    assert found.lr_scheduler.warmup_updates == max(warmup, 1)
    if schedule == "inverse_sqrt":
        assert found.lr_scheduler.warmup_init_lr == 1e-7
    spread = found.distributed_training
    assert (spread.distributed_world_size, spread.ddp_backend) == (devices, "legacy_ddp")
    assert spread.distributed_rank == (1 if devices == 2 else 0)
    assert found.checkpoint.load_checkpoint_on_all_dp_ranks == (devices == 2)


def test_another_start_model_is_refused(folder: Path) -> None:
    make_start()
    write_yaml("config/scales/demo.yaml", {**SCALE, "sizes": {"base": {**SIZE, "heads": 4}}})
    with told("architecture"):
        train("dims")
    write_yaml("config/scales/demo.yaml", SCALE)
    training = load().training("toy", "cmlm")
    sizes = VocabularySizes(WORDS + 5)
    model = build_model(training, sizes)
    save_model(model_file("cmlm"), model.state_dict(), training, sizes, updates=0)
    with told("17 symbols", "18"):
        train("dims")


def test_two_processes_do_not_train_into_one_folder(folder: Path) -> None:
    process = start_program("at")
    try:
        while not (model_file("at").parent / "checkpoints/run.json").exists():
            assert process.poll() is None
            time.sleep(0.001)
        with told("another process", "at/seed1"):
            train("at")
    finally:
        process.kill()
        process.communicate()
    train("at")  # the lock went with its process


def test_a_full_disk_is_told(folder: Path) -> None:
    """Files may grow to 50 kB only: enough for weights, too little for a checkpoint."""

    def limit() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000))

    process = start_program("at", preexec_fn=limit)
    _, errors = process.communicate()
    assert process.returncode == 1
    last = errors.strip().splitlines()[-1]
    must_name(last, "error", "checkpoints")
    assert not model_file("at").exists()
    left = model_file("at").parent.rglob("*.pt*")
    assert [path.name for path in left if not is_record(path)] == ["weights_3.pt"]

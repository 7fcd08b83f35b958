"""Training as a user starts it, on a corpus of a few sentences: it ends, goes on, and adds up."""

import csv
import json
import os
import resource
import shlex
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
from fairseq.checkpoint_utils import load_checkpoint_to_cpu

from nat.artifacts import Model
from nat.checksums import OF_FOLDER
from nat.configuration import load
from nat.data.batch import Batch
from nat.data.binarised import BinarisedText, write_binarised
from nat.data.vocabulary import Vocabulary, VocabularySizes
from nat.fairseq_plugin import launcher
from nat.fairseq_plugin.dataset import TrainingPairs, passes
from nat.fairseq_plugin.task import TrainingTask
from nat.job import write_jobs
from nat.jobs import train as train_module
from nat.jobs.train import train_system
from nat.objective.context import BatchContext, DecoderInput, Loss
from nat.objective.objective import Objective
from nat.targets.cross_entropy import CrossEntropy
from nat.training.model_file import build_model, load_model, save_model
from nat.training.run import forget_ended
from tests.made_up_corpus import corpus_file
from tests.messages import must_name, told
from tests.repository import ROOT, job, write_yaml

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
    **yaml.safe_load((ROOT / "config/recipes/student.yaml").read_text()),
    "updates": 12,
    "batch_tokens": 80,
    "learning_rate": 0.01,
    "warmup_updates": 2,
    "dropout": 0.1,
    "save_every": 3,
    "validate_every": 3,
    "validation": {"decoding": None, "metric": "loss", "sentences": None},
    "average": {"checkpoints": 2, "by": "last"},
}
IN_UPDATES = ("updates", "warmup_updates", "save_every", "validate_every")
SMOOTHED = {"method": "cross_entropy", "label_smoothing": 0.1}
SYSTEM: dict[str, Any] = {"description": "a test", "size": "base", "text": "raw", "init_from": None}
STUDENT = {**SYSTEM, "input": {"method": "random_mask"}, "length": "target"}
SYSTEMS: dict[str, dict[str, Any]] = {
    "at": {
        **SYSTEM,
        "input": {"method": "previous_tokens"},
        "target": SMOOTHED,
        "length": None,
        "recipe": "at",
    },
    "cmlm": {
        **STUDENT,
        "target": SMOOTHED,
        "recipe": "cmlm",
        "text": {"distilled": {"system": "at", "decoding": "beam"}},
    },
    "dims": {
        **STUDENT,
        "target": {"method": "dims", "ema_decay": 0.8},
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
CORPUS = corpus_file("ka", "lu")
CORPUS["preprocessing"] = {**CORPUS["preprocessing"], "bpe_merges": 0}
RAW = Path("results/corpora/toy/train/binarised")
DISTILLED = Path("results/demo/distilled/toy/at/seed1/beam/binarised/train.lu")
SETTINGS = {"scale": "demo", "mirror": None, "precision": "fp32", "threads": 1}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder: a configuration and a binarised corpus, also distilled."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    write_yaml("config/config.yaml", SETTINGS)
    write_yaml("config/scales/demo.yaml", SCALE)
    write_yaml("config/corpora/toy.yaml", CORPUS)
    for kind, values in (("systems", SYSTEMS), ("recipes", RECIPES), ("decodings", DECODINGS)):
        for name, value in values.items():
            write_yaml(f"config/{kind}/{name}.yaml", value)
    for made in (RAW, DISTILLED.parent):
        made.mkdir(parents=True)
    Vocabulary([f"w{number}" for number in range(WORDS)]).save(RAW / "vocabulary.txt")
    source, target = sentences(47, 0)
    source[3], target[5] = "", ""  # nothing to learn from
    source[8] = " ".join(["w1"] * 20)  # with EOS one more than there are positions
    for split, pairs in (("train", (source, target)), ("valid", sentences(9, 1))):
        for language, text in zip(("ka", "lu"), pairs, strict=True):
            binarise(text, RAW / f"{split}.{language}")
    binarise(source[:3] + target[3:], DISTILLED)
    return tmp_path


def binarise(lines: list[str], prefix: Path) -> None:
    write_binarised(lines, Vocabulary.load(RAW / "vocabulary.txt"), prefix)


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
    train_system(job(load(), Model("demo", "toy", system, 1)))
    return weights(system)


def weights(system: str) -> dict[str, torch.Tensor]:
    return torch.load(model_file(system), weights_only=True)["weights"]


def report(system: str) -> dict[str, Any]:
    return json.loads((model_file(system).parent / "training.json").read_text())


def curve(system: str) -> list[dict[str, str]]:
    """The rows of the training curve without what the clock says."""
    with (model_file(system).parent / "training.csv").open() as file:
        rows = list(csv.DictReader(file))
    clock = ("seconds", "tokens_per_second")
    return [{key: value for key, value in row.items() if key not in clock} for row in rows]


def make_start(symbols: int = WORDS + 6) -> None:
    """A CMLM that was not trained, for DiMS to start from."""
    training = load().training("toy", "cmlm")
    torch.manual_seed(5)
    sizes = VocabularySizes(symbols)
    model = build_model(training, sizes)
    save_model(model_file("cmlm"), model.state_dict(), training, sizes, updates=0)


def same(first: dict[str, torch.Tensor], second: dict[str, torch.Tensor]) -> bool:
    return first.keys() == second.keys() and all(
        torch.equal(value, second[name]) for name, value in first.items()
    )


def change_recipe(name: str, **changes: Any) -> None:
    write_yaml(f"config/recipes/{name}.yaml", {**RECIPES[name], **changes})


class Interrupted(BaseException):
    """Stops a training in this process."""


def interrupt(*_: Any, **__: Any) -> None:
    raise Interrupted


def command(system: str) -> list[str]:
    """The command that trains a system with the configuration as it is now."""
    path = Path("job.json")
    path.write_text(write_jobs([job(load(), Model("demo", "toy", system, 1))]), encoding="utf-8")
    return [sys.executable, str(ROOT / "workflow_scripts/train.py"), str(path)]


def start_program(system: str, **options: Any) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        command(system), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options
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


def after_checkpoints(monkeypatch: pytest.MonkeyPatch, happens: Callable[[int], None]) -> None:
    """Call something with the update whenever its checkpoint is written."""
    original = TrainingTask.post_save

    def post_save(self: TrainingTask, path: str, updates: int) -> None:
        original(self, path, updates)
        happens(updates)

    monkeypatch.setattr(TrainingTask, "post_save", post_save)


def interrupt_at(system: str, update: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Train in this process until the checkpoint of `update` is written."""
    with monkeypatch.context() as patch:
        after_checkpoints(patch, lambda updates: interrupt() if updates == update else None)
        with pytest.raises(Interrupted):
            train(system)


def undisturbed(system: str) -> tuple[dict[str, torch.Tensor], list[dict[str, str]]]:
    """The weights and the curve of a training, of which nothing is left."""
    found = train(system), curve(system)
    shutil.rmtree(model_file(system).parent)
    return found


def prepare(system: str) -> None:
    """Dropout and accumulation in one; a teacher and weights chosen by BLEU in the other."""
    if system == "at":
        write_yaml("config/scales/demo.yaml", {**SCALE, "tokens_per_device": {"others": 40}})
    else:
        make_start()


@pytest.mark.parametrize("system", ["at", "dims"])
def test_a_killed_training_ends_like_an_undisturbed_one(
    folder: Path, system: str, capsys: pytest.CaptureFixture[str]
) -> None:
    prepare(system)
    weights_before, rows, before = train(system), curve(system), report(system)
    assert [row["update"] for row in rows if row["split"] == "train"] == [*map(str, range(1, 13))]
    start = [] if system == "at" else ["0"]
    validated = [row["update"] for row in rows if row["split"] == "valid"]
    assert validated == [*start, "3", "6", "9", "12"]
    made = {path.name for path in model_file(system).parent.glob("[!.]*")}
    assert made == {"model.pt", "training.csv", "training.json"}
    assert before["batches_per_update_and_device"] == (2 if system == "at" else 1)
    assert before["pairs"]["valid"]["used"] == (9 if system == "at" else 6)
    shutil.rmtree(model_file(system).parent)
    kill_at(system, 6)
    capsys.readouterr()
    assert same(weights_before, train(system))
    must_name(capsys.readouterr().out, "resumes")
    assert curve(system) == rows
    for key in ("updates", "tokens", "averaged_updates", "validation", "pairs"):
        assert report(system)[key] == before[key]
    assert report(system)["seconds"] >= report(system)["update_seconds"]


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
@pytest.mark.parametrize("system", ["at", "dims"])
def test_on_a_gpu_a_killed_training_ends_nearly_like_an_undisturbed_one(
    folder: Path, system: str
) -> None:
    prepare(system)
    _, rows = undisturbed(system)
    kill_at(system, 6)
    train(system)
    assert report(system)["device"] == torch.cuda.get_device_name()
    for found, expected in zip(curve(system), rows, strict=True):
        assert (found["update"], found["split"]) == (expected["update"], expected["split"])
        assert float(found["loss"]) == pytest.approx(float(expected["loss"]), rel=0.01)


def test_a_constant_length_is_that_of_the_pairs_that_are_learned_from(folder: Path) -> None:
    source, target = sentences(47, 0)
    source[3] = ""  # left out
    binarise(source, RAW / "train.ka")
    longer = [" ".join([sentence] + ["w1"] * (row % 3)) for row, sentence in enumerate(target)]
    binarise(longer, RAW / "train.lu")
    system = {**SYSTEMS["at"], "input": {"method": "full_mask"}, "length": "constant"}
    write_yaml("config/systems/nat.yaml", system)
    differences = [row % 3 for row in range(47) if row != 3]
    found = train("nat")["length_predictor.difference"].item()
    assert found == pytest.approx(sum(differences) / len(differences))


@pytest.mark.parametrize("last", ["finished.json", "checkpoint_1_6.pt", "weights_12.pt"])
def test_a_training_killed_while_it_removes_its_checkpoints_can_be_made_again(
    folder: Path, monkeypatch: pytest.MonkeyPatch, last: str
) -> None:
    remove = Path.unlink

    def remove_until(path: Path, missing_ok: bool = False) -> None:
        remove(path, missing_ok)
        if path.match(f"checkpoints/{last}"):
            raise Interrupted

    with monkeypatch.context() as patch:
        patch.setattr(Path, "unlink", remove_until)
        with pytest.raises(Interrupted):
            train("at")
    finished, rows = weights("at"), curve("at")
    remove_outputs("at")
    forget_ended("demo")
    assert same(finished, train("at")) and curve("at") == rows


def remove_outputs(system: str) -> None:
    """As Snakemake does before it starts a job again."""
    for name in ("model.pt", "training.csv", "training.json"):
        model_file(system).with_name(name).unlink()


def test_a_training_whose_end_snakemake_has_not_seen_is_not_lost(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    finished, rows, said = train("at"), curve("at"), report("at")
    monkeypatch.setattr(launcher, "train", interrupt)
    remove_outputs("at")
    assert same(finished, train("at")) and (curve("at"), report("at")) == (rows, said)
    must_name(capsys.readouterr().out, "finished already")
    remove_outputs("at")
    change_recipe("at", dropout=0.4)
    with pytest.raises(Interrupted):
        train("at")
    change_recipe("at")
    forget_ended("demo")
    with pytest.raises(Interrupted):
        train("at")


def linked_checkpoints(system: str, folder: Path) -> Path:
    """The link beside a model to an empty folder on another disk."""
    link = model_file(system).parent / "checkpoints"
    link.parent.mkdir(parents=True, exist_ok=True)
    (folder / "scratch").mkdir(exist_ok=True)
    link.symlink_to(folder / "scratch")
    return link


@pytest.mark.parametrize("foreign", ["thesis.txt", "checkpoint_1_3.pt"])
def test_a_linked_folder_of_checkpoints_with_other_files_is_refused(
    folder: Path, foreign: str
) -> None:
    link = linked_checkpoints("at", folder)
    (link / foreign).write_text("mine")
    with told(link, foreign):
        train("at")
    assert (link / foreign).read_text() == "mine"


def test_checkpoints_behind_a_link(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    clean, _ = undisturbed("at")
    link = linked_checkpoints("at", folder)
    kill_at("at", 6)
    for said in ("resumes from its checkpoint of update", "finished already"):
        capsys.readouterr()
        assert same(clean, train("at"))
        must_name(capsys.readouterr().out, said)
        assert link.is_symlink() and [*link.iterdir()] == []
    # those of an earlier configuration are discarded there, those of another model are not
    forget_ended("demo")
    model_file("at").unlink()
    change_recipe("at", dropout=0.4)
    interrupt_at("at", 3, monkeypatch)
    change_recipe("at")
    other = linked_checkpoints("cmlm", folder)
    with told(other, link):
        train("cmlm")
    capsys.readouterr()
    assert same(clean, train("at"))
    must_name(capsys.readouterr().out, "recipe.dropout", "0.4", "0.1", "discarded")


def training_pairs(max_tokens: int) -> TrainingPairs:
    return TrainingPairs([f"{RAW}/train.ka", f"{RAW}/train.lu"], (19, 19), max_tokens, "test")


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
    assert found["epochs"] == round(12 / len(training_pairs(80).batches(80, seed=0)), 3)
    assert found["tokens"] > 0 < found["seconds"]
    assert found["averaged_updates"] == [9, 12]
    assert found["training"] == load().training("toy", "at").as_json()
    assert torch.backends.cuda.flash_sdp_enabled()  # which is asked for processors, too


@pytest.fixture
def keeping(folder: Path) -> Path:
    """The recipe of the teacher keeps checkpoints, one of them between two that are saved."""
    change_recipe("at", keep={"early": 4, "nine": 9, "end": 12})
    return folder


def kept(name: str) -> dict[str, torch.Tensor]:
    return torch.load(model_file("at").parent / f"kept/{name}.pt", weights_only=True)["weights"]


@pytest.mark.parametrize("update", [3, 9])
def test_kept_checkpoints_of_an_interrupted_training_and_their_mean(
    keeping: Path, update: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    interrupt_at("at", update, monkeypatch)
    train("at")
    found = {update: kept(name) for name, update in (("early", 4), ("nine", 9), ("end", 12))}
    assert load_model(model_file("at").parent / "kept/early.pt").updates == 4
    for name, value in weights("at").items():
        mean = (found[9][name].double() + found[12][name].double()) / 2
        torch.testing.assert_close(value, mean.float(), rtol=0, atol=0)
    for updates, its_weights in found.items():
        # a training that ends there, without a mean
        change_recipe("at", updates=updates, average={"checkpoints": 1, "by": "last"})
        assert same(its_weights, train("at"))


CANVAS = {
    "input": {"method": "full_mask"},
    "target": {"method": "ctc"},
    "decoder": {"copy": "soft_upsampled", "upsample": 2.0, "attention_without_self": True},
}


@pytest.mark.parametrize("canvas", [{}, CANVAS], ids=["autoregressive", "CTC"])
def test_a_training_starts_from_a_kept_checkpoint(keeping: Path, canvas: dict[str, Any]) -> None:
    train("at")
    start = {"init_from": {"system": "at", "kept": "early"}, "recipe": "cmlm"}
    heir = {**SYSTEMS["at"], **start, **canvas}
    write_yaml("config/systems/heir.yaml", heir)
    change_recipe("cmlm", learning_rate=1e-30, average={"checkpoints": 1, "by": "last"})
    found = train("heir")
    for name, value in kept("early").items():
        torch.testing.assert_close(found[name], value, rtol=0, atol=1e-6)
    assert not torch.equal(kept("early")["embedding.weight"], weights("at")["embedding.weight"])


def test_a_linear_schedule_ends_at_zero(folder: Path) -> None:
    change_recipe("at", schedule="linear", learning_rate=8e-3, warmup_updates=4, updates=12)
    train("at")
    rates = [float(row["learning_rate"]) for row in curve("at") if row["split"] == "train"]
    assert rates == pytest.approx([1e-3 * each for each in (0, 2, 4, 6, 8, 7, 6, 5, 4, 3, 2, 1)])


def test_a_length_in_epochs(folder: Path) -> None:
    each = len(training_pairs(40).batches(40, seed=0)) / 2
    write_yaml("config/scales/demo.yaml", {**SCALE, "tokens_per_device": {"others": 40}})
    recipe = {key: value for key, value in RECIPE.items() if key not in IN_UPDATES}
    in_epochs = {"epochs": 3, "warmup_epochs": 0.5, "validations_per_epoch": 2}
    write_yaml("config/recipes/at.yaml", recipe | in_epochs)
    by_epochs, rows, found = train("at"), curve("at"), report("at")
    every = round(each / 2)
    values = (round(3 * each), round(each / 2), every, every)
    lengths = dict(zip(IN_UPDATES, values, strict=True))
    assert (found["lengths"], found["updates"]) == (lengths, lengths["updates"])
    assert found["epochs"] == pytest.approx(3, abs=0.5 / each)
    assert {key: found["training"]["recipe"][key] for key in in_epochs} == in_epochs
    # the same as a recipe that says so in updates
    write_yaml("config/recipes/at.yaml", recipe | lengths)
    assert same(by_epochs, train("at"))
    assert curve("at") == rows
    assert report("at")["fingerprint"] != found["fingerprint"]


def test_every_pair_is_in_every_pass(folder: Path) -> None:
    texts = BinarisedText(RAW / "train.ka"), BinarisedText(RAW / "train.lu")
    pairs = training_pairs(40)
    batches = pairs.batches(max_tokens=40, seed=1)
    assert all(len(batch) * pairs.tokens[batch].max() <= 40 for batch in batches)
    laid_out = passes(batches, needed=2 * len(batches) + 1, seed=1)
    orders = np.concatenate(laid_out).reshape(3, 44).tolist()
    assert all(sorted(order) == [*range(44)] for order in orders)
    assert orders[0] != orders[1] != orders[2]
    ids = [number for number in range(47) if number not in (3, 5, 8)]
    assert pairs.ids.tolist() == ids
    number, source, targets = pairs[3]
    assert number == ids[3]
    for text, one in zip(texts, [source, *targets], strict=True):
        assert one.tolist() == text[number].tolist()


def test_another_seed_has_its_batches_in_another_order(folder: Path) -> None:
    def laid_out(seed: int) -> list[list[int]]:
        lengths = SimpleNamespace(updates=12)
        run = SimpleNamespace(tokens_per_batch=40, seed=seed, lengths=lengths, accumulation=1)
        pairs = training_pairs(40)
        task: Any = SimpleNamespace(run=run, datasets={"train": pairs}, dataset_to_epoch_iter={})
        batches = TrainingTask.get_batch_iterator(task, pairs).batch_sampler
        return [sorted(pairs.tokens[batch]) for batch in batches]

    assert laid_out(1) == laid_out(1) != laid_out(2)
    # and pairs of equal lengths in other batches
    first, second = (
        {frozenset(batch.tolist()) for batch in training_pairs(40).batches(40, seed)}
        for seed in (1, 2)
    )
    assert first != second


def test_distilled_text_is_checked_and_used(folder: Path) -> None:
    with_distilled = train("cmlm")
    binarise(sentences(47, 2)[1], DISTILLED)
    assert not same(with_distilled, train("cmlm"))
    binarise(sentences(46, 0)[1], DISTILLED)
    with told("47", "46", "train.lu"):
        train("cmlm")


def test_accumulation_changes_nothing(folder: Path) -> None:
    """One update sees the whole corpus, in one batch or in two."""
    numbers = np.random.default_rng(0)
    lines = [" ".join(f"w{word}" for word in numbers.integers(0, WORDS, 7)) for _ in range(20)]
    binarise(lines, RAW / "train.ka")
    binarise(lines[::-1], DISTILLED)
    # epsilon: Adam would blow up the rounding errors of gradients that are zero
    change_recipe("cmlm", batch_tokens=160, epsilon=1e-3)
    whole = train("cmlm")
    assert report("cmlm")["batches_per_update_and_device"] == 1
    shutil.rmtree(model_file("cmlm").parent)
    write_yaml("config/scales/demo.yaml", {**SCALE, "tokens_per_device": {"others": 80}})
    halves = train("cmlm")
    assert report("cmlm")["batches_per_update_and_device"] == 2
    for name, value in whole.items():
        torch.testing.assert_close(value, halves[name], rtol=1e-3, atol=1e-4)


def test_the_gradient_is_that_of_the_mean_over_positions(folder: Path) -> None:
    make_start()
    heir = {**SYSTEMS["cmlm"], "text": "raw", "init_from": "cmlm"}
    write_yaml("config/systems/heir.yaml", heir)
    change_recipe("cmlm", batch_tokens=1000, updates=1, warmup_updates=0)
    start = load_model(model_file("cmlm"))
    train("heir")
    (row,) = (row for row in curve("heir") if row["split"] == "train")
    pairs = training_pairs(1000)
    batch = pairs.collater([pairs[place] for place in range(len(pairs))])["batch"]
    model = start.model.train().requires_grad_()
    loss = Objective(start.training, model, seed=1, bfloat16=False)(model, batch, 0)
    (loss.value.sum() / loss.positions.sum()).backward()
    gradients = [each.grad.flatten() for each in model.parameters() if each.grad is not None]
    assert float(row["gradient_norm"]) == pytest.approx(float(torch.cat(gradients).norm()), 1e-4)


def test_the_teacher_is_a_moving_average_of_the_model(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_start()
    change_recipe("dims", keep={"one": 1, "two": 2, "three": 3}, updates=4)
    interrupt_at("dims", 3, monkeypatch)
    checkpoints = model_file("dims").parent / "checkpoints"
    updates = [torch.load(checkpoints / f"weights_{n}.pt", weights_only=True) for n in (1, 2, 3)]
    saved = load_checkpoint_to_cpu(str(checkpoints / "checkpoint_1_3.pt"))["criterion"]
    for name, expected in weights("cmlm").items():
        for update in updates:
            expected = 0.8 * expected + 0.2 * update[name]
        torch.testing.assert_close(saved[f"objective.teacher.{name}"], expected)
        assert not torch.equal(expected, weights("cmlm")[name])


def test_a_training_killed_at_its_very_end_is_finished(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After the last update, before or between the outputs, nothing is trained again."""
    clean, _ = undisturbed("at")
    with monkeypatch.context() as patch:
        patch.setattr(train_module, "with_measures", interrupt)
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
    clean, rows = undisturbed("at")
    interrupt_at("at", 9, monkeypatch)
    checkpoints = model_file("at").parent / "checkpoints"
    weights_there = sorted(path.stem for path in checkpoints.glob("weights_*.pt"))
    # those of the newest checkpoint and of the one before
    assert weights_there == ["weights_3", "weights_6", "weights_9"]
    newest = checkpoints / "checkpoint_1_9.pt"
    whole = bytearray(newest.read_bytes())
    whole[whole.rindex(b"PK\x01\x02") + 10] = 99  # a compression that does not exist
    newest.write_bytes(whole)
    (checkpoints / "checkpoint_1_12.pt.tmp").write_bytes(b"half")
    capsys.readouterr()
    assert same(clean, train("at"))
    assert curve("at") == rows
    must_name(capsys.readouterr().out, "update 9 is damaged", "update 6")


def test_the_model_file_gives_the_loss_of_the_last_validation(folder: Path) -> None:
    change_recipe("at", average={"checkpoints": 1, "by": "last"})
    train("at")
    source, target = BinarisedText(RAW / "valid.ka"), BinarisedText(RAW / "valid.lu")
    batch = Batch.collate(range(9), [source[i] for i in range(9)], [target[i] for i in range(9)])
    loaded = load_model(model_file("at"))
    objective = Objective(loaded.training, loaded.model, seed=1, bfloat16=False).eval()
    loss = objective(loaded.model, batch, 0)
    expected = float(curve("at")[-1]["loss"])
    assert float(loss.value.sum() / loss.positions.sum()) == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("save_every", [3, 5])
def test_patience_waits_for_weights_that_are_saved(folder: Path, save_every: int) -> None:
    keys = {"learning_rate": 1e-30, "updates": 300, "patience": 2, "validate_every": 1}
    change_recipe("cmlm", **keys, save_every=save_every)
    train("cmlm")
    found = report("cmlm")
    assert (found["updates"], found["averaged_updates"]) == (save_every, [save_every])
    # a model that stays as it is: the same masks give the same loss, and the first one is the best
    assert len({row["loss"] for row in curve("cmlm") if row["split"] == "valid"}) == 1
    assert found["validation"]["best_update"] == 1


def test_inputs_that_are_missing_or_do_not_fit_are_named(folder: Path) -> None:
    with told("cmlm/seed1/model.pt", "does not exist", "snakemake --force"):
        train("dims")
    make_start(symbols=17)
    with told("17 symbols", "18"):
        train("dims")
    make_start()
    write_yaml("config/scales/demo.yaml", {**SCALE, "sizes": {"base": {**SIZE, "heads": 4}}})
    with told("architecture"):
        train("dims")
    write_yaml("config/scales/demo.yaml", SCALE)
    latent = {"parts": {"latent": {"dim": 3}}}
    for name in ("cmlm", "dims"):
        write_yaml(f"config/systems/{name}.yaml", {**SYSTEMS[name], **latent})
    with told("parts.latent"):
        train("dims")
    DISTILLED.with_name("train.lu.tokens.npy").unlink()
    with told("train.lu.tokens.npy"):
        train("cmlm")


@pytest.mark.parametrize("where", ["loss", "gradient"])
@pytest.mark.parametrize("wrong", [torch.nan, torch.inf])
def test_what_is_not_finite_is_told(
    folder: Path, monkeypatch: pytest.MonkeyPatch, where: str, wrong: float
) -> None:
    """The training goes on from its last checkpoint to the same model."""
    clean, _ = undisturbed("at")
    original: Callable[..., Loss] = CrossEntropy.__call__

    def spoil(self: CrossEntropy, context: BatchContext, decoder_input: DecoderInput) -> Loss:
        loss = original(self, context, decoder_input)
        if context.update < 8 or not loss.value.requires_grad:
            return loss
        if where == "loss":
            return Loss(loss.value * wrong, loss.positions)
        loss.value.register_hook(lambda gradient: gradient * wrong)
        return loss

    with monkeypatch.context() as patch:
        patch.setattr(CrossEntropy, "__call__", spoil)
        with told("'learning_rate'"):
            train("at")
    assert not model_file("at").exists()
    checkpoints = model_file("at").parent / "checkpoints"
    assert list(checkpoints.glob("checkpoint_*_6.pt")) and not list(checkpoints.glob("crash.pt*"))
    assert same(clean, train("at"))


@pytest.mark.parametrize(
    ("owner", "name"),
    [(CrossEntropy, "__call__"), (TrainingTask, "optimizer_step"), (TrainingTask, "valid_step")],
)
@pytest.mark.parametrize("gpu", [True, False])
def test_a_batch_that_does_not_fit_is_told(
    folder: Path, monkeypatch: pytest.MonkeyPatch, owner: type, name: str, gpu: bool
) -> None:
    def fill_memory(*_: Any, **__: Any) -> None:
        if gpu:
            raise torch.OutOfMemoryError("CUDA out of memory")
        torch.empty(10**15)

    monkeypatch.setattr(owner, name, fill_memory)
    with told("80 tokens"):
        train("at")


@pytest.mark.parametrize("schedule", ["inverse_sqrt", "linear", "fixed"])
@pytest.mark.parametrize("warmup", [7, 0])
@pytest.mark.parametrize("devices", [1, 2])
def test_fairseq_is_told_what_the_recipe_says(
    folder: Path, monkeypatch: pytest.MonkeyPatch, schedule: str, warmup: int, devices: int
) -> None:
    """No value is a default of fairseq's or of a recipe."""
    monkeypatch.setenv("RANK", "1")
    monkeypatch.setenv("WORLD_SIZE", str(devices))
    adam = {"betas": [0.7, 0.8], "epsilon": 3e-7, "weight_decay": 0.03, "learning_rate": 4e-4}
    lengths = {"warmup_updates": warmup, "updates": 77, "save_every": 18, "validate_every": 9}
    own = {"schedule": schedule, "clip_norm": 6.5, "batch_tokens": devices * 120}
    change_recipe("at", **adam, **lengths, **own)
    write_yaml("config/scales/demo.yaml", {**SCALE, "tokens_per_device": {"others": 40}})
    run = train_module.describe(job(load(), Model("demo", "toy", "at", 4)))
    checkpoint = Path(run.checkpoints, "checkpoint_1_12.pt")
    checkpoint.parent.mkdir(parents=True)
    checkpoint.touch()
    configuration = launcher._configuration(run)
    for group, options in {
        "common": {"seed": 4, "cpu": not torch.cuda.is_available()},
        "dataset": {"max_tokens": 40, "max_tokens_valid": 40, "validate_interval_updates": 9},
        "optimization": {"lr": [4e-4], "update_freq": [3], "clip_norm": 6.5, "max_update": 77},
        "optimizer": {"adam_betas": "(0.7, 0.8)", "adam_eps": 3e-7, "weight_decay": 0.03},
        "lr_scheduler": {"warmup_updates": max(warmup, 1)}
        | {
            "inverse_sqrt": {"_name": schedule, "warmup_init_lr": 1e-7 if warmup else 4e-4},
            "linear": {"_name": "polynomial_decay", "total_num_update": 77, "power": 1.0},
            "fixed": {"_name": schedule},
        }[schedule],
        "distributed_training": {"distributed_world_size": devices, "ddp_backend": "legacy_ddp"}
        | {"distributed_rank": devices - 1},
        "checkpoint": {"save_dir": run.checkpoints, "restore_file": str(checkpoint)}
        | {"save_interval_updates": 18, "load_checkpoint_on_all_dp_ranks": devices == 2},
    }.items():
        assert {key: configuration[group][key] for key in options} == options


@pytest.mark.parametrize("system", ["at", "dims"])
def test_fairseqs_own_program_trains_the_same_model(
    folder: Path, system: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepare(system)
    expected, rows = undisturbed(system)
    program, _, specification = command(system)
    shown = [program, "-m", "nat.export.command", "fairseq-command", specification]
    words = subprocess.run(shown, capture_output=True, text=True, check=True).stdout
    programs = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    environment = {**os.environ, "PATH": programs, "PYTHONPATH": str(ROOT)}
    ended = subprocess.run(shlex.split(words), capture_output=True, text=True, env=environment)
    assert ended.returncode == 0, ended.stderr[-2000:]
    assert not model_file(system).exists()
    monkeypatch.setattr(launcher, "train", interrupt)
    assert same(expected, train(system))  # which only takes the mean
    assert curve(system) == rows


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
    assert [path.name for path in left if path.name != OF_FOLDER] == ["weights_3.pt"]

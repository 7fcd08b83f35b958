"""What a training leaves out or cannot learn is counted before its first update, and told."""

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from nat.alignment.reveal import share_of
from nat.data.batch import Batch
from nat.data.binarised import write_binarised
from nat.data.vocabulary import SPECIALS, Vocabulary
from nat.fairseq_plugin.dataset import TrainingPairs
from nat.targets import oaxe
from nat.targets.options import CmlmcOptions, HintsOptions
from nat.training.learnable import Objectives
from nat.training.learnable import told as said
from tests.messages import must_name, told
from tests.repository import write_yaml
from tests.tiny import VOCABULARY, make_batch, make_model, make_objective, make_training
from tests.training.test_training import RAW, SYSTEM, binarise, folder, report, train

__all__ = ["folder"]

WORDS = Vocabulary(f"w{number}" for number in range(VOCABULARY - len(SPECIALS)))


def write(folder: Path, name: str, *lines: str) -> str:
    write_binarised(lines, WORDS, folder / name)
    return str(folder / name)


def written(folder: Path, batch: Batch) -> list[str]:
    """The texts of a batch."""
    sides = (batch.source, batch.target)
    return [
        write(folder, name, *(WORDS.decode(row) for row in side.tolist()))
        for name, side in zip(("source", "target"), sides, strict=True)
    ]


@pytest.mark.parametrize(
    ("target", "shown"),
    [("ctc", "full_mask"), ("ctc", "glancing"), ("imputer", "block_mask")],
)
@pytest.mark.parametrize(
    "decoder", [{"upsample": 1.0}, {"upsample": 1.5, "count_source_end": True}]
)
def test_pairs_that_teach_nothing_are_those_without_a_loss(
    tmp_path: Path, target: str, shown: str, decoder: dict[str, Any]
) -> None:
    lengths = [(source, target) for source in (1, 2, 4, 7) for target in (1, 2, 3, 5, 6, 7, 9, 12)]
    batch = make_batch(lengths)
    repeated = torch.arange(12) // 2 + len(SPECIALS)  # tokens that need a frame between them
    batch.target[::3] = torch.where(batch.target[::3] > 0, repeated, 0)
    model = make_model(decoder=decoder)
    loss = make_objective(model, shown, {"method": target})(model, batch, 0)
    training = make_training(shown, {"method": target})
    pairs = TrainingPairs(
        written(tmp_path, batch), (99, 99), 1000, "x", objectives=Objectives(training, model)
    )
    assert pairs.learned.tolist() == loss.positions.gt(0).tolist()
    missing = int((~pairs.learned).sum())
    assert 3 < missing < len(lengths) - 3
    assert pairs.counts["not_learned"] == {"target_longer_than_canvas": missing}
    batches = pairs.batches(14, seed=0)
    assert all(pairs.learned[each].any() for each in batches)
    everything = np.concatenate(batches)
    assert {*np.flatnonzero(pairs.learned)} <= {*everything} and len(everything) < len(lengths)
    sentence = said(len(pairs), pairs.left_out, pairs.not_learned)
    must_name(sentence, f"{len(lengths)} pairs", f"{missing} pairs", "canvas")
    nothing = [write(tmp_path, "short", "w1"), write(tmp_path, "long", "w1 w2 w3 w4 w5")]
    with told("none of 1 pairs", "target_longer_than_canvas", "upsample"):
        TrainingPairs(nothing, (99, 99), 99, "x", objectives=Objectives(training, model))


def test_unknown_words_and_short_targets_of_several_candidates(tmp_path: Path) -> None:
    texts = [
        write(tmp_path, "source", "x y", "w1 x", "w1 w2", "w3", ""),
        write(tmp_path, "one", "w1", "x y z", "w1 w1 w1 w1", "x", "w1"),
        write(tmp_path, "two", "w1", "y", "w1", "w1 w2 w3 w4 w5", "w1"),
    ]
    training = make_training("random_mask", {"method": "cmlmc", "replace_factor": 0.3})
    objectives = Objectives(training, make_model())
    pairs = TrainingPairs(texts, (99, 99), 99, "x", objectives=objectives)
    assert pairs.not_learned == {
        "unknown_source": 1,
        "unknown_target": 1,
        "too_short_for_correction": 3,
    }
    sentence = said(1, {"empty": 2, "longer_than_batch": 0}, pairs.not_learned)
    must_name(sentence, "1 pair", "2 empty", "3 pairs", "too short for correction")
    assert "longer than batch" not in sentence


def test_fewest_tokens_are_those_with_which_the_loss_exists() -> None:
    for factor in (0.1, 0.2, 0.3, 1 / 3, 0.5, 1.0):
        visible = torch.arange(40)  # all tokens but one
        replaced = share_of(visible, factor).long()
        fewest = CmlmcOptions(replace_factor=factor).fewest_tokens["correction"]
        assert fewest == 1 + int(visible[replaced >= 1][0])
    assert HintsOptions().fewest_tokens == {"hidden_states": 2}
    assert HintsOptions(hidden_weight=0.0).fewest_tokens == {}


def test_a_training_says_what_it_does_not_learn(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = ["w1 w2 w3 w4 w5 w6 w7"] * 20 + ["w1"] * 27
    binarise(["w1"] * 20 + ["w1 w2 w3"] * 27, RAW / "train.ka")
    binarise(target, RAW / "train.lu")
    system = {
        **SYSTEM,
        "input": {"method": "full_mask"},
        "target": {"method": "ctc"},
        "decoder": {"upsample": 2.0},
        "length": None,
        "recipe": "cmlm",
    }
    write_yaml("config/systems/ctc.yaml", system)
    train("ctc")
    must_name(capsys.readouterr().out, "47 pairs", "20 pairs", "canvas")
    made = report("ctc")
    assert made["pairs"]["train"]["not_learned"] == {"target_longer_than_canvas": 20}
    assert made["updates"] == 12 and made["tokens"] > 0
    # batches of nothing but pairs that teach nothing are no updates
    assert made["epochs"] == 6 and not any("gradient" in each for each in made["flags"])


ORDER_FREE = {
    **SYSTEM,
    "input": {"method": "full_mask"},
    "target": {"method": "oaxe", "truncation_margin": 0.15},
    "length": "constant",
    "recipe": "cmlm",
}


@pytest.mark.parametrize("without", [set(), {0, 3, 4}, {2, 12}])
def test_batches_without_a_gradient_are_no_updates(
    folder: Path, monkeypatch: pytest.MonkeyPatch, without: set[int]
) -> None:
    """As where all tokens of a batch are less probable than the margin of OaXE."""
    write_yaml("config/systems/oaxe.yaml", ORDER_FREE)
    looked = itertools.count()

    def probable(chosen: torch.Tensor, margin: float) -> torch.Tensor:
        assert margin == 0.15
        in_training = chosen.requires_grad
        return torch.full_like(chosen, not (in_training and next(looked) in without)).bool()

    monkeypatch.setattr(oaxe, "probable", probable)
    train("oaxe")
    made = report("oaxe")
    assert made["updates"] == 12 and next(looked) == 12 + len(without)
    flags = [each for each in made["flags"] if "gradient" in each]
    assert len(flags) == bool(without)
    if without:
        must_name(flags[0], f"{len(without)} of its batches")


def test_a_training_without_any_gradient_ends(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_yaml("config/systems/oaxe.yaml", ORDER_FREE)
    monkeypatch.setattr(oaxe, "probable", lambda chosen, _: torch.zeros_like(chosen).bool())
    with told("oaxe", "nothing is learned from 100 batches", "update 0", "init_from"):
        train("oaxe")
    assert not list(folder.rglob("crash.pt"))

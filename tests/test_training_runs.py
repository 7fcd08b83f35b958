from pathlib import Path
from typing import Any

import pytest

from nat.errors import UserError
from nat.files import read_json, write_json
from nat.measures.results import TRAINING, read
from nat.measures.training_curve import COUNTS, chain, validations, with_measures


def write_run(path: Path, validated: list[tuple[int, float]], **facts: Any) -> Path:
    """Write the record and the curve of a training."""
    rows = "".join(f"{update},valid,1.0,{bleu}\n" for update, bleu in validated)
    curve = f"update,split,loss,bleu\n5,train,2.0,\n{rows}"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.with_suffix(".csv").write_text(curve)
    write_json(path, with_measures({"updates": 40, **facts}, curve.splitlines()))
    return path


def numbers(path: Path) -> dict[str, float | None]:
    return {name: each.value for name, each in read(path, TRAINING).items()}


def test_curve_and_measures(tmp_path: Path) -> None:
    path = write_run(tmp_path / "training.json", [(20, 11.5), (40, 9.0)])
    assert validations(path.with_suffix(".csv")) == [(20, 11.5), (40, 9.0)]
    counted = {"updates": 40, "best_validation_bleu": 11.5, "collapsed": 0, "stopped_early": 0}
    assert numbers(path) == counted
    assert read_json(path)["updates"] == 40


def test_what_a_training_counted(tmp_path: Path) -> None:
    counted = {"parameters": 1234, "epochs": 2.5, "tokens": 10**9, "seconds": 60.5}
    found = numbers(write_run(tmp_path / "training.json", [(20, 11.5)], **counted))
    assert [found[name] for name in COUNTS if name in found] == list(counted.values())
    assert found["million_parameters"] == 0.001234 and "heads" not in found
    architecture = {"model_dim": 64, "ffn_dim": 256, "decoder_layers": 2, "heads": 4}
    training = {"architecture": architecture, "recipe": {"dropout": 0.1}}
    found = numbers(write_run(tmp_path / "training.json", [], training=training))
    names = ("model_dim", "ffn_dim", "layers", "heads", "dropout")
    assert [found[name] for name in names] == [64, 256, 2, 4, 0.1]
    assert "parameters" not in found and "best_validation_bleu" not in found


@pytest.mark.parametrize(
    ("validated", "collapsed"),
    [
        ([(20, 30.0), (40, 2.0)], 1),
        ([(20, 30.0), (40, 20.0)], 0),
        ([(0, 30.0), (20, 2.0), (40, 3.0)], 1),
        ([], 0),
    ],
)
def test_a_collapse_is_seen_in_the_curve(
    tmp_path: Path, validated: list[tuple[int, float]], collapsed: int
) -> None:
    assert numbers(write_run(tmp_path / "a.json", validated))["collapsed"] == collapsed


@pytest.mark.parametrize(("length", "early"), [(41, 1), (40, 0)])
def test_a_training_that_stopped_early(tmp_path: Path, length: int, early: int) -> None:
    path = write_run(tmp_path / "training.json", [(20, 11.5)], lengths={"updates": length})
    assert numbers(path)["stopped_early"] == early


def test_a_chain_is_one_curve() -> None:
    trainings = [(40, [(0, 0.5), (20, 1.0), (40, 2.0)])] * 2
    assert chain(trainings) == [(0, 0.5), (20, 1.0), (40, 2.0), (60, 1.0), (80, 2.0)]


def test_damaged_curves(tmp_path: Path) -> None:
    curve = tmp_path / "training.csv"
    with pytest.raises(UserError, match=r"training.csv does not exist"):
        validations(curve)
    curve.write_text("update,bleu\nx,3\n")
    with pytest.raises(UserError, match="is no curve of a training"):
        validations(curve)


def test_epochs_until_a_collapse(tmp_path: Path) -> None:
    lost = [(0, 30.0), (10, 25.0), (20, 2.0), (40, 3.0)]
    assert "epochs_held" not in numbers(write_run(tmp_path / "a.json", lost))
    found = numbers(write_run(tmp_path / "a.json", lost, epochs=8.0))
    assert found["epochs_held"] == 4.0  # 20 of 40 updates
    held = [(0, 30.0), (10, 2.0), (40, 29.0)]
    assert numbers(write_run(tmp_path / "b.json", held, epochs=8.0))["epochs_held"] == 8.0


def test_shares_of_candidates() -> None:
    rows = [f"{update},train,{update / 100},{1 - update / 100}," for update in range(10)]
    curve = ["update,split,from_tiny,from_raw,bleu", *rows, "9,valid,,,20"]
    found = with_measures({"updates": 40}, curve)["measures"][TRAINING]
    shares = {name: each["value"] for name, each in found.items() if "_share" in name}
    assert shares["candidate_1_share"] == pytest.approx(4.5)
    assert shares["candidate_2_share"] == pytest.approx(95.5)
    fifths = [shares.pop(f"candidate_1_share_fifth_{fifth}") for fifth in range(1, 6)]
    assert fifths == pytest.approx([0.5, 2.5, 4.5, 6.5, 8.5])
    assert len(shares) == 7  # without candidate 3
    few = with_measures({"updates": 40}, curve[:2])["measures"][TRAINING]
    assert [name for name in few if "candidate_1_share" in name] == [
        "candidate_1_share",
        "candidate_1_share_fifth_5",
    ]

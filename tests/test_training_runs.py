from pathlib import Path

import pytest

from nat.cells.training_runs import COUNTS, TrainingRun, chain, read_run
from nat.errors import UserError
from nat.files import read_json, write_json


def write_run(path: Path, validations: list[tuple[int, float]]) -> Path:
    rows = "".join(f"{update},valid,1.0,{bleu}\n" for update, bleu in validations)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.with_suffix(".csv").write_text(f"update,split,loss,bleu\n5,train,2.0,\n{rows}")
    best = max((bleu for _, bleu in validations), default=0.0)
    write_json(path, {"updates": 40, "validation": {"best": best, "metric": "bleu"}})
    return path


def test_curve_and_measures(tmp_path: Path) -> None:
    run = read_run(write_run(tmp_path / "training.json", [(20, 11.5), (40, 9.0)]))
    assert run.validations == ((20, 11.5), (40, 9.0)) and not run.collapsed
    assert [run.measure(name) for name in ("updates", "best_validation_bleu", "collapsed")] == [
        40, 11.5, 0
    ]  # fmt: skip
    with pytest.raises(ValueError, match="'loss' is not a measure"):
        run.measure("loss")


def test_what_a_training_counted(tmp_path: Path) -> None:
    path = write_run(tmp_path / "training.json", [(20, 11.5)])
    assert read_run(path).measure("parameters") is None
    counted = {"parameters": 1234, "epochs": 2.5, "tokens": 10**9, "seconds": 60.5}
    write_json(path, read_json(path) | counted)
    run = read_run(path)
    assert [run.measure(name) for name in COUNTS][:4] == list(counted.values())
    assert run.measure("million_parameters") == 0.001234 and run.measure("heads") is None
    architecture = {"model_dim": 64, "ffn_dim": 256, "decoder_layers": 2, "heads": 4}
    training = {"architecture": architecture, "recipe": {"dropout": 0.1}}
    write_json(path, read_json(path) | {"training": training})
    run = read_run(path)
    names = ("model_dim", "ffn_dim", "layers", "heads", "dropout")
    assert [run.measure(name) for name in names] == [64, 256, 2, 4, 0.1]


def test_a_collapse_is_seen_in_the_curve(tmp_path: Path) -> None:
    assert read_run(write_run(tmp_path / "a.json", [(20, 30.0), (40, 2.0)])).collapsed
    assert not read_run(write_run(tmp_path / "b.json", [(20, 30.0), (40, 20.0)])).collapsed
    from_start = write_run(tmp_path / "c.json", [(0, 30.0), (20, 2.0), (40, 3.0)])
    assert read_run(from_start).measure("collapsed") == 1
    assert not read_run(write_run(tmp_path / "d.json", [])).collapsed


def test_a_training_that_stopped_early(tmp_path: Path) -> None:
    path = write_run(tmp_path / "training.json", [(20, 11.5), (40, 9.0)])
    for length, early in ((41, True), (40, False)):
        write_json(path, read_json(path) | {"lengths": {"updates": length}})
        assert read_run(path).stopped_early is early


def test_a_chain_is_one_curve() -> None:
    runs = [TrainingRun(40, False, 0.0, "bleu", ((0, 0.5), (20, 1.0), (40, 2.0)))] * 2
    assert chain(runs) == [(0, 0.5), (20, 1.0), (40, 2.0), (60, 1.0), (80, 2.0)]


def test_damaged_records(tmp_path: Path) -> None:
    path = write_run(tmp_path / "training.json", [(20, 1.0)])
    path.with_suffix(".csv").unlink()
    with pytest.raises(UserError, match=r"training.csv does not exist"):
        read_run(path)
    path.with_suffix(".csv").write_text("update,bleu\nx,3\n")
    with pytest.raises(UserError, match="is damaged"):
        read_run(path)


def test_epochs_until_a_collapse(tmp_path: Path) -> None:
    path = write_run(tmp_path / "training.json", [(0, 30.0), (10, 25.0), (20, 2.0), (40, 3.0)])
    assert read_run(path).measure("epochs_held") is None
    write_json(path, read_json(path) | {"epochs": 8.0})
    assert read_run(path).measure("epochs_held") == 4.0  # 20 of 40 updates
    held = write_run(tmp_path / "held.json", [(0, 30.0), (10, 2.0), (40, 29.0)])
    write_json(held, read_json(held) | {"epochs": 8.0})
    assert read_run(held).measure("epochs_held") == 8.0


def test_shares_of_candidates(tmp_path: Path) -> None:
    path = write_run(tmp_path / "training.json", [(20, 11.5)])
    assert read_run(path).measure("candidate_1_share") is None
    rows = "".join(f"{update},train,{update / 100},{1 - update / 100},\n" for update in range(10))
    header = "update,split,from_tiny,from_raw,bleu\n"
    path.with_suffix(".csv").write_text(f"{header}{rows}9,valid,,,20\n")
    run = read_run(path)
    assert run.measure("candidate_1_share") == pytest.approx(4.5)
    assert run.measure("candidate_2_share") == pytest.approx(95.5)
    assert run.measure("candidate_3_share") is None
    fifths = [run.measure(f"candidate_1_share_fifth_{fifth}") for fifth in range(1, 6)]
    assert fifths == pytest.approx([0.5, 2.5, 4.5, 6.5, 8.5])

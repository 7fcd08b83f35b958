"""`make bench` measures; here only that it can, on models that take no time."""

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks import (
    beam_search,
    calls,
    ctc_beam,
    decoding,
    deployment,
    growth,
    objectives,
    on_a_gpu,
    one_pass,
)
from nat.configuration import load
from nat.files import read_json
from tests.repository import python


@pytest.fixture(autouse=True)
def with_logs_afterwards() -> Iterator[None]:
    """Benchmarks silence what libraries log, each in a process of its own."""
    yield
    logging.disable(logging.NOTSET)


SMALL = {"model_dim": 16, "ffn_dim": 16, "encoder_layers": 1, "decoder_layers": 1, "heads": 2}


@pytest.mark.parametrize("name", decoding.CASES)
def test_a_decoding_is_network_and_bookkeeping(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decoding, "ARCHITECTURE", SMALL)
    monkeypatch.setattr(decoding, "VOCABULARY_SIZE", 50)
    found = decoding.measure(load().decoding(name), rounds=1, device="cpu")
    assert 0 < found["share"] < 1
    assert found["bookkeeping_milliseconds"] < found["milliseconds"]


@pytest.mark.parametrize("peaked", [False, True])
def test_a_beam_search_is_held_against_greedy_decoding(
    peaked: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ctc_beam, "ARCHITECTURE", SMALL)
    found = ctc_beam.measure(50, peaked, ngrams=True, rounds=3)
    for key in ("greedy", "beam", "ratio"):
        low, median, high = found[key]
        assert 0 < low <= median <= high


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[] if name == "ctc-kd" else pytest.mark.long)
        for name in objectives.SYSTEMS
    ],
)
def test_an_objective_is_held_against_cross_entropy(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    small = {**objectives.ARCHITECTURE, **SMALL}
    monkeypatch.setattr(objectives, "ARCHITECTURE", small)
    monkeypatch.setattr(objectives, "VOCABULARY_SIZE", 50)
    monkeypatch.setattr(objectives, "BATCH_TOKENS", 128)
    found = objectives.measure(objectives.cases(load())[name], rounds=1, bfloat16=False)
    assert min(found["ratio"], found["products"]) > 0


def test_a_search_is_held_against_those_of_fairseq_and_ctranslate2() -> None:
    case = beam_search.Case(16, 1, 2, symbols=50, sentences=3, tokens=4)
    found = beam_search.measure(case, rounds=1)
    assert found["difference"] <= beam_search.TOLERANCE
    assert all(min(each) > 0 for each in (found["fairseq"], found["ours"]["ms"]))


def test_one_pass_is_held_against_beam_search(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(one_pass, "ARCHITECTURE", SMALL)
    found = one_pass.measure(50, rounds=1, device="cpu", batch=1)
    assert found[one_pass.REFERENCE]["speed_up"] == [1.0, 1.0, 1.0]


def test_calls_of_a_table_are_counted(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.argv", ["calls.py"])
    calls.main()
    assert "nat/papers/reports.py: make_table (1)" in capsys.readouterr().out


@pytest.mark.long
def test_a_student_is_held_against_an_engine() -> None:
    small = {"model_dim": 16, "ffn_dim": 16, "heads": 2}
    found = deployment.measure(50, rounds=3, tokens=4, architecture=small)
    assert len(found) == 23
    assert found[deployment.REFERENCE]["ratio"] == [1.0, 1.0, 1.0]
    for low, median, high in (times for each in found.values() for times in each.values()):
        assert 0 < low <= median <= high


@pytest.mark.long
def test_what_only_a_gpu_can_tell_is_rehearsed_on_a_processor(tmp_path: Path) -> None:
    only = ("--rehearse", "--only", "training", "tests", "--output", tmp_path)
    status, printed, _ = python("benchmarks/on_a_gpu.py", *only)
    parts = read_json(tmp_path / "summary.json")["parts"]
    assert status == 0 and {each["ended"] for each in parts.values()} == {"well"}, printed
    assert (tmp_path / "training.json").exists() and (tmp_path / "tests.log").stat().st_size
    waiting = on_a_gpu.ran(["-c", "import time; time.sleep(60)"], tmp_path / "log", limit=1)
    assert waiting["ended"] == "out of time" and waiting["seconds"] < 30


def test_growth_has_time_and_memory_of_each_step(tmp_path: Path) -> None:
    for step in ("text", *growth.STEPS):
        found = growth.measured("step", step=step, pairs=200, folder=str(tmp_path))
        assert found["seconds"] >= 0 and found["megabytes"] > 1
    assert {each.name for each in tmp_path.iterdir()} == {"text", *growth.PREPARATION}
